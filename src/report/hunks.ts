import { escapeText } from '../base/escape.js';
import type { BodyDifference } from './bodies.js';
import type { Span } from './spans.js';
import { shorten } from './values.js';

/** How many characters of a line of a diff are shown where not all of it is wanted: a page has more room. */
export const diffLineLimits = { terminal: 200, comment: 200, page: 2000 } as const;

/** A line of a diff; its text is harmless and on one line. */
export interface DiffLine {
  readonly mark: '+' | '-' | ' ';
  readonly text: string;
  /** The same in parts, where words of the line stay and others change. */
  readonly spans?: readonly Span[];
}

/** The lines of a hunk as they are shown; those longer than the limit are cut, with what differs kept in sight. */
export function hunkLines({ lines }: BodyDifference['hunks'][number], limit: number): DiffLine[] {
  const counterparts = limit === Number.POSITIVE_INFINITY ? [] : pairLines(lines);
  return lines.map((line, index) => {
    const first = line.charAt(0);
    const mark = first === '+' || first === '-' ? first : ' ';
    const text = mark === ' ' ? escapeText(line.slice(1)) : escapeChanged(line.slice(1));
    return {
      mark,
      text: text.length <= limit ? text : shorten(text, escapeChanged(counterparts[index] ?? ''), limit),
    };
  });
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

/** For each line of a hunk the one that replaces it, or that it replaces, where there is one. */
function pairLines(lines: readonly string[]): (string | undefined)[] {
  const paired: (string | undefined)[] = lines.map(() => undefined);
  let start = 0;
  while (start < lines.length) {
    let middle = start;
    while (lines[middle]?.startsWith('-')) middle += 1;
    let end = middle;
    while (lines[end]?.startsWith('+')) end += 1;
    for (let offset = 0; offset < Math.min(middle - start, end - middle); offset += 1) {
      paired[start + offset] = lines[middle + offset]?.slice(1);
      paired[middle + offset] = lines[start + offset]?.slice(1);
    }
    start = Math.max(end, start + 1);
  }
  return paired;
}
