import { quote } from '../base/escape.js';
import { isMap, Sensitive, type Value } from '../base/values.js';

/** How many characters of a value are shown where not all of it is wanted. */
const shownCharacters = 60;

/** A value on one line, harmless: JSON, with secrets held back. */
export function inline(value: Value): string {
  if (value instanceof Sensitive) return '(sensitive)';
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (isMap(value)) {
    const members = Object.entries(value).map(([key, member]) => `${quote(key)}: ${inline(member)}`);
    return `{${members.join(', ')}}`;
  }
  return String(value);
}

/** Both sides of a change on one line each; shortened, unless `whole`, so that the difference stays in sight. */
export function inlinePair(
  before: Value | undefined,
  after: Value,
  whole: boolean,
): { before: string; after: string } {
  const old = before === undefined ? '(unknown)' : inline(before);
  const now = inline(after);
  const note = formNote(before, after);
  if (whole) return { before: old, after: now + note };
  return {
    before: shorten(old, now, shownCharacters, lengthOf(before)),
    after: shorten(now, old, shownCharacters, lengthOf(after)) + note,
  };
}

/** Says what the eye can't see: two texts that differ in how their accents are encoded alone. */
function formNote(before: Value | undefined, after: Value): string {
  if (typeof before !== 'string' || typeof after !== 'string' || before === after) return '';
  const same = before.normalize('NFC') === after.normalize('NFC');
  return same ? ` (the same text in another Unicode normal form: ${formChange(before, after)})` : '';
}

/** How the Unicode normal form of a text changes: `NFD → NFC`. */
export function formChange(before: string, after: string): string {
  return `${normalFormOf(before)} → ${normalFormOf(after)}`;
}

function normalFormOf(text: string): string {
  return text === text.normalize('NFC') ? 'NFC' : text === text.normalize('NFD') ? 'NFD' : 'mixed';
}

/** The length to be told of a value that is cut: of a text its own, without quotes and escapes. */
function lengthOf(value: Value | undefined): number | undefined {
  return typeof value === 'string' ? [...value].length : undefined;
}

/**
 * A text that is too long, cut in the middle, with its length. Where it begins to differ from `other` stays
 * in sight, since two long texts that are cut alike would look equal.
 */
export function shorten(text: string, other: string, limit: number, length?: number): string {
  const cut = cutText(text, other, limit);
  if (cut === undefined) return text;
  let shown = '';
  for (const [from, to] of cut.shown) shown += (from > 0 ? '…' : '') + text.slice(from, to);
  return `${shown} (${length ?? cut.length} characters)`;
}

/** Which stretches of a text that is too long are shown, in their order, and how many characters all of it has. */
export interface Cut {
  readonly shown: readonly (readonly [from: number, to: number])[];
  readonly length: number;
}

/** How a text is cut; undefined where it isn't too long. Where it begins to differ from `other` stays in sight. */
export function cutText(text: string, other: string, limit: number): Cut | undefined {
  if (text.length <= limit) return undefined;
  const { length: parts, differing } = measure(text, other);
  if (parts <= limit) return undefined;
  const third = Math.floor(limit / 3);
  const ranges: readonly (readonly [number, number])[] = [
    [0, third],
    [Math.max(0, differing - Math.floor(third / 2)), differing + Math.ceil(third / 2)],
    [parts - third, parts],
  ];
  const offset = offsetsOf(text, ranges.flat());
  const shown: [number, number][] = [];
  let end = 0;
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (to <= end) continue;
    const last = shown.at(-1);
    if (last !== undefined && from <= end) last[1] = offset(to);
    else shown.push([offset(from), offset(to)]);
    end = to;
  }
  return { shown, length: parts };
}

/** How many characters an escaped text has, and which one is the first that another doesn't have there; 0 for none. */
function measure(text: string, other: string): { readonly length: number; readonly differing: number } {
  let length = 0;
  let differing = -1;
  let otherAt = 0;
  for (let at = 0; at < text.length; length += 1) {
    const end = endOf(text, at);
    if (differing < 0) {
      const otherEnd = endOf(other, otherAt);
      if (text.slice(at, end) !== other.slice(otherAt, otherEnd)) differing = length;
      otherAt = otherEnd;
    }
    at = end;
  }
  return { length, differing: Math.max(0, differing) };
}

/** Where in an escaped text the characters of these numbers begin; its end for those that it doesn't have. */
function offsetsOf(text: string, numbers: readonly number[]): (number: number) => number {
  const found = new Map<number, number>();
  const wanted = new Set(numbers);
  for (let at = 0, number = 0; at < text.length; at = endOf(text, at), number += 1) {
    if (wanted.has(number)) found.set(number, at);
  }
  return (number) => found.get(number) ?? text.length;
}

const escaped = /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|.)?/suy;

/** Where a character of an escaped text ends; an escape counts as one and is never cut. */
function endOf(text: string, at: number): number {
  if (at >= text.length) return at;
  if (text.charCodeAt(at) === 0x5c) {
    escaped.lastIndex = at;
    escaped.test(text);
    return escaped.lastIndex;
  }
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}
