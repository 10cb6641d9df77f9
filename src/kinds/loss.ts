import { type Fields, isMap, mapValues, type Value } from '../values.js';
import { asElements, contrast, type FieldType, type FieldTypes, value } from './fields.js';
import type { Kind } from './kind.js';

/** An object before an update, what the update asked for or sent along, and what is there now. */
export interface Traces {
  readonly before: Fields;
  readonly asked: Fields;
  readonly now: Fields;
}

/**
 * What an update that was cut off took away without being asked to, by field: the elements of a set, the members of a
 * map, a value that is empty now. A field that isn't in the answer isn't known to be lost. Pure.
 */
export function lostParts(types: FieldTypes, { before, asked, now }: Traces): Fields {
  const lost: Fields = {};
  for (const [field, wanted] of Object.entries(asked)) {
    const part = lostPart(types[field] ?? value, before[field], wanted, now[field]);
    if (part !== undefined) lost[field] = part;
  }
  return lost;
}

function lostPart(
  type: FieldType,
  before: Value | undefined,
  asked: Value,
  now: Value | undefined,
): Value | undefined {
  if (before === undefined || now === undefined) return undefined;
  switch (type.type) {
    case 'set':
      return lostElements(type.nested, asElements(before), asElements(asked), asElements(now));
    case 'map': {
      if (!isMap(before)) return undefined;
      const kept = isMap(now) ? now : {};
      const lost = Object.entries(before).filter(
        ([key]) => isMap(asked) && Object.hasOwn(asked, key) && !Object.hasOwn(kept, key),
      );
      return lost.length === 0 ? undefined : Object.fromEntries(lost);
    }
    case 'members':
      return undefined;
    default:
      return isEmpty(now) && !isEmpty(before) && !isEmpty(asked) ? before : undefined;
  }
}

function lostElements(
  nested: FieldTypes,
  before: readonly Fields[],
  asked: readonly Fields[],
  now: readonly Fields[],
): Value | undefined {
  const wanted = new Map(asked.map((element) => [element.id, element]));
  const there = new Map(now.map((element) => [element.id, element]));
  const lost = before.flatMap((element): Fields[] => {
    const goal = wanted.get(element.id);
    if (goal === undefined || typeof element.id !== 'string') return [];
    const left = there.get(element.id);
    if (left === undefined) return [element];
    const inner = lostParts(nested, { before: element, asked: goal, now: left });
    return Object.keys(inner).length === 0 ? [] : [{ ...element, ...inner }];
  });
  return lost.length === 0 ? undefined : lost;
}

function isEmpty(field: Value): boolean {
  return field === null || field === '';
}

/** A value as it is now with what was lost from it back in its place. Pure. */
export function withLost(type: FieldType, now: Value | undefined, lost: Value): Value {
  if (type.type === 'map')
    return { ...(isMap(lost) ? lost : {}), ...(now !== undefined && isMap(now) ? now : {}) };
  if (type.type !== 'set') return lost;
  const back = new Map(asElements(lost).map((element) => [element.id, element]));
  const there = asElements(now ?? null).map((element) => {
    const part = back.get(element.id);
    back.delete(element.id);
    if (part === undefined) return element;
    const inner = mapValues(type.nested, (own, name) => withLost(own, element[name], part[name] ?? []));
    return { ...element, ...inner };
  });
  return [...there, ...back.values()];
}

/** What was lost, as a sentence names it: `organizations ("acme", "globex"), group`. */
export function namesOfLost(lost: Fields): string {
  return Object.entries(lost)
    .filter(([field]) => field !== 'id')
    .map(([field, part]) => {
      const names = Array.isArray(part)
        ? asElements(part).map(({ name, id }) => JSON.stringify(name ?? id))
        : isMap(part)
          ? Object.keys(part).map((key) => JSON.stringify(key))
          : [];
      return names.length === 0 ? field : `${field} (${names.join(', ')})`;
    })
    .join(', ');
}

/**
 * What an object is to get back, since an update took it away and came no further: what was seen to be lost and how the
 * object looked then, or, where it could not be read, what was there and what was asked for.
 */
export type Owed = { readonly run: string } & (
  | { readonly lost: Fields; readonly seen: Fields }
  | { readonly before: Fields; readonly asked: Fields }
);

/** What is owed after a look at what was lost. A body that the server put in the place of another may change by itself. */
export function seenLoss(kind: Pick<Kind, 'fields'>, run: string, lost: Fields, now: Fields): Owed {
  const seen = Object.keys(lost).filter((field) => kind.fields[field]?.type !== 'body');
  return { run, lost, seen: Object.fromEntries(seen.map((field) => [field, now[field] ?? null])) };
}

/** Of what is owed to an object that which still is: nothing of a field that somebody set since. Pure. */
export function stillLost(kind: Pick<Kind, 'fields' | 'lost'>, owed: Owed, now: Fields): Fields {
  if ('before' in owed) return kind.lost?.({ ...owed, now }) ?? {};
  const asSeen = (field: string): boolean =>
    !Object.hasOwn(owed.seen, field) ||
    contrast(kind.fields[field] ?? value, field, owed.seen[field] ?? null, now[field]).every(
      ({ verdict }) => verdict === 'same',
    );
  const lost = kind.lost?.({ before: owed.lost, asked: owed.lost, now }) ?? {};
  return Object.fromEntries(Object.entries(lost).filter(([field]) => asSeen(field)));
}
