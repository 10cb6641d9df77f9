import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { Span } from '../base/problems.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { NotRegularFile, withFile } from '../base/read-file.js';
import { systemErrorText } from '../base/system-errors.js';
import { isReference, MAX_LINE, secretLines } from '../secrets/mask-lines.js';

/** Far larger than any manifest, far smaller than what exhausts the memory. */
export const MAX_BYTES = 16 * 1024 * 1024;

/** A path relative to the folder `cwd`, for messages. */
export function shownPath(path: string, cwd: string): string {
  return (relative(cwd, path) || '.').split(sep).join('/');
}

/** The paths of a file: relative to the current folder, and to the project if that differs. */
export type FileName = Pick<Place, 'file' | 'inProject'>;

export function fileName(
  path: string,
  { cwd, root }: { readonly cwd: string; readonly root: string },
): FileName {
  const [file, inProject] = [shownPath(path, cwd), shownPath(path, root)];
  return file === inProject ? { file } : { file, inProject };
}

/** The place of a whole file. */
export function wholeFile(name: FileName): Place {
  return { ...name, line: 1, column: 1, length: 1 };
}

/** A text file that converts offsets to places. */
export class SourceFile {
  /** Relative to the current folder. */
  readonly path: string;
  readonly text: string;
  readonly #inProject: string | undefined;
  #lines: number[] | undefined;
  /** The lines that `hide` hides; the first line is 0. */
  readonly #hidden = new Set<number>();
  #secret: ReadonlySet<number> | undefined;
  #isDistrusted = false;

  /** A text that isn't YAML, such as an email, has no secret lines. */
  constructor({ file, inProject }: FileName, text: string, isYaml = true) {
    this.path = file;
    this.#inProject = inProject;
    this.text = text;
    if (!isYaml) this.#secret = new Set();
  }

  /** Hides the lines of a part of the text. */
  hide(range: Span): void {
    // A reference to a variable isn't a secret.
    if (range.end <= range.start || isReference(this.text.slice(range.start, range.end))) return;
    const last = this.#lineOf(range.end - 1);
    for (let line = this.#lineOf(range.start); line <= last; line += 1) this.#hidden.add(line);
  }

  /** Hides all lines that may be secret, since the text is invalid YAML. */
  distrust(): void {
    if (this.#isDistrusted) return;
    this.#isDistrusted = true;
    this.#secret = undefined;
  }

  /** Whether the first line of a part of the text is hidden. */
  hides(range: Span): boolean {
    return this.#isHidden(this.#lineOf(range.start));
  }

  #isHidden(line: number): boolean {
    this.#secret ??= secretLines(this.text, this.#isDistrusted);
    return this.#hidden.has(line) || this.#secret.has(line);
  }

  /** The place of a part of the text, with the part of its first line to underline. */
  place(range: Span): Place {
    const lines = this.#lineStarts();
    const start = Math.min(range.start, this.text.length);
    const low = this.#lineOf(start);
    const lineStart = lines[low] ?? 0;
    let lineEnd = (lines[low + 1] ?? this.text.length + 1) - 1;
    if (this.text[lineEnd - 1] === '\r' && lineEnd > lineStart) lineEnd -= 1;
    const at = { ...this.lineAt(start), column: start - lineStart + 1 };
    if (this.#isHidden(low)) return { ...at, length: 1 };
    const isShown = lineEnd - lineStart <= MAX_LINE;
    return {
      ...at,
      length: Math.max(1, Math.min(range.end, lineEnd) - start),
      ...(isShown ? { text: this.text.slice(lineStart, lineEnd) } : {}),
    };
  }

  /** The line of an offset, without its text. */
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

  #lineStarts(): readonly number[] {
    if (this.#lines !== undefined) return this.#lines;
    const lines = [0];
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1))
      lines.push(at + 1);
    this.#lines = lines;
    return lines;
  }
}

/** Why a file can't be read. */
export interface Unreadable {
  readonly reason: 'missing' | 'unreadable' | 'too-large' | 'not-utf8';
  readonly detail: string;
}

/** Reads the bytes of a regular file of at most `MAX_BYTES`. */
export function readBytes(path: string): Uint8Array | Unreadable {
  try {
    return withFile(path, (file, { size }) => {
      const tooLarge = { reason: 'too-large', detail: 'is larger than 16 MiB' } as const;
      if (size > MAX_BYTES) return tooLarge;
      // It may have grown.
      const bytes = readFileSync(file);
      return bytes.length > MAX_BYTES ? tooLarge : bytes;
    });
  } catch (failure) {
    if (failure instanceof NotRegularFile) return { reason: 'unreadable', detail: failure.what };
    return unreadable(failure);
  }
}

/** Decodes UTF-8; a byte order mark stays, and invalid bytes are refused. */
export function decode(bytes: Uint8Array): string | Unreadable {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { reason: 'not-utf8', detail: 'is not valid UTF-8' };
  }
}

export function unreadable(failure: unknown): Unreadable {
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return { reason: 'missing', detail: 'does not exist' };
  return { reason: 'unreadable', detail: `can't be read: ${systemErrorText(failure)}` };
}

/** A SourceFile without a byte order mark. */
export function sourceOf(name: FileName, text: string, isYaml = true): SourceFile {
  return new SourceFile(name, text.startsWith('\uFEFF') ? text.slice(1) : text, isYaml);
}

/** Reads a YAML file; returns a problem if that fails. */
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
