import { posix, resolve } from 'node:path';
import { type GlobOptions, glob, isDynamicPattern } from 'tinyglobby';
import type { Project } from '../project/project.js';

type Callback = (failure: NodeJS.ErrnoException | null, entries?: readonly unknown[]) => void;

/** In the place of the project's path, which may have characters in it that mean something in a glob. */
const NOWHERE = resolve('/project');

/** Which files a project's globs would find, if these were all that there are; from its root, with `/`. */
export async function namedByGlobs(project: Project, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const folders = foldersOf(paths);
  const readdir = (path: string, _: unknown, callback: Callback): void => {
    const below = path
      .slice(NOWHERE.length)
      .replaceAll('\\', '/')
      .replace(/^\/+|\/+$/g, '');
    const folder = below === '' ? '.' : below;
    const entries = folders.get(folder);
    if (entries === undefined) callback(Object.assign(new Error('not there'), { code: 'ENOENT' }));
    else
      callback(
        null,
        [...entries].map(([name, isFolder]) => entry(name, isFolder)),
      );
  };
  const patterns = project.patterns().map(({ pattern }) => pattern);
  const ignore = patterns.flatMap((one) => (one.startsWith('!') ? [one.slice(1)] : []));
  const named = patterns.filter((one) => !one.startsWith('!') && !one.split('/').includes('..'));
  const found = await Promise.all(
    named.map((pattern) =>
      glob(pattern, {
        cwd: NOWHERE,
        ignore,
        expandDirectories: false,
        followSymbolicLinks: false,
        fs: { readdir } as unknown as NonNullable<GlobOptions['fs']>,
      }),
    ),
  );
  return new Set(found.flat());
}

/** Where new manifests may lie: a folder that a glob names, and their ending; or one file that a glob names, for all of them. */
export type ManifestHome = { readonly folder: string; readonly ending: string } | { readonly file: string };

/** The places that a project's globs have for new manifests, in the order of the globs. */
export function manifestHomes(project: Project): ManifestHome[] {
  return project.patterns().flatMap(({ pattern }): ManifestHome[] => {
    if (pattern.startsWith('!')) return [];
    if (!isDynamicPattern(pattern)) return [{ file: posix.normalize(pattern) }];
    const steps = pattern.split('/').slice(0, -1);
    const wild = steps.findIndex((step) => isDynamicPattern(step));
    const folder = posix.normalize((wild < 0 ? steps : steps.slice(0, wild)).join('/') || '.');
    return [{ folder, ending: pattern.endsWith('.yml') ? '.yml' : '.yaml' }];
  });
}

/** What is in each folder, by its path: the names, and which of them are folders. */
function foldersOf(paths: readonly string[]): ReadonlyMap<string, ReadonlyMap<string, boolean>> {
  const folders = new Map<string, Map<string, boolean>>([['.', new Map()]]);
  for (const path of paths) {
    const steps = posix.normalize(path).split('/');
    for (const [index, step] of steps.entries()) {
      const folder = steps.slice(0, index).join('/') || '.';
      const entries = folders.get(folder) ?? new Map<string, boolean>();
      entries.set(step, index < steps.length - 1);
      folders.set(folder, entries);
    }
  }
  return folders;
}

function entry(name: string, isFolder: boolean): unknown {
  return { name, isFile: () => !isFolder, isDirectory: () => isFolder, isSymbolicLink: () => false };
}
