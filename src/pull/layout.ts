import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { escapeText } from '../base/escape.js';
import { groupBy, type Json } from '../base/values.js';
import type { Kind } from '../kinds/kind.js';
import { isWrittenByIdops } from '../manifests/access.js';
import { MAX_BYTES } from '../yaml/source-file.js';
import { type FreshDocument, membersOf } from './fresh.js';
import { hasCredential } from './literal.js';
import { documentText } from './yaml.js';

export interface NewFile {
  /** From the folder of all files, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** The size of a new manifest, well below the limit, so that it can grow. */
const MAX_NEW_BYTES = 8_000_000;

/** New files for documents: manifests by kind, and body files. */
export function filesOf(documents: readonly FreshDocument[], holds: (text: string) => boolean): NewFile[] {
  const bodies: NewFile[] = [];
  const bodyAt = (path: string, text: string): string => {
    bodies.push({ path, text });
    return path;
  };
  const laidOut = documents.map((document) => {
    const path = kindFile(document.kind);
    return { path, text: layOut(document, path, holds, bodyAt) };
  });
  const byFile = groupBy(laidOut, ({ path }) => path);
  return [...newManifests(byFile, () => false), ...bodies];
}

export function kindFile({ noun }: Kind): string {
  return `${noun.replaceAll(' ', '-')}s.yaml`;
}

/** New manifests, split into several files if they are too large. */
export function newManifests(
  byFile: ReadonlyMap<string, readonly NewFile[]>,
  isTaken: (path: string) => boolean,
): NewFile[] {
  const names = new Set<string>();
  return [...byFile].flatMap(([path, own]) =>
    chunks(own.map(({ text }) => text)).map((chunk) => {
      const free = firstFree(path, (one) => names.has(one) || isTaken(one));
      names.add(free);
      return { path: free, text: chunk.join('---\n') };
    }),
  );
}

/** A path, with a number if it is taken. */
export function firstFree(path: string, isTaken: (path: string) => boolean): string {
  const ending = posix.extname(path);
  const start = path.slice(0, path.length - ending.length);
  for (let number = 1; ; number += 1) {
    const one = number === 1 ? path : `${start}-${number}${ending}`;
    if (!isTaken(one)) return one;
  }
}

function chunks(texts: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  let length = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    if (length + size > MAX_NEW_BYTES) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(text);
    length += size;
  }
  return parts.filter((part) => part.length > 0);
}

/** The text of a document; `bodyAt` takes the body files that it names, and returns their paths. */
export function layOut(
  document: FreshDocument,
  manifest: string,
  holds: (text: string) => boolean,
  bodyAt: (path: string, text: string) => string,
): string {
  const { kind, identity, displayName } = document;
  const { files: own } = kind.discovery ?? {};
  const members = membersOf(document, ({ raw, value, isBody }, field): Json => {
    if (!isBody || own === undefined || typeof value !== 'string' || !isFileText(value)) return raw;
    const name = Object.values(identity).map(safeName).join('/');
    const path = bodyAt(`${own.folder}/${name}.${own.extensions[field]}`, value);
    return { file: posix.relative(posix.dirname(manifest), path) };
  });
  const isShown =
    displayName !== null &&
    !hasCredential(displayName, { holds }) &&
    !Object.values(members).includes(displayName);
  return documentText(members, isShown ? comment(displayName) : null);
}

/** Whether a body file can hold a text unchanged. */
export function isFileText(text: string): boolean {
  return text.isWellFormed() && !isWrittenByIdops(text) && Buffer.byteLength(text) <= MAX_BYTES;
}

function comment(called: string): string {
  const line = escapeText([...called].slice(0, 100).join(''));
  return line.trim() === '' ? JSON.stringify(line) : line;
}

/** Where `idops init` writes the schema of manifests, from the project's root. */
export const MANIFEST_SCHEMA = 'schemas/idops-manifest.schema.json';

/** The comment that tells an editor the schema of a file; both paths are from the project's root. */
export function schemaLine(path: string, schema: string): string {
  return `# yaml-language-server: $schema=${posix.relative(posix.dirname(path), schema)}\n`;
}

/** The first line of a new manifest: its schema, if the project has that. */
export function manifestHead(root: string): (path: string) => string {
  const isThere = statSync(join(root, MANIFEST_SCHEMA), { throwIfNoEntry: false })?.isFile() === true;
  return (path) => (isThere ? schemaLine(path, MANIFEST_SCHEMA) : '');
}

/** Names that every file system keeps as they are; they have no `~`, unlike those that `safeName` makes. */
const plainName = /^[a-z0-9](?:[a-z0-9_.-]{0,78}[a-z0-9_-])?$/;
/** Device names of Windows, with any extension. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** A file name for an id, which may be any text: distinct from all others on every file system, without a path. */
export function safeName(id: string): string {
  if (plainName.test(id) && !device.test(id)) return id;
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(id, 'utf16le').digest('hex').slice(0, 16);
  return `${readable}~${hash}`;
}
