import { type StructuredPatchHunk, structuredPatch } from 'diff';
import { formChange } from './values.js';

/** More changed lines than this are no longer a diff that someone reads. */
export const maxChangedLines = 2000;
/**
 * How many comparisons of two lines looking for a diff may take: less than a second. For bodies of very many lines that are alike; a
 * clock in its place would show the same plan differently on another machine.
 */
const maxComparisons = 60_000_000;

/** How two text bodies differ. */
export interface BodyDifference {
  /** What a diff of lines can't show, in words: line endings, final newline, byte order mark, normal form. */
  readonly notes: readonly string[];
  /** Unified hunks with three lines of context; empty where only the notes tell the bodies apart. */
  readonly hunks: readonly StructuredPatchHunk[];
  /** Said instead of hunks, where there would be too many changed lines. */
  readonly tooDifferent: string | null;
}

/** Compares two text bodies for a reviewer. */
export function compareBodies(before: string, after: string): BodyDifference {
  const old = normalize(before);
  const now = normalize(after);
  const notes = [...byteOrderMark(before, after), ...lineEndings(before, after, old === now)];
  if (before !== '' && after !== '') notes.push(...finalNewline(before, after));
  if (old === now) return { notes, hunks: [], tooDifferent: null };
  if (old.normalize('NFC') === now.normalize('NFC')) {
    notes.push(`the same text in another Unicode normal form: ${formChange(old, now)}`);
    return { notes, hunks: [], tooDifferent: null };
  }
  const patch = sharesTooLittle(old, now)
    ? undefined
    : structuredPatch('', '', old, now, undefined, undefined, {
        context: 3,
        maxEditLength: longestEdit(old, now),
      });
  if (patch !== undefined) return { notes, hunks: patch.hunks, tooDifferent: null };
  return {
    notes,
    hunks: [],
    tooDifferent: `bodies differ too much to show, ${countLines(before)} lines before, ${countLines(after)} after`,
  };
}

/** As many changed lines as can be looked for: each one more makes two more walks along all lines of both bodies. */
function longestEdit(before: string, after: string): number {
  const lines = Math.max(before.split('\n').length, after.split('\n').length);
  return Math.min(maxChangedLines, Math.ceil(maxComparisons / (2 * lines)));
}

/** Whether so many lines stand on one side alone that looking for the shortest diff would be for nothing. */
function sharesTooLittle(before: string, after: string): boolean {
  const counts = new Map<string, number>();
  for (const line of before.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of after.split('\n')) counts.set(line, (counts.get(line) ?? 0) - 1);
  let changed = 0;
  for (const count of counts.values()) changed += Math.abs(count);
  return changed > maxChangedLines;
}

/** How many lines a text has; a last one without a newline counts. */
export function countLines(text: string): number {
  return text === '' ? 0 : normalize(text).split('\n').length - 1;
}

function normalize(text: string): string {
  const lines = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
}

function byteOrderMark(before: string, after: string): string[] {
  const had = before.startsWith('\ufeff');
  if (had === after.startsWith('\ufeff')) return [];
  return [had ? 'the byte order mark is removed' : 'a byte order mark is added'];
}

function finalNewline(before: string, after: string): string[] {
  const had = before.endsWith('\n');
  if (had === after.endsWith('\n')) return [];
  return [had ? 'the final newline is removed' : 'a final newline is added'];
}

type Endings = 'none' | 'LF' | 'CRLF' | 'mixed';

function endingsOf(text: string): Endings {
  const all = text.match(/\r?\n/g) ?? [];
  const windows = all.filter((ending) => ending === '\r\n').length;
  if (all.length === 0) return 'none';
  return windows === 0 ? 'LF' : windows === all.length ? 'CRLF' : 'mixed';
}

function lineEndings(before: string, after: string, sameLines: boolean): string[] {
  const old = endingsOf(before);
  const now = endingsOf(after);
  if (old === 'none' || now === 'none') return [];
  if (old !== now) return [`line endings: ${old} → ${now}`];
  if (old !== 'mixed') return [];
  if (!sameLines) return ['line endings are mixed before and after, the diff leaves them out'];
  const changed = countChangedEndings(before, after);
  return changed === 0 ? [] : [`line endings change on ${changed} ${changed === 1 ? 'line' : 'lines'}`];
}

function countChangedEndings(before: string, after: string): number {
  const old = before.match(/\r?\n/g) ?? [];
  const now = after.match(/\r?\n/g) ?? [];
  // A final newline that comes or goes is said in its own words.
  return old.filter((ending, index) => index < now.length && ending !== now[index]).length;
}
