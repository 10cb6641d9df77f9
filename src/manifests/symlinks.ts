import { lstatSync, type Stats } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path';

/** As on Linux. */
const MAX_LINKS = 40;

/** Kubernetes swaps `..data` when a ConfigMap changes; each file of the mount is a link to `..data/NAME`. */
const mountedData = '..data';
export const mountedFolder = /^\.\.\d{4}_\d{2}_\d{2}_\d{2}_\d{2}_\d{2}\.\d+$/;

/** What `resolveSymlinks` passes. */
export interface Way {
  /** Every link, folder and file on the way. */
  readonly places: string[];
  /** Whether one of them begins with a dot, other than a ConfigMap's own. */
  isHidden: boolean;
}

/** Whether a path is in a folder; both absolute and without links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * The target of a path in a folder, its links resolved one by one; null if a link leads out of the folder. Nothing outside
 * is accessed, so that links can't reveal what exists there. Throws what the file system throws. `root` is absolute and
 * without links, `path` begins with it. `way` receives the places on the way; `look` reads the stat of one, given whether
 * it is the last.
 */
export async function resolveSymlinks(
  path: string,
  root: string,
  way?: Way,
  look: (place: string, isLast: boolean) => Stats = (place) => lstatSync(place),
): Promise<string | null> {
  const steps = stepsOf(relative(root, path));
  let place = root;
  let links = 0;
  let swapped: string | undefined;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = step === '..' ? dirname(place) : join(place, step);
    if (!isInside(next, root)) {
      // Above the folder, only its parents are known to exist.
      if (relative(next, root) !== '' && !isInside(root, next)) return null;
      place = next;
      continue;
    }
    const found = look(next, steps.length === 0);
    const target = found.isSymbolicLink() ? await readlink(next) : undefined;
    if (way !== undefined) {
      const isData = step === mountedData && target !== undefined && mountedFolder.test(target);
      // The dated folder counts only if `..data` beside it names it.
      if (step.startsWith('.') && step !== '..' && !isData && next !== swapped) way.isHidden = true;
      if (target === undefined || !isData) swapped = undefined;
      else swapped = join(place, target);
      way.places.push(next);
    }
    if (target !== undefined) {
      links += 1;
      if (links > MAX_LINKS) throw systemError('ELOOP', next);
      const { root: top } = parse(target);
      if (top !== '') place = top;
      steps.unshift(...stepsOf(target.slice(top.length)));
    } else if (steps.length > 0 && !found.isDirectory()) throw systemError('ENOTDIR', next);
    else place = next;
  }
  return relative(place, root) === '' || isInside(place, root) ? place : null;
}

/** Whether a path in a folder leads out of it by a link. */
export async function leadsOut(path: string, root: string): Promise<boolean> {
  return (await resolveSymlinks(path, root).catch(() => path)) === null;
}

function stepsOf(path: string): string[] {
  return path.split(sep === '/' ? '/' : /[\\/]/).filter((step) => step !== '' && step !== '.');
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
