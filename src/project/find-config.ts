import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findWorkTree, isThere } from '../base/paths.js';
import { error, ProblemsError } from '../base/problems.js';
import { shownPath } from '../yaml/source-file.js';

/**
 * The nearest file of this name, from a folder upwards to the root of its git work tree; outside one, in the folder alone.
 * Throws a ProblemsError where a folder above holds one that somebody else put there.
 */
export async function findAbove(name: string, cwd: string): Promise<string | undefined> {
  if (isThere(join(cwd, name))) return join(cwd, name);
  const top = await topOf(cwd);
  if (top === undefined) return undefined;
  for (let folder = await realpath(cwd); folder !== top; ) {
    folder = dirname(folder);
    const path = join(folder, name);
    if (!isThere(path)) continue;
    for (const one of [path, join(top, '.git')]) await refuseOthers(one, path, cwd);
    return path;
  }
  return undefined;
}

/** The root of the work tree, where that is above the folder: only then is there more to search than the folder. */
async function topOf(cwd: string): Promise<string | undefined> {
  const folder = await realpath(cwd).catch(() => undefined);
  const top = folder === undefined ? undefined : findWorkTree(folder);
  return top === folder ? undefined : top;
}

/** In a folder that others may write to, such as /tmp, anybody could lay a configuration that runs a program of theirs. */
async function refuseOthers(one: string, config: string, cwd: string): Promise<void> {
  const own = process.getuid?.();
  const { uid } = await lstat(one);
  if (own === undefined || uid === own || uid === 0) return;
  const [shown, owned] = [shownPath(config, cwd), shownPath(one, cwd)];
  throw new ProblemsError([
    error(
      'no-config',
      `there is no idops.yaml in this folder, and ${shown} is not taken by itself, since ${owned} belongs to another user`,
      [],
      `write --config ${shown} if that is the one`,
    ),
  ]);
}
