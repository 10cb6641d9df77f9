import { type Fields, filterValues, mapValues, type Value } from '../base/values.js';
import { asElements, elementKey, type FieldType, matches } from './fields.js';
import type { InterruptedUpdate, Kind } from './kind.js';

/**
 * What an interrupted update removed from lists. A server that empties each list before it fills it leaves an empty one; a list with
 * elements was set by someone since. Pure.
 */
export function lostElements(lists: readonly string[], { before, asked, now }: InterruptedUpdate): Fields {
  return Object.fromEntries(
    lists.flatMap((list): [string, Value][] => {
      const left = now[list];
      const isEmpty = left === null || (Array.isArray(left) && left.length === 0);
      if (!isEmpty || asked[list] === undefined) return [];
      const wanted = new Set(asElements(asked[list]).map(({ id }) => id));
      const lost = asElements(before[list]).filter(({ id }) => wanted.has(id));
      return lost.length === 0 ? [] : [[list, lost]];
    }),
  );
}

/** The present value with the lost part restored. Pure. */
export function restoreLost(type: FieldType, now: Value | undefined, lost: Value): Value {
  if (type.type !== 'set') return lost;
  const there = asElements(now);
  const ids = new Set(there.map(({ id }) => id));
  return [...there, ...asElements(lost).filter(({ id }) => !ids.has(id))];
}

/** A loss for messages: `organizations ("acme", "globex")`. */
export function describeLoss(lost: Fields): string {
  return Object.entries(lost)
    .filter(([field]) => field !== 'id')
    .map(([field, part]) => {
      const names = Array.isArray(part)
        ? asElements(part).map(({ name, id }) => JSON.stringify(name ?? id))
        : [];
      return names.length === 0 ? field : `${field} (${names.join(', ')})`;
    })
    .join(', ');
}

/**
 * What an interrupted update removed and a later one restores: the observed loss and the object at that time, or, if it couldn't be
 * read, the object before the update and the fields that the update sent.
 */
export type PendingRestore = { readonly run: string } & (
  | { readonly lost: Fields; readonly seen: Fields }
  | { readonly before: Fields; readonly asked: Fields }
);

/** The pending restore of an observed loss. */
export function observedLoss(run: string, lost: Fields, now: Fields): PendingRestore {
  return { run, lost, seen: mapValues(lost, (_, field) => now[field] ?? null) };
}

/** The part of a pending restore that is still lost. A field that someone set since isn't. Pure. */
export function stillLost(
  kind: Pick<Kind, 'fields' | 'lostFields'>,
  owed: PendingRestore,
  now: Fields,
): Fields {
  if ('before' in owed) return kind.lostFields?.({ ...owed, now }) ?? {};
  const asSeen = (field: string): boolean =>
    !Object.hasOwn(owed.seen, field) || matches(kind.fields[field], owed.seen[field] ?? null, now[field]);
  const lost = kind.lostFields?.({ before: owed.lost, asked: owed.lost, now }) ?? {};
  return filterValues(lost, (_, field) => asSeen(field));
}

/** The set elements of a pending restore that are still missing. Pure. */
export function missingElements(owed: PendingRestore, now: Fields): Fields {
  const [before, asked] = 'before' in owed ? [owed.before, owed.asked] : [owed.lost, owed.lost];
  const missing = mapValues(before, (elements, field) => {
    const wanted = asElements(asked[field]).map(elementKey);
    const there = asElements(now[field]).map(elementKey);
    const isMissing = (key: string) => wanted.includes(key) && !there.includes(key);
    return asElements(elements).filter((element) => isMissing(elementKey(element)));
  });
  return filterValues(missing, (elements) => elements.length > 0);
}
