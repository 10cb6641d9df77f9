import { diffWordsWithSpace } from 'diff';
import type { Span } from './spans.js';

/*
 * Which words of a line changed, for the eye alone: lines of any length in time that grows with their length and no faster, so what is
 * too long to be compared word by word is marked from the first word that differs to the last.
 */

/** Two lines, the one that goes and the one that comes, in parts. */
export interface ChangedWords {
  readonly before: readonly Span[];
  readonly after: readonly Span[];
}

/** Characters between what two lines begin and end with alike that are compared word by word, and changes looked for in them. */
const LONGEST_MIDDLE = 1_000;
const MOST_CHANGES = 80;

/** How two lines differ within; undefined where no more than a word or two is alike. Both must be harmless already. */
export function changedWords(before: string, after: string): ChangedWords | undefined {
  if (before === after) return undefined;
  const start = commonStart(before, after);
  const end = commonEnd(before.slice(start), after.slice(start));
  const middle = {
    before: before.slice(start, before.length - end),
    after: after.slice(start, after.length - end),
  };
  const inside = wordByWord(middle.before, middle.after);
  const [first, last] = [before.slice(0, start), before.slice(before.length - end)];
  return {
    before: tidy([{ text: first, change: null }, ...inside.before, { text: last, change: null }]),
    after: tidy([{ text: first, change: null }, ...inside.after, { text: last, change: null }]),
  };
}

function wordByWord(before: string, after: string): { before: Span[]; after: Span[] } {
  const all = { before: [goes(before)], after: [comes(after)] };
  if (Math.max(before.length, after.length) > LONGEST_MIDDLE) return all;
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MOST_CHANGES });
  if (parts === undefined) return all;
  return {
    before: parts
      .filter(({ added }) => !added)
      .map(({ value, removed }) => (removed ? goes(value) : same(value))),
    after: parts
      .filter(({ removed }) => !removed)
      .map(({ value, added }) => (added ? comes(value) : same(value))),
  };
}

const goes = (text: string): Span => ({ text, change: '-' });
const comes = (text: string): Span => ({ text, change: '+' });
const same = (text: string): Span => ({ text, change: null });

/**
 * Without empty parts, and each two neighbours different. A lone space between two words that changed has changed with them, and
 * the backslash of an escape with what is behind it.
 */
function tidy(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  const add = (text: string, change: Span['change']): void => {
    const last = found.at(-1);
    if (text === '') return;
    if (last?.change === change) found[found.length - 1] = { text: last.text + text, change };
    else found.push({ text, change });
  };
  for (const [index, { text, change }] of spans.entries()) {
    const last = found.at(-1);
    const next = spans[index + 1];
    const isGap =
      change === null && /^ +$/.test(text) && last?.change != null && next?.change === last.change;
    if (change !== null && last?.change === null && last.text.endsWith('\\') && text !== '') {
      found.pop();
      add(last.text.slice(0, -1), null);
      add('\\', change);
    }
    add(text, isGap ? last.change : change);
  }
  return found;
}

const wordCharacter = /[\p{L}\p{M}\p{N}_\\]/u;

/** How many characters two lines begin with alike, up to the end of a word. */
function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  const splits = (at: number): boolean => splitsWord(one, at) || splitsWord(other, at);
  while (length > 0 && splits(length)) length -= 1;
  return length;
}

/** How many characters two lines end with alike, from the beginning of a word on. */
function commonEnd(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (
    length < most &&
    one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)
  )
    length += 1;
  const splits = (end: number): boolean =>
    splitsWord(one, one.length - end) || splitsWord(other, other.length - end);
  while (length > 0 && splits(length)) length -= 1;
  return length;
}

/** Whether a place in a line is within a word, or within a character of two halves. */
function splitsWord(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  if (/[\udc00-\udfff]/.test(text.charAt(at))) return true;
  return wordCharacter.test(text.charAt(at - 1)) && wordCharacter.test(text.charAt(at));
}

/** Lines on one side, and on both together, up to which each is compared with each to find out which became which. */
const MOST_PAIRS = 2_500;
/** Characters of a line that are looked at to tell whether it is alike another. */
const LOOKED_AT = 600;
/** How much of the words of two lines must be the same, from 0 to 1, for one to be the other's successor. */
const ALIKE = 0.4;

/** Which line that goes became which that comes: as many as can be of those that are most alike, in their order. */
export function pairsOf(
  removed: readonly string[],
  added: readonly string[],
): readonly (readonly [removed: number, added: number])[] {
  const bags = { removed: removed.map(bagOf), added: added.map(bagOf) };
  const score = (from: number, to: number): number => {
    const alike = likeness(bags.removed[from], bags.added[to]);
    return alike < ALIKE ? 0 : alike;
  };
  if (removed.length * added.length > MOST_PAIRS) {
    return Array.from(
      { length: Math.min(removed.length, added.length) },
      (_, at) => [at, at] as const,
    ).filter(([from, to]) => score(from, to) > 0);
  }
  // What the best pairs of the rest come to, from each two lines on.
  const width = added.length + 1;
  const best = new Float64Array((removed.length + 1) * width);
  const at = (from: number, to: number): number => best[from * width + to] ?? 0;
  for (let from = removed.length - 1; from >= 0; from -= 1) {
    for (let to = added.length - 1; to >= 0; to -= 1) {
      const alike = score(from, to);
      const paired = alike === 0 ? 0 : alike + at(from + 1, to + 1);
      best[from * width + to] = Math.max(paired, at(from + 1, to), at(from, to + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let from = 0, to = 0; from < removed.length && to < added.length; ) {
    const here = at(from, to);
    if (here === at(from + 1, to)) from += 1;
    else if (here === at(from, to + 1)) to += 1;
    else pairs.push([from++, to++]);
  }
  return pairs;
}

interface Bag {
  readonly counts: ReadonlyMap<string, number>;
  readonly size: number;
}

/** The words of a line, each with how often it is there; of a line without words its other characters. */
function bagOf(line: string): Bag {
  const looked = line.slice(0, LOOKED_AT);
  const words = looked.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? looked.match(/\S/gu) ?? [];
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { counts, size: words.length };
}

function likeness(one: Bag | undefined, other: Bag | undefined): number {
  if (one === undefined || other === undefined || one.size + other.size === 0) return 0;
  let shared = 0;
  for (const [word, count] of one.counts) shared += Math.min(count, other.counts.get(word) ?? 0);
  return (2 * shared) / (one.size + other.size);
}
