import { isAbsolute, posix, resolve } from 'node:path';
import picomatch from 'picomatch';
import { glob, isDynamicPattern } from 'tinyglobby';
import { error, type Problem, type ProblemCode, warning } from '../base/problems.js';
import type { Project } from '../project/project.js';
import { type FileName, fileName, type SourceFile, sourceOf, wholeFile } from '../yaml/source-file.js';
import type { Access } from './access.js';
import { findUnread, splitGlobs, staticFolders, type WalkedGlob } from './find-unread.js';
import { FolderWalk } from './walk.js';

/** A manifest that may be read. */
export interface ManifestFile {
  /** The absolute path that a glob matches. */
  readonly path: string;
  /** The file's real path. */
  readonly target: string;
  readonly name: FileName;
}

/** The manifests of a project. */
export interface FoundManifests {
  readonly files: readonly ManifestFile[];
  /** Sentences about files that look like manifests and aren't read. */
  unread(): Promise<readonly string[]>;
}

/** The manifests that the globs match, sorted and without duplicates; an unreadable folder is an error. */
export async function findManifests(
  project: Project,
  access: Access,
  problems: Problem[],
): Promise<FoundManifests> {
  const patterns = project.patterns();
  const { ignore } = splitGlobs(patterns.map(({ pattern }) => pattern));
  const walk = new FolderWalk(project);
  const found = new Set<string>();
  const empty: Problem[] = [];
  const globs: WalkedGlob[] = [];
  for (const { pattern, place } of patterns) {
    if (pattern.startsWith('!')) continue;
    const places = place === null ? [] : [place];
    if (isAbsolute(pattern) || pattern.split('/').includes('..')) {
      const message = `the glob "${pattern}" leads out of the project`;
      problems.push(
        error('manifest-outside', message, places, 'move the manifests into the folder of the configuration'),
      );
      continue;
    }
    const matches = await glob(pattern, { ...walk.options(), ignore });
    globs.push({ pattern, isNamed: place !== null, isEmpty: matches.length === 0 });
    for (const match of matches) found.add(resolve(project.root, match));
    const hint = 'check the glob; it is relative to the folder of the configuration';
    if (matches.length === 0) empty.push(warning('no-match', `no file matches "${pattern}"`, places, hint));
  }
  const givenByDefault = patterns.every(({ place }) => place === null);
  if (!givenByDefault) problems.push(...empty);
  else if (found.size === 0) problems.push(...empty.slice(0, 1));
  problems.push(...walk.problems());
  const files = await withoutDuplicates(project, access, [...found].sort(), problems);
  const read = new Set(files.map(({ target }) => target));
  return { files, unread: () => findUnread({ project, access, walk, ignore, globs, found, read }) };
}

/** Resolves links, so that each manifest is read once and no private file is read. */
async function withoutDuplicates(
  project: Project,
  access: Access,
  paths: readonly string[],
  problems: Problem[],
): Promise<readonly ManifestFile[]> {
  const checked = await Promise.all(paths.map(async (path) => ({ path, found: await access.find(path) })));
  // If several paths lead to a file, the one without links is used.
  const seen = new Set<string>();
  const direct = new Set(paths);
  return checked.flatMap(({ path, found }) => {
    const name = fileName(path, project);
    if (!('target' in found)) {
      problems.push(unreadableProblem(name, found));
      return [];
    }
    const { target } = found;
    if (seen.has(target) || (path !== target && direct.has(target))) return [];
    seen.add(target);
    return [{ path, target, name }];
  });
}

/** Reads a manifest; returns a problem if that fails. */
export async function readManifest(
  access: Access,
  { path, name }: ManifestFile,
): Promise<SourceFile | Problem> {
  const read = await access.read(path);
  return 'text' in read ? sourceOf(name, read.text) : unreadableProblem(name, read);
}

type UnreadableManifest = Exclude<Awaited<ReturnType<Access['read']>>, { text: string }>;

/** The problem code of each reason, the hint, and a description that replaces its detail. */
const refusals: {
  readonly [reason in UnreadableManifest['reason']]: readonly [
    ProblemCode,
    hint?: string | undefined,
    words?: string,
  ];
} = {
  outside: ['manifest-outside', 'copy the file into the project', 'is a link that leads out of the project'],
  private: [
    'manifest-private',
    'keep manifests and sample data in files of their own, or exclude the file from the globs with "!"',
  ],
  missing: ['file-unreadable', undefined, 'is a broken link'],
  'too-large': ['too-large', 'split it into several files'],
  'not-utf8': ['not-utf8', 'save it as UTF-8'],
  unreadable: ['file-unreadable'],
};

/** The problem of a manifest or sample data that isn't read. */
export function unreadableProblem(name: FileName, { reason, detail }: UnreadableManifest): Problem {
  const [code, hint, words = detail] = refusals[reason];
  const message = `${name.file} ${words}${reason === 'private' ? ', so it is not read' : ''}`;
  return error(code, message, [wholeFile(name)], hint);
}

/** Those of some paths that the project's globs match; paths are relative to its root, with `/`. */
export function matchManifests(project: Project, paths: readonly string[]): ReadonlySet<string> {
  return matchGlobs(
    project.patterns().map(({ pattern }) => pattern),
    paths,
  );
}

/** The same for any globs. */
export function matchGlobs(globs: readonly string[], paths: readonly string[]): ReadonlySet<string> {
  const { named, ignore } = splitGlobs(globs);
  const isNamed = picomatch(named, { ignore });
  return new Set(paths.map((path) => posix.normalize(path)).filter((path) => isNamed(path)));
}

/** A place for new manifests: the folder of a glob, and their extension; or a single file that a glob names. */
export type ManifestPlace = { readonly folder: string; readonly ending: string } | { readonly file: string };

/** The places for new manifests, in the order of the project's globs. */
export function placesForNewManifests(project: Project): ManifestPlace[] {
  return project.patterns().flatMap(({ pattern }): ManifestPlace[] => {
    if (pattern.startsWith('!')) return [];
    if (!isDynamicPattern(pattern)) return [{ file: posix.normalize(pattern) }];
    const folder = posix.normalize(staticFolders(pattern).join('/') || '.');
    return [{ folder, ending: pattern.endsWith('.yml') ? '.yml' : '.yaml' }];
  });
}
