import { quoteIfNeeded } from '../base/escape.js';
import { type Fields, isMap, same, type Value } from '../base/values.js';
import { asElements, matchSets } from '../kinds/fields.js';
import { inline, inlinePair } from './values.js';

export interface ElementChange {
  /** `=` for an element if the present ones are unknown. */
  readonly mark: '+' | '-' | '~' | '=';
  readonly text: string;
}

/** Compares two sets as the plan does; undefined if they are equal, or no sets of objects. Shows ids beside names unless `confirmed`. */
export function compareSets(
  before: Value | undefined,
  after: Value,
  confirmed: boolean,
  whole: boolean,
): { readonly elements: readonly ElementChange[]; readonly kept: number } | undefined {
  if (!isSet(after) || (before !== undefined && !isSet(before))) return undefined;
  const wanted = asElements(after);
  if (before === undefined) {
    const name = namer(wanted, confirmed);
    return {
      elements: wanted.map((it) => ({ mark: '=', text: described(it, name, confirmed, whole) })),
      kept: 0,
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
  // Irrelevant for removed elements.
  const removed = match.removed.map(({ public: _, label: __, ...it }) =>
    described(it, name, confirmed, whole),
  );
  const elements: ElementChange[] = [
    ...added.map((text): ElementChange => ({ mark: '+', text })),
    ...removed.map((text): ElementChange => ({ mark: '-', text })),
    ...changed,
  ];
  return elements.length === 0 ? undefined : { elements, kept: match.pairs.length - changed.length };
}

function isSet(value: Value): boolean {
  return value === null || (Array.isArray(value) && value.every(isMap));
}

type Namer = (element: Fields, other?: Fields) => string;

/** Names elements; with the id if a name is shared or unconfirmed. */
function namer(elements: readonly Fields[], confirmed: boolean): Namer {
  const ids = new Map<string, Set<string>>();
  for (const { name, id } of elements) {
    if (typeof name === 'string') ids.set(name, (ids.get(name) ?? new Set()).add(inline(id ?? null)));
  }
  return (element, other = element) => {
    const name = element.name ?? other.name;
    const id = element.id ?? other.id;
    if (typeof name !== 'string') return typeof id === 'string' ? quoteIfNeeded(id) : inline(element);
    const unclear = !confirmed || (ids.get(name)?.size ?? 0) > 1;
    return unclear && typeof id === 'string' && id !== name
      ? `${quoteIfNeeded(name)} (id ${quoteIfNeeded(id)})`
      : quoteIfNeeded(name);
  };
}

/** An element with its members, such as roles and scopes. */
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
    const there = Object.hasOwn(got, key) ? got[key] : undefined;
    if (there !== undefined && same(member, there)) return [];
    const label = `${quoteIfNeeded(key)}: `;
    if (Array.isArray(member)) {
      if (there === undefined) return [`${label}(unknown) → ${memberText(member, confirmed, whole)}`];
      const inner = compareSets(there, member, confirmed, whole);
      if (inner !== undefined) {
        return [label + inner.elements.map(({ mark, text }) => `${mark} ${text}`).join(' ')];
      }
      // Only the order differs.
      if (isSet(member) && isSet(there)) return [];
    }
    // A missing name or id on the other side is no change.
    if (there === undefined && (key === 'id' || key === 'name')) return [];
    const { before, after } = inlinePair(there, member, whole);
    return [`${label}${before} → ${after}`];
  });
  return changes.join('; ');
}
