import { quoteIfNeeded } from '../base/escape.js';
import { type Fields, isMap, same, type Value } from '../base/values.js';
import { asElements, matchSets } from '../kinds/fields.js';
import { inline, inlinePair } from './values.js';

export interface ElementChange {
  /** `=` for an element if the present ones are unknown. */
  readonly mark: '+' | '-' | '~' | '=';
  readonly text: string;
}

/** Compares two sets as the plan does; undefined if they are equal, or not sets of objects. Unless `confirmed`, ids follow names. */
export function compareSets(
  before: Value | undefined,
  after: Value,
  confirmed: boolean,
  whole: boolean,
): { readonly elements: readonly ElementChange[]; readonly unchanged: number } | undefined {
  if (!isSet(after) || (before !== undefined && !isSet(before))) return undefined;
  const wanted = asElements(after);
  if (before === undefined) {
    const name = namer(wanted, confirmed);
    return {
      elements: wanted.map((it) => ({ mark: '=', text: described(it, name, confirmed, whole) })),
      unchanged: 0,
    };
  }
  const got = asElements(before);
  const match = matchSets(wanted, got);
  const name = namer([...match.removed, ...wanted], confirmed);
  const changed = match.pairs.flatMap((pair): ElementChange[] => {
    const inner = innerChanges(pair.wanted, pair.got, confirmed, whole);
    return inner === '' ? [] : [{ mark: '~', text: `${name(pair.wanted, pair.got)} (${inner})` }];
  });
  const added = match.added.map((it) => described(it, name, confirmed, whole));
  // A removed element is shown without these details.
  const removed = match.removed.map(({ public: _, label: __, ...it }) =>
    described(it, name, confirmed, whole),
  );
  const elements: ElementChange[] = [
    ...added.map((text): ElementChange => ({ mark: '+', text })),
    ...removed.map((text): ElementChange => ({ mark: '-', text })),
    ...changed,
  ];
  return elements.length === 0 ? undefined : { elements, unchanged: match.pairs.length - changed.length };
}

function isSet(value: Value): boolean {
  return value === null || (Array.isArray(value) && value.every(isMap));
}

type Namer = (element: Fields, other?: Fields) => string;

/** Returns a function that names elements, with their id if the name is shared or unconfirmed. */
function namer(elements: readonly Fields[], confirmed: boolean): Namer {
  const ids = new Map<string, Set<string>>();
  for (const { name, id } of elements) {
    if (typeof name === 'string') ids.set(name, (ids.get(name) ?? new Set()).add(inline(id ?? null)));
  }
  return (element, other = element) => {
    const name = element.name ?? other.name;
    const id = element.id ?? other.id;
    if (typeof name !== 'string') return typeof id === 'string' ? quoteIfNeeded(id) : inline(element);
    const needsId = !confirmed || (ids.get(name)?.size ?? 0) > 1;
    return needsId && typeof id === 'string' && id !== name
      ? `${quoteIfNeeded(name)} (id ${quoteIfNeeded(id)})`
      : quoteIfNeeded(name);
  };
}

/** An element with its members, such as the roles of a membership. */
function described(element: Fields, name: Namer, confirmed: boolean, whole: boolean): string {
  const inside = Object.entries(element)
    // Skip null, and a label equal to the name.
    .filter(([key, member]) => !['id', 'name'].includes(key) && member !== null)
    .filter(([key, member]) => key !== 'label' || member !== element.name)
    .map(([key, member]) => `${quoteIfNeeded(key)}: ${memberText(member, confirmed, whole)}`);
  const named = name(element);
  return inside.length === 0 || named === inline(element) ? named : `${named} (${inside.join('; ')})`;
}

function memberText(member: Value, confirmed: boolean, whole: boolean): string {
  if (!Array.isArray(member) || !isSet(member)) return inlinePair(null, member, whole).after;
  const elements = asElements(member);
  const name = namer(elements, confirmed);
  return elements.length === 0
    ? 'none'
    : elements.map((it) => described(it, name, confirmed, whole)).join(', ');
}

function innerChanges(wanted: Fields, got: Fields, confirmed: boolean, whole: boolean): string {
  const changes = Object.entries(wanted).flatMap(([key, member]): string[] => {
    const present = Object.hasOwn(got, key) ? got[key] : undefined;
    if (present !== undefined && same(member, present)) return [];
    const label = `${quoteIfNeeded(key)}: `;
    if (Array.isArray(member)) {
      if (present === undefined) return [`${label}(unknown) → ${memberText(member, confirmed, whole)}`];
      const inner = compareSets(present, member, confirmed, whole);
      if (inner !== undefined) {
        return [label + inner.elements.map(({ mark, text }) => `${mark} ${text}`).join(' ')];
      }
      // Only the order differs.
      if (isSet(member) && isSet(present)) return [];
    }
    // An id or name that the server omits is no change.
    if (present === undefined && (key === 'id' || key === 'name')) return [];
    const { before, after } = inlinePair(present, member, whole);
    return [`${label}${before} → ${after}`];
  });
  return changes.join('; ');
}
