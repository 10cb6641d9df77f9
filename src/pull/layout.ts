import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { escapeText } from '../base/escape.js';
import { groupBy, type Json } from '../base/values.js';
import type { Kind } from '../kinds/kind.js';
import { isWrittenByIdops } from '../manifests/access.js';
import { MAX_BYTES } from '../yaml/source-file.js';
import { membersOf, type NewDocument, type NewDocumentOptions } from './new-documents.js';
import { documentText } from './yaml.js';

export interface NewFile {
  /** Relative to the folder of all files, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Bytes of a new manifest, well below the limit, so that it can grow. */
const MAX_NEW_BYTES = 8_000_000;

/** The new files for documents: a manifest for each kind, and body files. */
export function layOutFiles(
  documents: readonly NewDocument[],
  hasCredential: NewDocumentOptions['hasCredential'],
): NewFile[] {
  const bodies: NewFile[] = [];
  const addBody = (path: string, text: string): string => {
    bodies.push({ path, text });
    return path;
  };
  const laidOut = documents.map((document) => {
    const path = manifestFileName(document.kind);
    return { path, text: layOutDocument(document, path, hasCredential, addBody) };
  });
  const byFile = groupBy(laidOut, ({ path }) => path);
  return [...newManifests(byFile, () => false), ...bodies];
}

export function manifestFileName({ noun }: Kind): string {
  return `${noun.replaceAll(' ', '-')}s.yaml`;
}

/** New manifests; a manifest that is too large is split into several files. */
export function newManifests(
  byFile: ReadonlyMap<string, readonly NewFile[]>,
  isTaken: (path: string) => boolean,
): NewFile[] {
  const names = new Set<string>();
  return [...byFile].flatMap(([path, own]) =>
    splitBySize(own.map(({ text }) => text)).map((chunk) => {
      const free = firstFreePath(path, (one) => names.has(one) || isTaken(one));
      names.add(free);
      return { path: free, text: chunk.join('---\n') };
    }),
  );
}

/** A path, with a number in it if it is taken. */
export function firstFreePath(path: string, isTaken: (path: string) => boolean): string {
  const ending = posix.extname(path);
  const start = path.slice(0, path.length - ending.length);
  for (let number = 1; ; number += 1) {
    const one = number === 1 ? path : `${start}-${number}${ending}`;
    if (!isTaken(one)) return one;
  }
}

function splitBySize(texts: readonly string[]): string[][] {
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

/** The text of a document; `addBody` is called with each body file, and returns the path that the document names. */
export function layOutDocument(
  document: NewDocument,
  manifest: string,
  hasCredential: NewDocumentOptions['hasCredential'],
  addBody: (path: string, text: string) => string,
): string {
  const { kind, identity, displayName } = document;
  const { files: own } = kind.discovery ?? {};
  const members = membersOf(document, ({ raw, value, isBody }, field): Json => {
    if (!isBody || own === undefined || typeof value !== 'string' || !isFileText(value)) return raw;
    const name = Object.values(identity).map(safeFileName).join('/');
    const path = addBody(`${own.folder}/${name}.${own.extensions[field]}`, value);
    return { file: posix.relative(posix.dirname(manifest), path) };
  });
  const isShown =
    displayName !== null && !hasCredential(displayName) && !Object.values(members).includes(displayName);
  return documentText(members, isShown ? comment(displayName) : null);
}

/** Whether a body file can hold a text unchanged. */
export function isFileText(text: string): boolean {
  return text.isWellFormed() && !isWrittenByIdops(text) && Buffer.byteLength(text) <= MAX_BYTES;
}

function comment(displayName: string): string {
  const line = escapeText([...displayName].slice(0, 100).join(''));
  return line.trim() === '' ? JSON.stringify(line) : line;
}

/** The path of the manifest schema that `idops init` writes, relative to the project's root. */
export const MANIFEST_SCHEMA = 'schemas/idops-manifest.schema.json';

/** The comment by which editors find the schema of a file; both paths are relative to the project's root. */
export function schemaLine(path: string, schema: string): string {
  return `# yaml-language-server: $schema=${posix.relative(posix.dirname(path), schema)}\n`;
}

/** Returns the first line of a new manifest: its schema, if the project has one. */
export function manifestHead(root: string): (path: string) => string {
  const isThere = statSync(join(root, MANIFEST_SCHEMA), { throwIfNoEntry: false })?.isFile() === true;
  return (path) => (isThere ? schemaLine(path, MANIFEST_SCHEMA) : '');
}

/** Names that every file system keeps unchanged; without `~`, which `safeFileName` puts into all others. */
const plainName = /^[a-z0-9](?:[a-z0-9_.-]{0,78}[a-z0-9_-])?$/;
/** Device names of Windows, with any extension. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** A file name for any id: without a path, and different from the names of all other ids on every file system. */
export function safeFileName(id: string): string {
  if (plainName.test(id) && !device.test(id)) return id;
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(id, 'utf16le').digest('hex').slice(0, 16);
  return `${readable}~${hash}`;
}
