import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { shellWord } from '../../base/escape.js';
import { trackedPaths } from '../../base/git.js';
import { findWorkTree, pathExists, resolveLinks } from '../../base/paths.js';
import { problemError } from '../../base/problems.js';
import { lockPath } from './lock.js';

/**
 * Refuses a state that git tracks, since a branch could replace it. Checks missing files only if they will be written. Throws a
 * ProblemsError (`state-tracked`).
 */
export async function refuseTracked(
  paths: readonly string[],
  journals: string,
  written: boolean,
): Promise<void> {
  const files = paths.flatMap((path) => [path, lockPath(path)]);
  if (!written && ![...files, journals].some(pathExists)) return;
  const tracked = await trackedStateFiles(files, journals);
  const [first, ...others] = tracked;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more of the state`;
  // Paths from the root of the work tree work in any folder of it.
  const removals = tracked.slice(0, 3).map((path) => shellWord(`:/${path}`));
  const rest = tracked.length > 3 ? ' and so on' : '';
  throw problemError(
    'state-tracked',
    `git tracks ${first}${more}, so a commit could replace the state`,
    `take it out of git with "git rm --cached ${removals.join(' ')}"${rest}, and name it in .gitignore; or set state.allow_tracked: true, if that is intended`,
  );
}

/**
 * The files and journals that git tracks, as paths from the root of the work tree. Empty without a repository or without git. Throws a
 * ProblemsError (`state-tracked`) if git fails.
 */
async function trackedStateFiles(files: readonly string[], journals: string): Promise<string[]> {
  const named = [...files, journals];
  const realNames = await Promise.all(named.map(resolveFolder));
  const root = findWorkTree(dirname(realNames[0] ?? ''));
  if (root === undefined) return [];
  // Reading the state reports why it can't be read.
  const resolved = await Promise.all(named.map((path) => resolveLinks(path).catch(() => path)));
  const targets = [...new Set([...realNames, ...resolved])];
  const inside = targets
    .map((path) => relative(root, path))
    .filter((way) => way !== '' && way.split(sep)[0] !== '..' && !isAbsolute(way));
  const listed = await listTracked(root, inside);
  const folders = new Set([journals, await resolveFolder(journals)].map((path) => relative(root, path)));
  return listed.filter((path) => {
    // A folder of runs may have other files.
    const isInFolder = folders.has(dirname(path).split('/').join(sep));
    return !isInFolder || path.endsWith('.jsonl');
  });
}

/** A path as git stores it: links to folders are followed, a link in the last part isn't. */
async function resolveFolder(path: string): Promise<string> {
  const folder = dirname(path);
  const real = await realpath(folder).catch(() => undefined);
  if (real !== undefined) return join(real, basename(path));
  return folder === path ? path : join(await resolveFolder(folder), basename(path));
}

/** Those of the paths that are in git's index. Throws a ProblemsError (`state-tracked`) if git fails. */
async function listTracked(root: string, paths: readonly string[]): Promise<readonly string[]> {
  try {
    return await trackedPaths(root, paths);
  } catch (failure) {
    throw problemError(
      'state-tracked',
      `git can't tell whether it tracks the state: ${(failure as Error).message}`,
      'repair the repository, so that "git status" works; or set state.allow_tracked: true, if git should track the state',
      failure,
    );
  }
}
