import { readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { same } from '../base/values.js';
import { isThere } from '../base/work-tree.js';
import type { LoadedManifests } from '../manifests/index.js';
import type { ManifestSource } from '../manifests/load.js';
import { namedByGlobs } from '../manifests/named.js';
import type { Project } from '../project/index.js';
import type { BodyFiles } from './bodies.js';
import { fitsManifest, writtenDocuments } from './edit.js';
import type { FreshDocument } from './fresh.js';
import type { PullWishes } from './fresh-files.js';
import { homesFor, noHome } from './homes.js';
import { newManifests, placed } from './layout.js';
import type { PulledFile } from './pulled-file.js';
import { manifestHead } from './schema-line.js';

const BOM = '\ufeff';

/** The manifests as they are to be, with the documents about new objects in the files of their kinds. */
export async function withNew(
  documents: readonly FreshDocument[],
  edited: ReadonlyMap<ManifestSource, string>,
  project: Project,
  { sources }: LoadedManifests,
  { holds }: PullWishes,
  bodies: BodyFiles,
): Promise<PulledFile[]> {
  const { root } = project;
  const inRoot = (path: string): string => relative(root, path).split(sep).join('/');
  const isLink = ({ path, target }: ManifestSource): boolean => path !== target;
  const inhabited = sources
    .filter((source) => !isLink(source))
    .map(({ path, documents: own }) => ({
      path: inRoot(path),
      kinds: own.flatMap(({ declared }) => declared?.kind ?? []),
    }));
  const kinds = [...new Set(documents.map(({ kind }) => kind))];
  const { folder, manifests } =
    kinds.length === 0 ? { folder: '.', manifests: undefined } : homesFor(kinds, project, inhabited);
  const byFile = new Map<string, string[]>();
  for (const document of documents) {
    const manifest = manifests?.get(document.kind) ?? '';
    const { text } = placed(document, manifest, holds, (path, body) =>
      bodies.place(posix.join(folder, path), body),
    );
    byFile.set(manifest, [...(byFile.get(manifest) ?? []), text]);
  }
  const present = sources.map((source): PulledFile => {
    const bom = startsWithBom(source.target) ? BOM : '';
    const text = edited.get(source) ?? source.text;
    const mine = inRoot(source.path);
    const appended = isLink(source) ? undefined : appendDocuments(text, byFile.get(mine) ?? []);
    const added = appended !== undefined && fitsManifest(bom + appended) ? appended : undefined;
    if (added !== undefined) byFile.delete(mine);
    const next = bom + (added ?? text);
    const before = bom + source.text;
    return { path: source.path, action: next === before ? 'unchanged' : 'update', text: next, before };
  });
  const head = manifestHead(root);
  const made = newManifests(byFile, (path) => isThere(join(root, path)));
  const named = namedByGlobs(
    project,
    made.map(({ path }) => path),
  );
  if (!made.every(({ path }) => named.has(path))) throw noHome(project);
  return [
    ...present,
    ...made.map(
      ({ path, text }): PulledFile => ({
        path: join(root, path),
        action: 'write',
        text: head(path) + text,
        before: undefined,
      }),
    ),
  ];
}

/** Whether a manifest has the mark that its text was read without; one that was removed since is told before writing. */
function startsWithBom(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').startsWith(BOM);
  } catch {
    return false;
  }
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
