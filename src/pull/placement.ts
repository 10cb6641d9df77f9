import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathExists } from '../base/paths.js';
import { error, ProblemsError } from '../base/problems.js';
import { groupBy, same } from '../base/values.js';
import type { Kind } from '../kinds/kind.js';
import { matchGlobs, placesForNewManifests } from '../manifests/find-manifests.js';
import type { LoadedManifests, ManifestSource } from '../manifests/load.js';
import type { Project } from '../project/index.js';
import { shownPath } from '../yaml/source-file.js';
import type { BodyFiles } from './bodies.js';
import type { PullWishes } from './discover.js';
import { isManifestSize, writtenDocuments } from './edit.js';
import type { FreshDocument } from './fresh.js';
import { kindFile, layOut, manifestHead, newManifests } from './layout.js';
import type { PulledFile } from './write.js';

const BOM = '\ufeff';

/** All manifests after the edits, with new documents in the file of their kind. */
export async function placeDocuments(
  documents: readonly FreshDocument[],
  edited: ReadonlyMap<ManifestSource, string>,
  project: Project,
  { sources }: LoadedManifests,
  { holds }: Pick<PullWishes, 'holds'>,
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
  const bodyAt = (path: string, text: string) => bodies.place(posix.join(folder, path), text);
  const laidOut = documents.map((document) => {
    const path = manifests.get(document.kind) ?? '';
    return { path, text: layOut(document, path, holds, bodyAt) };
  });
  const byFile = groupBy(laidOut, ({ path }) => path);
  const present = sources.map((source): PulledFile => {
    const bom = startsWithBom(source.target) ? BOM : '';
    const text = edited.get(source) ?? source.text;
    const mine = inRoot(source.path);
    const own = (byFile.get(mine) ?? []).map((one) => one.text);
    const appended = isLink(source) ? undefined : appendDocuments(text, own);
    const added = appended !== undefined && isManifestSize(bom + appended) ? appended : undefined;
    if (added !== undefined) byFile.delete(mine);
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
  const made = newManifests(byFile, (path) => pathExists(join(root, path)));
  if (!areMatched(made, project)) throw noPlacement(project);
  return [
    ...present,
    ...made.map(({ path, text }): PulledFile => {
      return { path: join(root, path), action: 'write', text: head(path) + text, before: undefined };
    }),
  ];
}

/** Whether a manifest has a byte order mark; false if it was removed meanwhile, which `writeFiles` reports. */
function startsWithBom(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').startsWith(BOM);
  } catch {
    return false;
  }
}

/** A text with further documents at its end; undefined if that would change its own. */
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

/**
 * The file for new documents of each kind: the one with most documents of the kind, or a new one that a glob of the configuration
 * matches; and the folder for the bodies' folder. Both from the project's root, with `/`. Throws a ProblemsError (`no-home`) if no glob does.
 */
function findPlacement(
  kinds: readonly Kind[],
  project: Project,
  existing: readonly { readonly path: string; readonly kinds: readonly string[] }[],
): { readonly folder: string; readonly manifests: ReadonlyMap<Kind, string> } {
  if (kinds.length === 0) return { folder: '.', manifests: new Map() };
  for (const home of placesForNewManifests(project)) {
    const folder = 'file' in home ? posix.dirname(home.file) : home.folder;
    const pathOf = (kind: Kind): string => {
      if ('file' in home) return home.file;
      const usual = posix.join(folder, kindFile(kind).replace(/\.yaml$/, home.ending));
      const there = existing
        .map(({ path, kinds: own }) => ({ path, count: own.filter((name) => name === kind.name).length }))
        .filter(({ count }) => count > 0)
        .sort((a, b) => b.count - a.count || Number(b.path === usual) - Number(a.path === usual));
      return there[0]?.path ?? usual;
    };
    const manifests = new Map(kinds.map((kind) => [kind, pathOf(kind)]));
    const files = [...new Set(manifests.values())].map((path) => ({ path }));
    if (areMatched(files, project)) return { folder, manifests };
  }
  throw noPlacement(project);
}

/** Whether globs of the configuration match all of some files. */
function areMatched(files: readonly { readonly path: string }[], project: Project): boolean {
  const paths = files.map(({ path }) => path);
  const matched = matchGlobs(project, paths);
  return paths.every((path) => matched.has(path));
}

function noPlacement(project: Project): ProblemsError {
  const message = 'no glob under "manifests" of the configuration matches a file for new documents';
  const places = project.patterns().flatMap(({ place }) => place ?? []);
  const hint = 'add one such as manifests/**/*.yaml, or write a fresh set of files with --out DIR';
  return new ProblemsError([error('no-home', message, places, hint)]);
}
