import { canonical, isMap, type Json, same } from '../base/values.js';

/** What becomes of one place in a map or a list: `old` tells which member stands there, undefined where it is a new one. */
export interface Step {
  readonly old: number | undefined;
  /** Whether it stands elsewhere among those that stay. */
  readonly moved: boolean;
  /** The key, in a map. */
  readonly key: string | undefined;
  readonly was: Json;
  readonly next: Json;
}

/** The members of a map as they are to be: those that stay in their order, new ones behind. */
export function alignMap(
  keys: readonly string[],
  old: { readonly [key: string]: unknown },
  next: { readonly [key: string]: unknown },
): readonly Step[] {
  const member = (map: { readonly [key: string]: unknown }, key: string): Json => (map[key] ?? null) as Json;
  const kept = keys.flatMap((key, index): Step[] =>
    Object.hasOwn(next, key)
      ? [{ old: index, moved: false, key, was: member(old, key), next: member(next, key) }]
      : [],
  );
  const added = Object.keys(next).filter((key) => !Object.hasOwn(old, key));
  return [
    ...kept,
    ...added.map((key) => ({ old: undefined, moved: false, key, was: null, next: member(next, key) })),
  ];
}

/** The elements of a list as they are to be: as many as can be stay where they are. */
export function alignList(old: readonly Json[], next: readonly Json[]): readonly Step[] {
  const waiting = new Map<string, number[]>();
  old.forEach((element, index) => {
    const key = elementKey(element);
    const queue = waiting.get(key);
    if (queue === undefined) waiting.set(key, [index]);
    else queue.push(index);
  });
  for (const queue of waiting.values()) queue.reverse();
  const found = next.map((element) => waiting.get(elementKey(element))?.pop());
  const staying = new Set(longestRise(found));
  pairUnnamed(old, next, found, staying);
  return next.map((element, place): Step => {
    const index = found[place];
    const moved = index !== undefined && !staying.has(index);
    const was = index === undefined ? null : (old[index] ?? null);
    return { old: index, moved, key: undefined, was, next: element };
  });
}

/** Takes a map or a list that nothing names for the one that stood between the same neighbours, so that it is changed. */
function pairUnnamed(
  old: readonly Json[],
  next: readonly Json[],
  found: (number | undefined)[],
  staying: Set<number>,
): void {
  const used = new Set(found);
  const waiting = old.flatMap((one, index) => (used.has(index) || !isUnnamed(one) ? [] : [index]));
  if (waiting.length === 0) return;
  /** By place, the first element behind it that stays. */
  const ends: number[] = [];
  for (let place = found.length - 1, end = old.length; place >= 0; place -= 1) {
    ends[place] = end;
    const index = found[place];
    if (index !== undefined && staying.has(index)) end = index;
  }
  let from = 0;
  for (const [place, index] of found.entries()) {
    if (index !== undefined) {
      if (staying.has(index)) from = index + 1;
      continue;
    }
    const one = next[place] ?? null;
    if (!isUnnamed(one)) continue;
    while (waiting[0] !== undefined && waiting[0] < from) waiting.shift();
    const [at] = waiting;
    if (at === undefined || at >= (ends[place] ?? 0) || Array.isArray(old[at]) !== Array.isArray(one))
      continue;
    found[place] = at;
    staying.add(at);
    from = at + 1;
  }
}

/** Whether it is a list, or a map that has neither an id nor a name. */
function isUnnamed(one: Json): boolean {
  return Array.isArray(one) || (isMap(one) && one.id === undefined && one.name === undefined);
}

/** Whether two elements of a list are one: the same, or of one id, or without ids of one name. */
export function isAlike(old: Json, next: Json): boolean {
  return same(old, next) || elementKey(old) === elementKey(next);
}

/** What tells an element of a list from the others: its id, without one its name, else all of it. */
function elementKey(element: Json): string {
  if (isMap(element) && element.id !== undefined) return `id ${canonical(element.id as Json)}`;
  if (isMap(element) && element.name !== undefined) return `name ${canonical(element.name as Json)}`;
  return `is ${canonical(element)}`;
}

/** The longest part of some numbers that rises. */
function longestRise(numbers: readonly (number | undefined)[]): number[] {
  /** By length less one, the smallest number that ends a rise of it, with the rise before it. */
  const ends: { readonly number: number; readonly before: Rise | undefined }[] = [];
  for (const number of numbers) {
    if (number === undefined) continue;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.number ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    ends[low] = { number, before: ends[low - 1] };
  }
  const rise: number[] = [];
  for (let last: Rise | undefined = ends.at(-1); last !== undefined; last = last.before) {
    rise.push(last.number);
  }
  return rise;
}

interface Rise {
  readonly number: number;
  readonly before: Rise | undefined;
}
