import { posix } from 'node:path';
import { escapeText } from '../base/escape.js';
import type { Json } from '../base/values.js';
import type { Kind } from '../kinds/kind.js';
import { isWritten } from '../manifests/access.js';
import { MAX_BYTES } from '../source/file.js';
import { type FreshDocument, membersWith } from './fresh.js';
import { escapeVariables, isKnownOrSaid } from './literal.js';
import { safeName } from './names.js';
import { documentText } from './yaml.js';

/** How documents are spread over files. */
export const layouts = ['file-per-kind', 'file-per-object'] as const;

export type Layout = (typeof layouts)[number];

/** A file to be written. */
export interface NewFile {
  /** From the folder that all of them are for, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** How much goes into a new manifest together: below what one may have, so that there is room to edit it. */
export const ENOUGH_BYTES = 8_000_000;

export const tooLarge = 'would be larger than 16 MiB, which no manifest may be';

export function fitsManifest(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BYTES;
}

const COMMENT = 100;

/** The files of documents that none of them has yet: manifests, and the bodies that they name. */
export function filesOf(
  documents: readonly FreshDocument[],
  layout: Layout,
  holds: (text: string) => boolean,
): NewFile[] {
  const taken = new Set<string>();
  const bodies: NewFile[] = [];
  const manifests = new Map<string, Growing>();
  for (const document of documents) {
    const place = layout === 'file-per-kind' ? perKind(document, manifests) : perObject(document, taken);
    const { text, files } = placed(document, place, holds);
    bodies.push(...files);
    const file = manifests.get(place) ?? { texts: [], length: 0 };
    file.texts.push(text);
    file.length += Buffer.byteLength(text);
    manifests.set(place, file);
  }
  return [...[...manifests].map(([path, { texts }]) => ({ path, text: texts.join('---\n') })), ...bodies];
}

/** What the files of a kind are called. */
export function kindFile({ noun }: Kind): string {
  return `${noun.replaceAll(' ', '-')}s`;
}

interface Growing {
  readonly texts: string[];
  length: number;
}

/** The one file of a kind, or the next one where the document doesn't fit into that. */
function perKind(document: FreshDocument, manifests: ReadonlyMap<string, Growing>): string {
  const { kind } = document;
  const size = Buffer.byteLength(placed(document, '', () => true).text);
  for (let number = 1; ; number += 1) {
    const path = `${kindFile(kind)}${number === 1 ? '' : `-${number}`}.yaml`;
    const length = manifests.get(path)?.length ?? 0;
    if (length === 0 || length + size <= ENOUGH_BYTES) return path;
  }
}

/** A file of its own, by what people call the object, or by its id where another one is called so. */
export function perObject({ kind, identity, address }: FreshDocument, taken: Set<string>): string {
  const called = address.slice(kind.name.length + 1);
  const parts = Object.values(identity);
  const names = parts.length > 1 ? [parts] : [[called], parts];
  const paths = names.map((steps) => `${kindFile(kind)}/${steps.map(safeName).join('/')}.yaml`);
  const path = paths.find((one) => !taken.has(one)) ?? paths.at(-1) ?? '';
  taken.add(path);
  return path;
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
  const members = membersWith(document, (field, text): Json => {
    if (own === undefined || !fitsFile(text)) return escapeVariables(text);
    const name = Object.values(identity).map(safeName).join('/');
    const path = bodyAt(`${own.folder}/${name}.${own.endings[field]}`, text);
    files.push({ path, text });
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
