import { stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import pLimit from 'p-limit';
import { glob, isDynamicPattern } from 'tinyglobby';
import { kinds } from '../kinds/index.js';
import type { Project } from '../project/project.js';
import { shownPath } from '../yaml/source-file.js';
import { type Access, maxConcurrentReads } from './access.js';
import { FolderWalk } from './walk.js';

export interface WalkedGlob {
  readonly pattern: string;
  /** Whether it is from the configuration, not a default. */
  readonly isNamed: boolean;
  readonly isEmpty: boolean;
}

export interface GlobResults {
  readonly project: Project;
  readonly access: Access;
  readonly walk: FolderWalk;
  readonly globs: readonly WalkedGlob[];
  /** The excluding globs, without their `!`. */
  readonly ignore: string[];
  /** The absolute paths that the globs match. */
  readonly found: ReadonlySet<string>;
  /** The real paths of the files that were read; they differ in the mount of a ConfigMap. */
  readonly read: ReadonlySet<string>;
}

/** Sentences about files that look like manifests and aren't read, and about globs and folders without manifests. */
export async function findUnread(seen: GlobResults): Promise<readonly string[]> {
  const { project, walk, globs, ignore, found, read } = seen;
  const shown = (path: string): string => shownPath(path, project.cwd);
  const isToolFile = (path: string): boolean => isOfTools(path, project.root);
  const patterns = globs.map(({ pattern }) => withBothExtensions(pattern));
  const globOptions = { ignore, dot: true, caseSensitiveMatch: false };
  const walkWithBrokenLinks = new FolderWalk(project, { includesBrokenLinks: true });
  const names = await glob(patterns, { ...walkWithBrokenLinks.options(), ...globOptions });
  const unread = names
    .map((name) => resolve(project.root, name))
    .filter(
      (path) =>
        !found.has(path) && !read.has(path) && !isToolFile(path) && !walkWithBrokenLinks.dangling.has(path),
    );
  const folders = await glob(patterns, {
    ...new FolderWalk(project).options(),
    ...globOptions,
    onlyDirectories: true,
  });
  const foldersNamedLikeManifests = folders
    .map((name) => resolve(project.root, name))
    .filter((path) => /\.ya?ml$/i.test(path) && !isToolFile(path))
    .filter((path) => ![...found].some((one) => one.startsWith(path + sep)));
  const dangling = [...walkWithBrokenLinks.dangling].filter((path) => !isToolFile(path) && !found.has(path));
  const known = new Set([...unread, ...walkWithBrokenLinks.dangling]);
  const unmatched = await unmatchedManifests(seen, known);
  const named = globs.filter(({ isNamed }) => isNamed);
  const absent = await Promise.all(named.map((one) => missingNote(one, project)));
  const refused = walkWithBrokenLinks
    .problems()
    .flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
  return [
    ...new Set([
      ...[...walk.linked].map((path) => `${shown(path)} is a link to a folder, which is not followed`),
      ...dangling.map((path) => `${shown(path)} is a broken link, perhaps to a folder`).sort(),
      ...absent.flat(),
      ...refused,
      ...unread.map((path) => `${shown(path)} has the name of a manifest, and is not read as one`).sort(),
      ...foldersNamedLikeManifests
        .map((path) => `${shown(path)} is a folder with the name of a manifest, perhaps an empty mount`)
        .sort(),
      ...unmatched.sort(),
    ]),
  ];
}

/** Sentences about manifests in the folders of the globs that no glob of any environment matches. */
async function unmatchedManifests(
  { project, access, globs, ignore, found, read }: GlobResults,
  known: ReadonlySet<string>,
): Promise<string[]> {
  const bases = [...new Set(globs.map(({ pattern }) => staticFolders(pattern).join('/')))];
  const within = async (walk: FolderWalk, some: readonly string[]): Promise<string[]> => {
    if (some.length === 0) return [];
    const below = some.map((base) => `${base}${base === '' ? '' : '/'}**/*.{yaml,yml}`);
    const options = { ...walk.options(), ignore: [...ignore, '**/node_modules/**'] };
    return await glob(below, { ...options, caseSensitiveMatch: false });
  };
  const named = new FolderWalk(project);
  const folders = bases.filter((base) => base !== '');
  // If manifests are next to the configuration, other folders there may be unreadable.
  const inRoot = folders.length < bases.length ? await within(new FolderWalk(project), ['']) : [];
  const names = [...(await within(named, folders)), ...inRoot];
  const refused = named
    .problems()
    .flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
  const paths = names
    .map((name) => resolve(project.root, name))
    .filter((path) => !found.has(path) && !read.has(path) && !known.has(path));
  if (paths.length === 0) return refused;
  const matchedElsewhere = await readElsewhere(project);
  const limit = pLimit(maxConcurrentReads);
  const checked = await Promise.all(
    paths
      .filter((path) => !matchedElsewhere.has(path))
      .map((path) =>
        limit(async (): Promise<string[]> => {
          const content = await access.read(path);
          const shown = shownPath(path, project.cwd);
          if ('text' in content) {
            return kindLine.test(content.text)
              ? [`${shown} looks like a manifest, and no glob names it`]
              : [];
          }
          // A private file can't be a manifest.
          if (content.reason === 'private') return [];
          return [`${shown} has the name of a manifest, and can't be read`];
        }),
      ),
  );
  return [...refused, ...checked.flat()];
}

/** The absolute paths that the globs of all environments match. */
async function readElsewhere(project: Project): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    project.everyGlobs().map(async (globs) => {
      const { named, ignore } = splitGlobs(globs);
      return named.length === 0 ? [] : await glob(named, { ...new FolderWalk(project).options(), ignore });
    }),
  );
  return new Set(found.flat().map((name) => resolve(project.root, name)));
}

const kindLine = new RegExp(`\\bkind["']?\\s*:\\s*["']?(?:${kinds.map(({ name }) => name).join('|')})\\b`);

/** The globs inside the project, and the excluding globs without their `!`. */
export function splitGlobs(globs: readonly string[]): { named: string[]; ignore: string[] } {
  return {
    named: globs.filter((one) => !one.startsWith('!') && !one.split('/').includes('..')),
    ignore: globs.flatMap((one) => (one.startsWith('!') ? [one.slice(1)] : [])),
  };
}

/** A glob that matches both extensions, since they are easily confused. */
function withBothExtensions(pattern: string): string {
  return pattern.replace(/\.ya?ml$/i, '.{yaml,yml}');
}

/** The parts of a glob before its first wildcard, without the file name. */
export function staticFolders(pattern: string): string[] {
  const steps = pattern.split('/').slice(0, -1);
  const wild = steps.findIndex((step) => isDynamicPattern(step));
  return wild < 0 ? steps : steps.slice(0, wild);
}

/** A sentence if a glob matches nothing, or its folder doesn't exist. */
async function missingNote({ pattern, isEmpty }: WalkedGlob, { root }: Project): Promise<string[]> {
  const folder = staticFolders(pattern).join('/').replace(/\\(.)/g, '$1');
  const stats = await stat(resolve(root, folder)).catch(() => undefined);
  if (stats?.isDirectory() !== true) return [`the folder ${folder} of "${pattern}" does not exist`];
  return isEmpty ? [`no file matches "${pattern}"`] : [];
}

/** Hidden files in the project's folder belong to other tools. */
function isOfTools(path: string, root: string): boolean {
  return relative(root, path).startsWith('.');
}
