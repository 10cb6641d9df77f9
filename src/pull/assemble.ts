import { readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { same } from '../base/values.js';
import type { LoadedManifests } from '../manifests/index.js';
import type { ManifestSource } from '../manifests/load.js';
import { namedByGlobs } from '../manifests/named.js';
import type { Project } from '../project/index.js';
import type { BodyFiles } from './bodies.js';
import { writtenDocuments } from './edit.js';
import type { FreshDocument } from './fresh.js';
import type { PullWishes } from './fresh-files.js';
import { firstFree, homesFor, noHome } from './homes.js';
import { ENOUGH_BYTES, fitsManifest, placed } from './layout.js';
import { isThere, type PulledFile } from './pulled-file.js';
import { manifestHead } from './schema-line.js';

const BOM = '\ufeff';

/** The manifests as they are to be, with the documents about new objects in the files of their kinds. */
export async function withNew(
  documents: readonly FreshDocument[],
  edited: ReadonlyMap<ManifestSource, string>,
  project: Project,
  { sources }: LoadedManifests,
  { layout, holds }: PullWishes,
  bodies: BodyFiles,
): Promise<PulledFile[]> {
  const { root } = project;
  const inRoot = (path: string): string => relative(root, path).split(sep).join('/');
  const writable = sources.filter(({ path, target }) => path === target);
  const files = writable.map((source) => ({
    path: inRoot(source.path),
    kinds: source.documents.flatMap(({ declared }) => declared?.kind ?? []),
  }));
  const isTaken = (path: string): boolean =>
    isThere(join(root, path)) && !files.some((file) => file.path === path);
  const homes =
    documents.length === 0
      ? { folder: '.', manifests: new Map<FreshDocument, string>() }
      : await homesFor(documents, layout, project, { files, isTaken });
  const byFile = new Map<string, string[]>();
  for (const document of documents) {
    const manifest = homes.manifests.get(document) ?? '';
    const { text } = placed(document, manifest, holds, (path, body) =>
      bodies.place(posix.join(homes.folder, path), body),
    );
    const texts = byFile.get(manifest) ?? [];
    texts.push(text);
    byFile.set(manifest, texts);
  }
  const present = sources.map((source): PulledFile => {
    const bom = startsWithBom(source.target) ? BOM : '';
    const text = edited.get(source) ?? source.text;
    const mine = inRoot(source.path);
    const appended = appendDocuments(text, byFile.get(mine) ?? []);
    const added = appended !== undefined && fitsManifest(bom + appended) ? appended : undefined;
    if (added !== undefined) byFile.delete(mine);
    const next = bom + (added ?? text);
    const before = bom + source.text;
    return { path: source.path, action: next === before ? 'unchanged' : 'update', text: next, before };
  });
  const names = new Set<string>();
  const head = manifestHead(root);
  const made = [...byFile].flatMap(([path, texts]) =>
    chunks(texts).map((chunk): PulledFile => {
      const free = firstFree(path, (one) => names.has(one) || isThere(join(root, one)));
      names.add(free);
      const text = head(free) + chunk.join('---\n');
      return { path: join(root, free), action: 'write', text, before: undefined };
    }),
  );
  const named = await namedByGlobs(project, [...names]);
  if (![...names].every((name) => named.has(name))) throw noHome(project);
  return [...present, ...made];
}

/** Whether a manifest has the mark that its text was read without; one that was removed since is told before writing. */
function startsWithBom(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').startsWith(BOM);
  } catch {
    return false;
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

/** A text with documents behind those that it has; undefined where its own would say something else then. */
export function appendDocuments(text: string, documents: readonly string[]): string | undefined {
  if (documents.length === 0) return text;
  const before = writtenDocuments(text);
  if (before === undefined) return undefined;
  const eol = /\r\n[^\n]*$/.test(text) ? '\r\n' : '\n';
  const ended = text === '' || text.endsWith('\n') ? text : `${text}${eol}`;
  const isOpen = before.length === 0 && !/^(?:---|\.\.\.)/m.test(text);
  const added = `${isOpen ? '' : '---\n'}${documents.join('---\n')}`;
  const made = ended + added.replaceAll('\n', eol);
  const after = writtenDocuments(made);
  const wanted = documents.map((one) => writtenDocuments(one)?.[0] ?? null);
  return after !== undefined && same(after, [...before, ...wanted]) ? made : undefined;
}
