import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { whyRefused } from '../base/errno.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { mask } from '../base/redact.js';
import type { Span } from '../base/span.js';
import { isReference, secretRanges } from './mask.js';
import { strayRanges } from './stray.js';

/** How large a file may be: far above any manifest, far below what exhausts the memory. */
export const MAX_BYTES = 16 * 1024 * 1024;

/** A longer line is not shown: nobody reads it, and showing it takes memory for each of its characters. */
const MAX_LINE = 100_000;

/** A path as a person would type it in the folder `cwd`. */
export function shownPath(path: string, cwd: string): string {
  return (relative(cwd, path) || '.').split(sep).join('/');
}

/** What a file is called: as a person would type it, and from the root of its project, where that is another path. */
export type FileName = Pick<Place, 'file' | 'inProject'>;

/** What a file of a project is called. */
export function nameOf(
  path: string,
  { cwd, root }: { readonly cwd: string; readonly root: string },
): FileName {
  const [file, inProject] = [shownPath(path, cwd), shownPath(path, root)];
  return file === inProject ? { file } : { file, inProject };
}

/** The place of a file as a whole. */
export function wholeFile(name: FileName): Place {
  return { ...name, line: 1, column: 1, length: 1 };
}

/** A text file, which can say where something in it stands. */
export class SourceFile {
  /** As a person would type it. */
  readonly path: string;
  readonly text: string;
  readonly #inProject: string | undefined;
  #lines: number[] | undefined;
  #written: Span[] | undefined;
  #secrets: Span[] | undefined;
  readonly #hidden: Span[] = [];
  #isDistrusted = false;

  constructor({ file, inProject }: FileName, text: string) {
    this.path = file;
    this.#inProject = inProject;
    this.text = text;
  }

  /** Masks a part of the text wherever its lines are shown. */
  hide(range: Span): void {
    // The name of a variable tells no secret.
    if (range.end <= range.start || isReference(this.text.slice(range.start, range.end))) return;
    this.#hidden.push(range);
    this.#secrets = undefined;
  }

  /** Masks what may be a secret in a text that is not the YAML that it was meant to be. */
  distrust(): void {
    if (this.#isDistrusted) return;
    this.#isDistrusted = true;
    for (const range of strayRanges(this.text)) this.hide(range);
  }

  /** Whether a part of the text is masked. */
  hides(range: Span): boolean {
    const masked = this.#masked();
    const next = masked[firstEndingAfter(masked, range.start)];
    return next !== undefined && Math.max(range.end, range.start + 1) > next.start;
  }

  /** The place of a part of the text; only its first line is underlined. */
  place(range: Span): Place {
    const lines = this.#lineStarts();
    const start = Math.min(range.start, this.text.length);
    const low = this.#lineOf(start);
    const lineStart = lines[low] ?? 0;
    let lineEnd = (lines[low + 1] ?? this.text.length + 1) - 1;
    if (this.text[lineEnd - 1] === '\r' && lineEnd > lineStart) lineEnd -= 1;
    const length = Math.max(1, Math.min(range.end, lineEnd) - start);
    return {
      ...this.lineAt(start),
      column: start - lineStart + 1,
      ...this.#shown(lineStart, lineEnd, start, length),
    };
  }

  /** The line of a point, which is told without what stands in it. */
  lineAt(point: number): Pick<Place, 'file' | 'inProject' | 'line'> {
    return {
      file: this.path,
      ...(this.#inProject === undefined ? {} : { inProject: this.#inProject }),
      line: this.#lineOf(point) + 1,
    };
  }

  #lineOf(point: number): number {
    const lines = this.#lineStarts();
    let low = 0;
    let high = lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((lines[middle] ?? 0) <= point) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #shown(
    lineStart: number,
    lineEnd: number,
    start: number,
    length: number,
  ): { length: number; text?: string } {
    if (lineEnd - lineStart > MAX_LINE) return { length };
    let text = '';
    let at = lineStart;
    let shownLength = length;
    const masked = this.#masked();
    for (let index = firstEndingAfter(masked, lineStart); index < masked.length; index += 1) {
      const secret = masked[index];
      if (secret === undefined || secret.start >= lineEnd) break;
      const from = Math.max(secret.start, at);
      text += this.text.slice(at, from) + mask;
      at = Math.max(at, Math.min(secret.end, lineEnd));
      // What stands behind a mask has no right column in the masked line any more.
      if (start >= at && at > secret.start) return { length };
      // Nor has a place within it that is further from its beginning than the mask is long.
      const within = start - from;
      if (within >= mask.length) return { length: 1 };
      if (within >= 0) shownLength = mask.length - within;
      else shownLength = Math.min(shownLength, Math.max(1, from - start + mask.length));
    }
    return { length: shownLength, text: text + this.text.slice(at, lineEnd) };
  }

  #masked(): readonly Span[] {
    if (this.#secrets !== undefined) return this.#secrets;
    this.#written ??= secretRanges(this.text);
    const sorted = [...this.#written, ...this.#hidden].sort((a, b) => a.start - b.start);
    const joined: Span[] = [];
    for (const range of sorted) {
      const last = joined.at(-1);
      if (last !== undefined && range.start <= last.end) {
        joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
      } else joined.push(range);
    }
    this.#secrets = joined;
    return joined;
  }

  #lineStarts(): readonly number[] {
    if (this.#lines !== undefined) return this.#lines;
    const lines = [0];
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1))
      lines.push(at + 1);
    this.#lines = lines;
    return lines;
  }
}

