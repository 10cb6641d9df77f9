import { existsSync, lstatSync } from 'node:fs';
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** The limit of Linux. */
const MAX_LINKS = 40;

/** The target of a path with its links resolved, whether it exists or not. */
export async function resolveLinks(path: string, links = MAX_LINKS): Promise<string> {
  const real = await realpath(path).catch(ignoreMissing);
  if (real !== undefined) return real;
  const next = await readlink(path).catch(() => undefined);
  if (next === undefined || links === 0) return path;
  return await resolveLinks(resolve(await realpath(dirname(path)), next), links - 1);
}

/** Like `resolveLinks`, also for links among missing folders; the path itself if that fails. */
export async function realPath(path: string): Promise<string> {
  try {
    const target = await resolveLinks(path);
    const folder = dirname(target);
    return folder === target ? target : join(await realPath(folder), basename(target));
  } catch {
    return path;
  }
}

/** For `.catch`: undefined if a file doesn't exist. */
export function ignoreMissing(failure: NodeJS.ErrnoException): undefined {
  if (failure.code !== 'ENOENT' && failure.code !== 'ENOTDIR') throw failure;
  return undefined;
}

/** The git work tree of a folder: the nearest folder, from this one upwards, that has a `.git`, which no commit can contain. */
export function findWorkTree(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : findWorkTree(above);
}

/** Whether a path exists; true for a broken link and for a path that this user can't access. */
export function pathExists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (failure) {
    // If a parent is a file, nothing can be there.
    return (failure as NodeJS.ErrnoException).code !== 'ENOTDIR';
  }
}
