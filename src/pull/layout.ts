import { posix } from 'node:path';
import { escapeText } from '../base/escape.js';
import type { Json } from '../base/values.js';
import type { Kind } from '../kinds/kind.js';
import { isWritten } from '../manifests/access.js';
import { MAX_BYTES } from '../yaml/file.js';
import { type FreshDocument, membersOf } from './fresh.js';
import { isKnownOrSaid } from './literal.js';
import { safeName } from './names.js';
import { documentText } from './yaml.js';

/** A file to be written. */
export interface NewFile {
  /** From the folder that all of them are for, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** How much goes into a new manifest together: below what one may have, so that there is room to edit it. */
const ENOUGH_BYTES = 8_000_000;

const COMMENT = 100;

/** The files of documents that none of them has yet: manifests, one for each kind, and the bodies that they name. */
export function filesOf(documents: readonly FreshDocument[], holds: (text: string) => boolean): NewFile[] {
  const bodies: NewFile[] = [];
  const byFile = new Map<string, string[]>();
  for (const document of documents) {
    const path = kindFile(document.kind);
    const { text, files } = placed(document, path, holds);
    bodies.push(...files);
    byFile.set(path, [...(byFile.get(path) ?? []), text]);
  }
  return [...newManifests(byFile, () => false), ...bodies];
}

/** What the file of a kind is called. */
export function kindFile({ noun }: Kind): string {
  return `${noun.replaceAll(' ', '-')}s.yaml`;
}

/** New manifests with the documents of each, in as many files as it takes. */
export function newManifests(
  byFile: ReadonlyMap<string, readonly string[]>,
  isTaken: (path: string) => boolean,
): NewFile[] {
  const names = new Set<string>();
  return [...byFile].flatMap(([path, texts]) =>
    chunks(texts).map((chunk) => {
      const free = firstFree(path, (one) => names.has(one) || isTaken(one));
      names.add(free);
      return { path: free, text: chunk.join('---\n') };
    }),
  );
}

/** A path, or the next one of its kind if that is taken. */
export function firstFree(path: string, isTaken: (path: string) => boolean): string {
  const ending = posix.extname(path);
  const start = path.slice(0, path.length - ending.length);
  for (let number = 1; ; number += 1) {
    const one = number === 1 ? path : `${start}-${number}${ending}`;
    if (!isTaken(one)) return one;
  }
}

/** Documents in as many parts as files have to have. */
function chunks(texts: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  let length = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    if (length + size > ENOUGH_BYTES) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(text);
    length += size;
  }
  return parts.filter((part) => part.length > 0);
}

/** A document as it stands in its manifest, and the bodies that it names. */
export function placed(
  document: FreshDocument,
  manifest: string,
  holds: (text: string) => boolean,
  bodyAt: (path: string, text: string) => string = (path) => path,
): { readonly text: string; readonly files: readonly NewFile[] } {
  const { kind, identity, called } = document;
  const files: NewFile[] = [];
  const { files: own } = kind.discovery ?? {};
  const members = membersOf(document, ({ raw, value, isBody }, field): Json => {
    if (!isBody || own === undefined || typeof value !== 'string' || !fitsFile(value)) return raw;
    const name = Object.values(identity).map(safeName).join('/');
    const path = bodyAt(`${own.folder}/${name}.${own.endings[field]}`, value);
    files.push({ path, text: value });
    return { file: posix.relative(posix.dirname(manifest), path) };
  });
  const shown =
    called === null || isKnownOrSaid(called, { holds }) || isSaid(called, members) ? null : comment(called);
  return { text: documentText(members, shown), files };
}

/** Whether a text comes back out of a file as it was. */
export function fitsFile(text: string): boolean {
  return text.isWellFormed() && !isWritten(text) && Buffer.byteLength(text) <= MAX_BYTES;
}

function isSaid(called: string, members: { readonly [key: string]: Json }): boolean {
  return Object.values(members).includes(called);
}

function comment(called: string): string {
  const line = escapeText([...called].slice(0, COMMENT).join(''));
  return line.trim() === '' ? JSON.stringify(line) : line;
}
