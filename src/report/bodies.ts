import { type StructuredPatchHunk, structuredPatch } from 'diff';
import { normalFormNote } from './values.js';

/** With more changed lines, everything between the first and the last one is shown. */
const maxChangedLines = 2000;
/** Limits the line comparisons; a time limit would make plans depend on the machine. */
const maxComparisons = 60_000_000;

export interface BodyDifference {
  /** What a line diff doesn't show: line endings, final newline, byte order mark. */
  readonly notes: readonly string[];
  /** Unified hunks with three lines of context; empty if only the notes differ. */
  readonly hunks: readonly StructuredPatchHunk[];
}

export function compareBodies(before: string, after: string): BodyDifference {
  // If line endings are mixed, each is a part of its line.
  const isMixed = [before, after].some((text) => endingsOf(text) === 'mixed');
  const [old, now] = [normalize(before, isMixed), normalize(after, isMixed)];
  const notes = [...byteOrderMarkNote(before, after), ...lineEndingsNote(before, after)];
  if (before !== '' && after !== '') notes.push(...finalNewlineNote(before, after));
  if (old === now) return { notes, hunks: [] };
  const unicodeNote = normalFormNote(old, now);
  if (unicodeNote !== null) notes.push(unicodeNote);
  if (old.normalize('NFC') === now.normalize('NFC')) return { notes, hunks: [] };
  const patch = structuredPatch('', '', old, now, undefined, undefined, {
    context: 3,
    maxEditLength: maxEditLength(old, now),
  });
  return {
    notes,
    hunks: patch?.hunks ?? [replacementHunk(old.split('\n').slice(0, -1), now.split('\n').slice(0, -1))],
  };
}

/** One hunk that replaces all lines between the common start and end. */
function replacementHunk(old: readonly string[], now: readonly string[]): StructuredPatchHunk {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
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
function maxEditLength(before: string, after: string): number {
  const lines = Math.max(before.split('\n').length, after.split('\n').length);
  return Math.min(maxChangedLines, Math.ceil(maxComparisons / (2 * lines)));
}

/** Counts lines; the last one may lack a newline. */
export function countLines(text: string): number {
  return text === '' ? 0 : normalize(text).split('\n').length - 1;
}

/** The text without a byte order mark, with a final newline, and with LF unless `keepEndings`. */
function normalize(text: string, keepEndings = false): string {
  const unmarked = text.replace(/^\ufeff/, '');
  const lines = keepEndings ? unmarked : unmarked.replaceAll('\r\n', '\n');
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
}

function byteOrderMarkNote(before: string, after: string): string[] {
  const wasMarked = before.startsWith('\ufeff');
  if (wasMarked === after.startsWith('\ufeff')) return [];
  return [wasMarked ? 'the byte order mark is removed' : 'a byte order mark is added'];
}

function finalNewlineNote(before: string, after: string): string[] {
  const hadNewline = before.endsWith('\n');
  if (hadNewline === after.endsWith('\n')) return [];
  return [hadNewline ? 'the final newline is removed' : 'a final newline is added'];
}

type Endings = 'none' | 'LF' | 'CRLF' | 'mixed';

function endingsOf(text: string): Endings {
  const endings = text.match(/\r?\n/g) ?? [];
  const crlf = endings.filter((ending) => ending === '\r\n').length;
  if (endings.length === 0) return 'none';
  return crlf === 0 ? 'LF' : crlf === endings.length ? 'CRLF' : 'mixed';
}

function lineEndingsNote(before: string, after: string): string[] {
  const [old, now] = [endingsOf(before), endingsOf(after)];
  return old === now || old === 'none' || now === 'none' ? [] : [`line endings: ${old} → ${now}`];
}
