import { escapeText } from '../base/escape.js';
import type { BodyDifference } from './bodies.js';
import { changedWords, plain, type Span, shorten, textOf } from './values.js';

export interface DiffLine {
  readonly mark: '+' | '-' | ' ';
  readonly text: string;
  /** The text in parts, if only some words change. */
  readonly spans?: readonly Span[];
}

/** In longer hunks, words aren't compared. */
const maxComparedLines = 4_000;

/** The escaped lines of a hunk; unless `whole`, long ones are shortened between their differences. */
export function hunkLines({ lines }: BodyDifference['hunks'][number], whole: boolean): DiffLine[] {
  const shown = lines.map((line): DiffLine => {
    const first = line.charAt(0);
    const mark = first === '+' || first === '-' ? first : ' ';
    return { mark, text: mark === ' ' ? escapeLine(line.slice(1)) : escapeChanged(line.slice(1)) };
  });
  const shortenUnlessWhole = (spans: readonly Span[]) => (whole ? spans : shorten(spans));
  const partners = shown.length > maxComparedLines ? new Map<number, number>() : pairLines(shown);
  return shown.map(({ mark, text }, index): DiffLine => {
    if (mark === ' ') return { mark, text: textOf(shortenUnlessWhole([plain(text)])) };
    const other = shown[partners.get(index) ?? -1]?.text;
    if (other === undefined) return { mark, text };
    const words = mark === '-' ? changedWords(text, other) : changedWords(other, text);
    const spans = shortenUnlessWhole(mark === '-' ? words.before : words.after);
    return { mark, text: textOf(spans), ...(words.areSimilar ? { spans } : {}) };
  });
}

/** The header of a hunk: `@@ -1,3 +1,4 @@`. */
export function hunkHeader(hunk: BodyDifference['hunks'][number]): string {
  return `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`;
}

/** An empty range is after the preceding line. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** Escapes a line of a body, and any `\u` in it, which would look like an escaped character. */
function escapeLine(line: string): string {
  return escapeText(line.replaceAll('\\u', '\\\\u'));
}

/** Escapes a changed line, and its trailing spaces, which may be the only change. */
function escapeChanged(line: string): string {
  const escaped = escapeLine(line);
  const trimmed = escaped.trimEnd();
  return trimmed + escaped.slice(trimmed.length).replaceAll(' ', '\\u0020');
}

/** The index of each line's counterpart: removed and added lines are paired in order if both are equally many. */
function pairLines(lines: readonly DiffLine[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const endOf = (start: number, wanted: DiffLine['mark']) => {
    const end = lines.findIndex(({ mark }, index) => index >= start && mark !== wanted);
    return end < 0 ? lines.length : end;
  };
  for (let start = 0; start < lines.length; ) {
    const middle = endOf(start, '-');
    const end = endOf(middle, '+');
    if (middle - start === end - middle) {
      for (let at = start; at < middle; at += 1) {
        found.set(at, at + middle - start);
        found.set(at + middle - start, at);
      }
    }
    start = Math.max(end, start + 1);
  }
  return found;
}
