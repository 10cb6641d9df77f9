import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { Span } from '../base/problems.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { NotRegularFile, withFile } from '../base/read-file.js';
import { systemErrorText } from '../base/system-errors.js';
import { isReference, MAX_LINE, secretLines } from '../secrets/mask-lines.js';

/** How large a file may be: far above any manifest, far below what exhausts the memory. */
export const MAX_BYTES = 16 * 1024 * 1024;

/** A path as a person would type it in the folder `cwd`. */
export function shownPath(path: string, cwd: string): string {
  return (relative(cwd, path) || '.').split(sep).join('/');
}

/** What a file is called: as a person would type it, and from the root of its project, where that is another path. */
export type FileName = Pick<Place, 'file' | 'inProject'>;

/** What a file of a project is called. */
export function fileName(
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
  /** The lines that are hidden besides, by what was found out about the text; counted from 0. */
  readonly #hidden = new Set<number>();
  #secret: ReadonlySet<number> | undefined;
  #isDistrusted = false;

  /** A text that is no YAML, such as the body of an email, has no keys that look secret. */
  constructor({ file, inProject }: FileName, text: string, isYaml = true) {
    this.path = file;
    this.#inProject = inProject;
    this.text = text;
    if (!isYaml) this.#secret = new Set();
  }

  /** Keeps the lines of a part of the text from being shown. */
  hide(range: Span): void {
    // The name of a variable tells no secret.
    if (range.end <= range.start || isReference(this.text.slice(range.start, range.end))) return;
    const last = this.#lineOf(range.end - 1);
    for (let line = this.#lineOf(range.start); line <= last; line += 1) this.#hidden.add(line);
  }

  /** Hides what may be a secret in a text that is not the YAML that it was meant to be. */
  distrust(): void {
    if (this.#isDistrusted) return;
    this.#isDistrusted = true;
    this.#secret = undefined;
  }

  /** Whether the line that a part of the text begins on is hidden. */
  hides(range: Span): boolean {
    return this.#isHidden(this.#lineOf(range.start));
  }

  #isHidden(line: number): boolean {
    this.#secret ??= secretLines(this.text, this.#isDistrusted);
    return this.#hidden.has(line) || this.#secret.has(line);
  }

  /** The place of a part of the text; only its first line is underlined. */
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

  #lineStarts(): readonly number[] {
    if (this.#lines !== undefined) return this.#lines;
    const lines = [0];
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1))
      lines.push(at + 1);
    this.#lines = lines;
    return lines;
  }
}

/** Why a file could not be read, in words that a person can act on. */
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
      // It may have grown since.
      const bytes = readFileSync(file);
      return bytes.length > MAX_BYTES ? tooLarge : bytes;
    });
  } catch (failure) {
    if (failure instanceof NotRegularFile) return { reason: 'unreadable', detail: failure.what };
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
  return { reason: 'unreadable', detail: `can't be read: ${systemErrorText(failure)}` };
}

/** A text file that was read; a byte order mark says nothing in it. */
export function sourceOf(name: FileName, text: string, isYaml = true): SourceFile {
  return new SourceFile(name, text.startsWith('\uFEFF') ? text.slice(1) : text, isYaml);
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
