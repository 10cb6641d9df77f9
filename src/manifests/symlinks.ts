import { lstatSync, type Stats } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path';

/** The limit of Linux. */
const MAX_LINKS = 40;

/** Kubernetes replaces the link `..data` if a ConfigMap changes; each file of the mount is a link to `..data/NAME`. */
const mountedData = '..data';
export const mountedFolder = /^\.\.\d{4}_\d{2}_\d{2}_\d{2}_\d{2}_\d{2}\.\d+$/;

/** The paths that `resolveSymlinks` visits. */
export interface LinkTrace {
  /** Each link, folder and file. */
  readonly places: string[];
  /** Whether the name of one of them begins with a dot; hidden files of a ConfigMap don't count. */
  isHidden: boolean;
}

/** Whether a path is in a folder; both are absolute and contain no links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * The target of a path in a folder, with its links resolved one by one; null if a link leads out of the folder. Accesses nothing
 * outside, so that links can't reveal what exists there. Throws errors of the file system. `root` is absolute and without
 * links, and `path` begins with it. `trace` collects the visited paths; `look` reads the stat of a path.
 */
export async function resolveSymlinks(
  path: string,
  root: string,
  trace?: LinkTrace,
  look: (place: string, isLast: boolean) => Stats = (place) => lstatSync(place),
): Promise<string | null> {
  const steps = segmentsOf(relative(root, path));
  let place = root;
  let links = 0;
  let mountedTarget: string | undefined;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = step === '..' ? dirname(place) : join(place, step);
    if (!isInside(next, root)) {
      // Outside the folder, only its parents are known to exist.
      if (relative(next, root) !== '' && !isInside(root, next)) return null;
      place = next;
      continue;
    }
    const found = look(next, steps.length === 0);
    const target = found.isSymbolicLink() ? await readlink(next) : undefined;
    if (trace !== undefined) {
      const isData = step === mountedData && target !== undefined && mountedFolder.test(target);
      // A dated folder belongs to the ConfigMap only if `..data` links to it.
      if (step.startsWith('.') && step !== '..' && !isData && next !== mountedTarget) trace.isHidden = true;
      if (target === undefined || !isData) mountedTarget = undefined;
      else mountedTarget = join(place, target);
      trace.places.push(next);
    }
    if (target !== undefined) {
      links += 1;
      if (links > MAX_LINKS) throw systemError('ELOOP', next);
      const { root: top } = parse(target);
      if (top !== '') place = top;
      steps.unshift(...segmentsOf(target.slice(top.length)));
    } else if (steps.length > 0 && !found.isDirectory()) throw systemError('ENOTDIR', next);
    else place = next;
  }
  return relative(place, root) === '' || isInside(place, root) ? place : null;
}

/** Whether a link leads a path out of its folder. */
export async function leadsOut(path: string, root: string): Promise<boolean> {
  return (await resolveSymlinks(path, root).catch(() => path)) === null;
}

function segmentsOf(path: string): string[] {
  return path.split(sep === '/' ? '/' : /[\\/]/).filter((step) => step !== '' && step !== '.');
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
