import { lstatSync, type Stats } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path';

/** So many links a path may have in all, as on Linux. */
const MAX_LINKS = 40;

/** The folders that Kubernetes swaps when a ConfigMap changes: each file of the mount is a link to `..data/NAME`. */
const mountedData = '..data';
export const mountedFolder = /^\.\.\d{4}_\d{2}_\d{2}_\d{2}_\d{2}_\d{2}\.\d+$/;

/** What a path came by. */
export interface Way {
  /** Every file or folder that was come by, links as well as what they lead to. */
  readonly places: string[];
  /** Whether a step of it, or of one of its links, begins with a dot; a ConfigMap's own two steps don't count. */
  isHidden: boolean;
}

/** Whether a path lies in a folder; both absolute, with links followed. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Where a path in a folder leads, its links followed one by one; null where one of them leads out of the folder. What is
 * outside is never looked at, or whoever makes links could learn what is there. Throws what the file system says of
 * what is inside. `root` is absolute and without links, `path` begins with it. What the path comes by is told to `way`,
 * and `look` looks at a place, given whether it is the last step as far as is known.
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
      // Of what is above the folder, only the way to it is known to be there.
      if (relative(next, root) !== '' && !isInside(root, next)) return null;
      place = next;
      continue;
    }
    const found = look(next, steps.length === 0);
    const target = found.isSymbolicLink() ? await readlink(next) : undefined;
    if (way !== undefined) {
      const isData = step === mountedData && target !== undefined && mountedFolder.test(target);
      // Only by way of `..data`, and only the folder that it names, beside it.
      if (step.startsWith('.') && step !== '..' && !isData && next !== swapped) way.isHidden = true;
      if (target === undefined || !isData) swapped = undefined;
      else swapped = join(place, target);
      way.places.push(next);
    }
    if (target !== undefined) {
      links += 1;
      if (links > MAX_LINKS) throw refused('ELOOP', next);
      const { root: top } = parse(target);
      if (top !== '') place = top;
      steps.unshift(...stepsOf(target.slice(top.length)));
    } else if (steps.length > 0 && !found.isDirectory()) throw refused('ENOTDIR', next);
    else place = next;
  }
  return relative(place, root) === '' || isInside(place, root) ? place : null;
}

/** Whether a path in a folder leads out of it by a link, whatever there may be. */
export async function leadsOut(path: string, root: string): Promise<boolean> {
  return (await resolveSymlinks(path, root).catch(() => path)) === null;
}

function stepsOf(path: string): string[] {
  return path.split(sep === '/' ? '/' : /[\\/]/).filter((step) => step !== '' && step !== '.');
}

/** What the file system would say of the whole path. */
function refused(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
