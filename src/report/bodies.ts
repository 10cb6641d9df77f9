import { type StructuredPatchHunk, structuredPatch } from 'diff';
import { formNote } from './values.js';

/** Maximum of changed lines; beyond it, everything between the first and the last one is shown. */
const maxChangedLines = 2000;
/** The maximum of line comparisons; a time limit would make plans depend on the machine. */
const maxComparisons = 60_000_000;

export interface BodyDifference {
  /** What a line diff doesn't show: line endings, final newline, byte order mark. */
  readonly notes: readonly string[];
  /** Unified hunks with three lines of context; empty if only the notes differ. */
  readonly hunks: readonly StructuredPatchHunk[];
}

export function compareBodies(before: string, after: string): BodyDifference {
  // Mixed line endings are compared with their lines.
  const isMixed = [before, after].some((text) => endingsOf(text) === 'mixed');
  const [old, now] = [normalize(before, isMixed), normalize(after, isMixed)];
  const notes = [...byteOrderMark(before, after), ...lineEndings(before, after)];
  if (before !== '' && after !== '') notes.push(...finalNewline(before, after));
  if (old === now) return { notes, hunks: [] };
  const form = formNote(old, now);
  if (form !== null) notes.push(form);
  if (old.normalize('NFC') === now.normalize('NFC')) return { notes, hunks: [] };
  const patch = structuredPatch('', '', old, now, undefined, undefined, {
    context: 3,
    maxEditLength: longestEdit(old, now),
  });
  return {
    notes,
    hunks: patch?.hunks ?? [replaced(old.split('\n').slice(0, -1), now.split('\n').slice(0, -1))],
  };
}

/** All lines between the common start and end. */
function replaced(old: readonly string[], now: readonly string[]): StructuredPatchHunk {
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  return {
    oldStart: start + 1,
    oldLines: removed.length,
    newStart: start + 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}

/** The maximum edit distance for a diff: each further edit costs two more passes over both bodies. */
function longestEdit(before: string, after: string): number {
  const lines = Math.max(before.split('\n').length, after.split('\n').length);
  return Math.min(maxChangedLines, Math.ceil(maxComparisons / (2 * lines)));
}

/** Counts a last line without a newline. */
export function countLines(text: string): number {
  return text === '' ? 0 : normalize(text).split('\n').length - 1;
}

function normalize(text: string, keepsEndings = false): string {
  const marked = text.replace(/^\ufeff/, '');
  const lines = keepsEndings ? marked : marked.replaceAll('\r\n', '\n');
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

function lineEndings(before: string, after: string): string[] {
  const [old, now] = [endingsOf(before), endingsOf(after)];
  return old === now || old === 'none' || now === 'none' ? [] : [`line endings: ${old} → ${now}`];
}
