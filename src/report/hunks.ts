import { escapeText } from '../base/escape.js';
import type { BodyDifference } from './bodies.js';
import { changedWords, pairsOf } from './changed-words.js';
import { plain, type Span } from './spans.js';
import { type Cut, cutText, shorten } from './values.js';

/** How many characters of a line of a diff are shown where not all of it is wanted. */
export const diffLineLimit = 200;

/** A line of a diff; its text is harmless and on one line. */
export interface DiffLine {
  readonly mark: '+' | '-' | ' ';
  readonly text: string;
  /** The same in parts, where words of the line stay and others change. */
  readonly spans?: readonly Span[];
}

/** How much of the lines of a hunk is shown. */
export interface HunkRoom {
  /** Characters of a line; those longer are cut, with what differs kept in sight. */
  readonly limit: number;
  /** Whether words that change within a line are told. */
  readonly words: boolean;
}

/** The lines of a hunk as they are shown. */
export function hunkLines(
  { lines }: BodyDifference['hunks'][number],
  { limit, words }: HunkRoom,
): DiffLine[] {
  const shown = lines.map((line): DiffLine => {
    const first = line.charAt(0);
    const mark = first === '+' || first === '-' ? first : ' ';
    return { mark, text: mark === ' ' ? escapeText(line.slice(1)) : escapeChanged(line.slice(1)) };
  });
  const partners = pairLines(shown, words || limit !== Number.POSITIVE_INFINITY);
  return shown.map(({ mark, text }, index) => {
    const { text: other = '', alike = false } = partners[index] ?? {};
    const cut = cutText(text, other, limit);
    const whole = words && alike ? spansOf(mark, text, other) : undefined;
    const spans = whole === undefined || cut === undefined ? whole : cutSpans(whole, cut);
    const all = { mark, text: cut === undefined ? text : shorten(text, other, limit) };
    return spans === undefined ? all : { ...all, spans };
  });
}

function spansOf(mark: DiffLine['mark'], text: string, other: string): readonly Span[] | undefined {
  return mark === '-' ? changedWords(text, other)?.before : changedWords(other, text)?.after;
}

/** The same parts of a text that is cut, as it is shown then. */
function cutSpans(spans: readonly Span[], { shown, length }: Cut): Span[] {
  const found = shown.flatMap(([from, to]): Span[] => {
    let at = 0;
    const inside = spans.map(({ text, change }) => {
      const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
      at += text.length;
      return { text: part, change };
    });
    return [...(from > 0 ? [plain('…')] : []), ...inside.filter(({ text }) => text !== '')];
  });
  return [...found, plain(` (${length} characters)`)];
}

/** Where a hunk stands, as unified diffs say it: `@@ -1,3 +1,4 @@`. */
export function hunkHead(hunk: BodyDifference['hunks'][number]): string {
  return `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`;
}

/** An empty range stands after the line before it. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** A changed line, with the spaces at its end made visible: they may be all that changed. */
function escapeChanged(line: string): string {
  const escaped = escapeText(line);
  const kept = escaped.trimEnd();
  return kept + escaped.slice(kept.length).replaceAll(' ', '\\u0020');
}

/** A line that takes the place of another, and whether the two are alike. */
interface Partner {
  readonly text: string;
  readonly alike: boolean;
}

/**
 * For each line of a hunk the one that replaces it, or that it replaces: of those that go and come together the ones that are
 * most alike, else the one that stands in the same place.
 */
function pairLines(lines: readonly DiffLine[], wanted: boolean): (Partner | undefined)[] {
  const paired: (Partner | undefined)[] = lines.map(() => undefined);
  if (!wanted) return paired;
  const pair = (from: number, to: number, alike: boolean): void => {
    paired[from] = { text: lines[to]?.text ?? '', alike };
    paired[to] = { text: lines[from]?.text ?? '', alike };
  };
  let start = 0;
  while (start < lines.length) {
    let middle = start;
    while (lines[middle]?.mark === '-') middle += 1;
    let end = middle;
    while (lines[end]?.mark === '+') end += 1;
    for (let offset = 0; offset < Math.min(middle - start, end - middle); offset += 1)
      pair(start + offset, middle + offset, false);
    const texts = (from: number, to: number) => lines.slice(from, to).map(({ text }) => text);
    for (const [removed, added] of pairsOf(texts(start, middle), texts(middle, end)))
      pair(start + removed, middle + added, true);
    start = Math.max(end, start + 1);
  }
  return paired;
}
