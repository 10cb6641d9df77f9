import { readlink, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** As many links as the system follows. */
const LINKS = 40;

/** Where a path leads to, whether there is something or not. */
export async function leadsTo(path: string, links = LINKS): Promise<string> {
  const real = await realpath(path).catch(unlessMissing);
  if (real !== undefined) return real;
  const next = await readlink(path).catch(() => undefined);
  if (next === undefined || links === 0) return path;
  return await leadsTo(resolve(dirname(path), next), links - 1);
}

/** Takes what isn't there for nothing. */
export function unlessMissing(failure: NodeJS.ErrnoException): undefined {
  if (failure.code !== 'ENOENT' && failure.code !== 'ENOTDIR') throw failure;
  return undefined;
}
