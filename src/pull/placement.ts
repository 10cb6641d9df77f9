import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathExists } from '../base/paths.js';
import { error, ProblemsError } from '../base/problems.js';
import { groupBy, same } from '../base/values.js';
import type { Kind } from '../kinds/kind.js';
import { matchManifests, placesForNewManifests } from '../manifests/find-manifests.js';
import type { LoadedManifests, ManifestSource } from '../manifests/load.js';
import type { Project } from '../project/index.js';
import { shownPath } from '../yaml/source-file.js';
import type { BodyFiles } from './bodies.js';
import type { PullOptions } from './discover.js';
import { isManifestSize, writtenDocuments } from './edit.js';
import { layOutDocument, manifestFileName, manifestHead, newManifests } from './layout.js';
import type { NewDocument } from './new-documents.js';
import type { PulledFile } from './write.js';

const BOM = '\ufeff';

/** The manifests after the edits, with new documents in the manifest of their kind. Throws a ProblemsError (`no-home`) if no glob matches it. */
export async function placeDocuments(
  documents: readonly NewDocument[],
  edited: ReadonlyMap<ManifestSource, string>,
  project: Project,
  { sources }: LoadedManifests,
  { hasCredential }: Pick<PullOptions, 'hasCredential'>,
  bodies: BodyFiles,
): Promise<PulledFile[]> {
  const { root } = project;
  const inRoot = (path: string): string => shownPath(path, root);
  const isLink = ({ path, target }: ManifestSource): boolean => path !== target;
  const existing = sources.flatMap((source) => {
    const names = source.documents.flatMap(({ declared }) => declared?.kind ?? []);
    return isLink(source) ? [] : [{ path: inRoot(source.path), kinds: names }];
  });
  const kinds = [...new Set(documents.map(({ kind }) => kind))];
  const { folder, manifests } = findPlacement(kinds, project, existing);
  const addBody = (path: string, text: string) => bodies.addNew(posix.join(folder, path), text);
  const laidOut = documents.map((document) => {
    const path = manifests.get(document.kind) ?? '';
    return { path, text: layOutDocument(document, path, hasCredential, addBody) };
  });
  const byFile = groupBy(laidOut, ({ path }) => path);
  const present = sources.map((source): PulledFile => {
    const bom = startsWithBom(source.target) ? BOM : '';
    const text = edited.get(source) ?? source.text;
    const relativePath = inRoot(source.path);
    const newTexts = (byFile.get(relativePath) ?? []).map((one) => one.text);
    const appended = isLink(source) ? undefined : appendDocuments(text, newTexts);
    const added = appended !== undefined && isManifestSize(bom + appended) ? appended : undefined;
    if (added !== undefined) byFile.delete(relativePath);
    const next = bom + (added ?? text);
    const before = bom + source.text;
    return {
      path: source.path,
      action: next === before ? 'unchanged' : 'update',
      text: next,
      before,
      keepsText: text === source.text,
    };
  });
  const head = manifestHead(root);
  const newFiles = newManifests(byFile, (path) => pathExists(join(root, path)));
  if (!allMatchGlobs(newFiles, project)) throw noPlacement(project);
  return [
    ...present,
    ...newFiles.map(({ path, text }): PulledFile => {
      return { path: join(root, path), action: 'write', text: head(path) + text, before: undefined };
    }),
  ];
}

/** Whether a manifest has a byte order mark; false if the file is gone, which `writeFiles` reports. */
function startsWithBom(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').startsWith(BOM);
  } catch {
    return false;
  }
}

/** A text with documents added at its end; undefined if that would change the documents that it has. */
export function appendDocuments(text: string, documents: readonly string[]): string | undefined {
  if (documents.length === 0) return text;
  const before = writtenDocuments(text);
  if (before === undefined) return undefined;
  const eol = /\r\n[^\n]*$/.test(text) ? '\r\n' : '\n';
  const withFinalNewline = text === '' || text.endsWith('\n') ? text : `${text}${eol}`;
  const isOpen = before.length === 0 && !/^(?:---|\.\.\.)/m.test(text);
  const added = `${isOpen ? '' : '---\n'}${documents.join('---\n')}`;
  const newText = withFinalNewline + added.replaceAll('\n', eol);
  const after = writtenDocuments(newText);
  const expected = documents.map((one) => writtenDocuments(one)?.[0] ?? null);
  return after !== undefined && same(after, [...before, ...expected]) ? newText : undefined;
}

/**
 * The manifest for new documents of each kind: the one with most documents of the kind, or a new one that a glob of the
 * configuration matches; and the folder for body files. Paths are relative to the project's root, with `/`. Throws a
 * ProblemsError (`no-home`) if no glob matches.
 */
function findPlacement(
  kinds: readonly Kind[],
  project: Project,
  existing: readonly { readonly path: string; readonly kinds: readonly string[] }[],
): { readonly folder: string; readonly manifests: ReadonlyMap<Kind, string> } {
  if (kinds.length === 0) return { folder: '.', manifests: new Map() };
  for (const place of placesForNewManifests(project)) {
    const folder = 'file' in place ? posix.dirname(place.file) : place.folder;
    const pathOf = (kind: Kind): string => {
      if ('file' in place) return place.file;
      const defaultPath = posix.join(folder, manifestFileName(kind).replace(/\.yaml$/, place.ending));
      const candidates = existing
        .map(({ path, kinds: own }) => ({ path, count: own.filter((name) => name === kind.name).length }))
        .filter(({ count }) => count > 0)
        .sort((a, b) => b.count - a.count || Number(b.path === defaultPath) - Number(a.path === defaultPath));
      return candidates[0]?.path ?? defaultPath;
    };
    const manifests = new Map(kinds.map((kind) => [kind, pathOf(kind)]));
    const files = [...new Set(manifests.values())].map((path) => ({ path }));
    if (allMatchGlobs(files, project)) return { folder, manifests };
  }
  throw noPlacement(project);
}

/** Whether the globs of the configuration match all of these files. */
function allMatchGlobs(files: readonly { readonly path: string }[], project: Project): boolean {
  const paths = files.map(({ path }) => path);
  const matched = matchManifests(project, paths);
  return paths.every((path) => matched.has(path));
}

function noPlacement(project: Project): ProblemsError {
  const message = 'no glob under "manifests" of the configuration matches a file for new documents';
  const places = project.patterns().flatMap(({ place }) => place ?? []);
  const hint = 'add a glob such as manifests/**/*.yaml, or write new files with --out DIR';
  return new ProblemsError([error('no-home', message, places, hint)]);
}
