import { diffWordsWithSpace } from 'diff';
import { quote } from '../base/escape.js';
import { isMap, Sensitive, type Value } from '../base/values.js';

/** A value as JSON on one line, escaped; secrets are `(sensitive)`. */
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

/** Both sides of a change, escaped; unless `whole`, long ones are shortened between their differences. */
export function inlinePair(
  before: Value | undefined,
  after: Value,
  whole: boolean,
): { before: string; after: string } {
  const old = before === undefined ? '(unknown)' : inline(before);
  const now = inline(after);
  const note = typeof before === 'string' && typeof after === 'string' ? normalFormNote(before, after) : null;
  const words = whole || before === undefined ? undefined : changedWords(old, now);
  return {
    before: words === undefined ? old : textOf(shorten(words.before)),
    after: (words === undefined ? now : textOf(shorten(words.after))) + (note === null ? '' : ` (${note})`),
  };
}

/** A note if the Unicode normal form differs, which is invisible; otherwise null. */
export function normalFormNote(before: string, after: string): string | null {
  if (before === after) return null;
  const [old, now] = [before.normalize('NFC'), after.normalize('NFC')];
  if (old === now) return 'the same text in another Unicode normal form';
  return (before === old) === (after === now) ? null : 'the Unicode normal form changes as well';
}

/** A part of an escaped text; `change` says whether it was removed or added. */
export interface Span {
  readonly text: string;
  readonly change: '+' | '-' | null;
}

export interface ChangedWords {
  readonly before: readonly Span[];
  readonly after: readonly Span[];
  /** Whether enough is equal for marking the changed words. */
  readonly areSimilar: boolean;
}

/** Limits of the comparison by words. Only characters between the common start and end count. */
const maxComparedCharacters = 10_000;
const maxWordChanges = 80;

/** Compares two escaped texts by words. */
export function changedWords(before: string, after: string): ChangedWords {
  const start = commonStart(before, after);
  const end = commonEnd(before.slice(start), after.slice(start));
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const parts =
    Math.max(old.length, now.length) > maxComparedCharacters
      ? undefined
      : diffWordsWithSpace(old, now, { maxEditLength: maxWordChanges });
  const inside = parts ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ];
  const side = (mark: '+' | '-'): Span[] => [
    plain(before.slice(0, start)),
    ...inside
      .filter(({ added, removed }) => (mark === '+' ? !removed : !added))
      .map(({ value, added, removed }) => ({ text: value, change: added || removed ? mark : null })),
    plain(before.slice(before.length - end)),
  ];
  const spansBefore = side('-').filter(({ text }) => text !== '');
  const spansAfter = side('+').filter(({ text }) => text !== '');
  const same = textOf(spansBefore.filter(({ change }) => change === null)).length;
  return {
    before: spansBefore,
    after: spansAfter,
    areSimilar: same > Math.max(before.length, after.length) * 0.4,
  };
}

/** The length of the common start. It doesn't split a surrogate pair. */
function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return /[\ud800-\udbff]/.test(one.charAt(length - 1)) ? length - 1 : length;
}

function commonEnd(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let length = 0;
  while (length < shorter && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return /[\udc00-\udfff]/.test(one.charAt(one.length - length)) ? length - 1 : length;
}

/** Unchanged characters shown next to a difference. */
const contextCharacters = 40;

/** Replaces the middle of long unchanged parts with `…`. */
export function shorten(spans: readonly Span[]): readonly Span[] {
  const isLong = ({ text, change }: Span) => change === null && text.length > 2 * contextCharacters;
  if (!spans.some(isLong)) return spans;
  const length = spans.reduce((sum, { text }) => sum + text.length, 0);
  return [
    ...spans.map((span) => (isLong(span) ? plain(cutMiddle(span.text)) : span)),
    plain(` (${length} characters)`),
  ];
}

function cutMiddle(text: string): string {
  const start = text.slice(0, contextCharacters).replace(/[\ud800-\udbff]$/, '');
  return `${start}…${text.slice(-contextCharacters).replace(/^[\udc00-\udfff]/, '')}`;
}

export function textOf(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join('');
}

export function plain(text: string): Span {
  return { text, change: null };
}