/** The first of some ranges, which are in order, that ends behind a point. */
function firstEndingAfter(ranges: readonly Span[], point: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.end ?? 0) > point) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Why a file could not be read, in words that a person can act on. */
export interface Unreadable {
  readonly reason: 'missing' | 'unreadable' | 'too-large' | 'not-utf8';
  readonly detail: string;
}

/** Opening a named pipe would wait for its other end. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads the bytes of a regular file of at most `MAX_BYTES`, on the spot: waiting for each call takes ten times as long. */
export function readBytes(path: string): Uint8Array | Unreadable {
  try {
    const handle = openSync(path, READING);
    try {
      const stat = fstatSync(handle);
      if (stat.isDirectory()) return { reason: 'unreadable', detail: 'is a directory' };
      if (!stat.isFile()) return { reason: 'unreadable', detail: 'is not a regular file' };
      const tooLarge = { reason: 'too-large', detail: 'is larger than 16 MiB' } as const;
      if (stat.size > MAX_BYTES) return tooLarge;
      // It may grow meanwhile.
      const bytes = readFileSync(handle);
      return bytes.length > MAX_BYTES ? tooLarge : bytes;
    } finally {
      closeSync(handle);
    }
  } catch (failure) {
    return unreadable(failure);
  }
}

/** Decodes UTF-8 to the byte: a byte order mark stays, and invalid bytes are refused. */
export function decode(bytes: Uint8Array): string | Unreadable {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { reason: 'not-utf8', detail: 'is not valid UTF-8' };
  }
}

/** Says why the file system refused. */
export function unreadable(failure: unknown): Unreadable {
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return { reason: 'missing', detail: 'does not exist' };
  return { reason: 'unreadable', detail: `can't be read: ${whyRefused(failure)}` };
}

/** A YAML file that was read; a byte order mark says nothing in it. */
export function sourceOf(name: FileName, text: string): SourceFile {
  return new SourceFile(name, text.startsWith('\uFEFF') ? text.slice(1) : text);
}

/** Reads a YAML file; a problem where that can't be done. */
export function readSource(path: string, name: FileName): SourceFile | Problem {
  const { file: shown } = name;
  const bytes = readBytes(path);
  const text = bytes instanceof Uint8Array ? decode(bytes) : bytes;
  if (typeof text === 'string') return sourceOf(name, text);
  const place = wholeFile(name);
  if (text.reason === 'too-large') {
    return error('too-large', `${shown} ${text.detail}`, [place], 'split it into several files');
  }
  if (text.reason === 'not-utf8') {
    return error('not-utf8', `${shown} ${text.detail}`, [place], 'save it as UTF-8');
  }
  return error('file-unreadable', `${shown} ${text.detail}`, [place]);
}
