import type { Fields, Value } from '../base/values.js';
import { asElements, contrast, type FieldType, value } from './fields.js';
import type { Kind, Traces } from './kind.js';

/**
 * What an update that was cut off took away from lists without being asked to: a server that empties each list before it
 * fills it leaves it empty, and nothing else. A list with something in it was set by somebody. Pure.
 */
export function lostElements(lists: readonly string[], { before, asked, now }: Traces): Fields {
  return Object.fromEntries(
    lists.flatMap((list): [string, Value][] => {
      const left = now[list];
      const isEmpty = left === null || (Array.isArray(left) && left.length === 0);
      if (!isEmpty || asked[list] === undefined) return [];
      const wanted = new Set(asElements(asked[list]).map(({ id }) => id));
      const lost = asElements(before[list] ?? null).filter(({ id }) => wanted.has(id));
      return lost.length === 0 ? [] : [[list, lost]];
    }),
  );
}

/** A value as it is now with what was lost from it back in its place. Pure. */
export function withLost(type: FieldType, now: Value | undefined, lost: Value): Value {
  if (type.type !== 'set') return lost;
  const there = asElements(now ?? null);
  const ids = new Set(there.map(({ id }) => id));
  return [...there, ...asElements(lost).filter(({ id }) => !ids.has(id))];
}

/** What was lost, as a sentence names it: `organizations ("acme", "globex")`. */
export function namesOfLost(lost: Fields): string {
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
 * What an object is to get back, since an update took it away and came no further: what was seen to be lost and how the
 * object looked then, or, where it could not be read, what was there and what was asked for.
 */
export type PendingRestore = { readonly run: string } & (
  | { readonly lost: Fields; readonly seen: Fields }
  | { readonly before: Fields; readonly asked: Fields }
);

/** What is owed after a look at what was lost. */
export function seenLoss(run: string, lost: Fields, now: Fields): PendingRestore {
  return {
    run,
    lost,
    seen: Object.fromEntries(Object.keys(lost).map((field) => [field, now[field] ?? null])),
  };
}

/** Of what is owed to an object that which still is: nothing of a field that somebody set since. Pure. */
export function stillLost(kind: Pick<Kind, 'fields' | 'lost'>, owed: PendingRestore, now: Fields): Fields {
  if ('before' in owed) return kind.lost?.({ ...owed, now }) ?? {};
  const asSeen = (field: string): boolean =>
    !Object.hasOwn(owed.seen, field) ||
    contrast(kind.fields[field] ?? value, field, owed.seen[field] ?? null, now[field]).every(
      ({ verdict }) => verdict === 'same',
    );
  const lost = kind.lost?.({ before: owed.lost, asked: owed.lost, now }) ?? {};
  return Object.fromEntries(Object.entries(lost).filter(([field]) => asSeen(field)));
}
