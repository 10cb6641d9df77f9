import { join, resolve } from 'node:path';
import { readRegular } from './regular.js';
import { workTreeOf } from './work-tree.js';

/**
 * The branch that others start from, as far as the files of a repository tell: the remote's, otherwise `main` where there is
 * one, otherwise the branch that is checked out. Undefined where nothing tells. No git is run.
 */
export async function defaultBranch(folder: string): Promise<string | undefined> {
  const top = await workTreeOf(folder);
  if (top === undefined) return undefined;
  const place = join(top, '.git');
  const link = await text(place);
  const own = link === undefined ? place : resolve(top, /^gitdir: (.+)/.exec(link)?.[1] ?? '');
  const shared = resolve(own, (await text(join(own, 'commondir')))?.trim() ?? '.');
  const remote = named(await text(join(shared, 'refs/remotes/origin/HEAD')), 'refs/remotes/origin/');
  if (remote !== undefined) return remote;
  const main = (await text(join(shared, 'refs/heads/main'))) !== undefined;
  const packed = (await text(join(shared, 'packed-refs'))) ?? '';
  if (main || / refs\/heads\/main$/m.test(packed)) return 'main';
  return named(await text(join(own, 'HEAD')), 'refs/heads/');
}

/** What a symbolic reference names; a repository of another format has a placeholder there. */
function named(reference: string | undefined, prefix: string): string | undefined {
  const name = /^ref: (.+)/.exec(reference ?? '')?.[1]?.trim();
  if (name?.startsWith(prefix) !== true) return undefined;
  const branch = name.slice(prefix.length);
  return /^[^\s.][^\p{C}\s]*$/u.test(branch) ? branch : undefined;
}

async function text(path: string): Promise<string | undefined> {
  return await readRegular(path).catch(() => undefined);
}
