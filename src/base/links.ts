import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** As many links as the system follows. */
const LINKS = 40;

/** Where a path leads to, whether there is something or not. */
export async function leadsTo(path: string, links = LINKS): Promise<string> {
  const real = await realpath(path).catch(unlessMissing);
  if (real !== undefined) return real;
  const next = await readlink(path).catch(() => undefined);
  if (next === undefined || links === 0) return path;
  return await leadsTo(resolve(await realpath(dirname(path)), next), links - 1);
}

/** What a path leads to with the links of its folders followed too, and the path itself where that can't be told. */
export async function realPlaceOf(path: string): Promise<string> {
  try {
    const target = await leadsTo(path);
    const folder = dirname(target);
    return folder === target ? target : join(await realPlaceOf(folder), basename(target));
  } catch {
    return path;
  }
}

/** Takes what isn't there for nothing. */
export function unlessMissing(failure: NodeJS.ErrnoException): undefined {
  if (failure.code !== 'ENOENT' && failure.code !== 'ENOTDIR') throw failure;
  return undefined;
}
