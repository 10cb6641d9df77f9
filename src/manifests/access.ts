import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { Pauses } from '../base/concurrency.js';
import type { Project } from '../project/project.js';
import { decode, readBytes, type Unreadable, unreadable } from '../yaml/source-file.js';
import { isInside, mountedFolder, resolveSymlinks, type Way } from './symlinks.js';

/** How many files are read at once. */
export const readsAtOnce = 16;

/** Why a file isn't read: it lies outside, it is hidden, or it is idops' own or a credential. */
export interface Refused {
  readonly reason: 'outside' | 'private';
  readonly detail: string;
}

/** Where a file really lies. */
export interface Allowed {
  readonly target: string;
}

/**
 * The one rule for manifests, samples and bodies, over the path as it is named and the file that it leads to: inside
 * the project, not hidden, no credential of any environment, and nothing that idops wrote. A manifest may come from a
 * stranger, who must not get any of that into a message or a plan.
 */
export class Access {
  readonly #root: string;
  readonly #states: Promise<readonly string[]>;
  readonly #files: Promise<ReadonlySet<string>>;
  /** The folders on the way to files, each looked at once. */
  readonly #folders = new Map<string, Stats>();
  readonly #pauses: Pauses;

  /** `more` are further files that are credentials, absolute. Looking for a file throws what the pauses throw. */
  constructor(project: Project, more: readonly string[] = [], pauses = new Pauses(undefined)) {
    this.#pauses = pauses;
    const { files, states } = project.guarded();
    this.#root = project.root;
    this.#states = Promise.all(states.map(ways)).then((all) => all.flat());
    this.#files = realpaths([...files, ...more]);
  }

  /** Where a file lies, or why it isn't read. */
  async find(path: string): Promise<Allowed | Refused | Unreadable> {
    if (this.#pauses.due) await this.#pauses.pause();
    // Before looking, so that a message can't tell what exists outside.
    if (!isInside(path, this.#root)) return outside;
    const named = await this.#private(path);
    if (named !== undefined) return named;
    let target: string;
    const way: Way = { places: [], isHidden: false };
    try {
      const followed = await resolveSymlinks(path, this.#root, way, (place, isLast) =>
        this.#look(place, isLast),
      );
      if (followed === null) return outside;
      // Where letters of either case mean one file, this is its name.
      target = realpathSync.native(followed);
    } catch (failure) {
      return unreadable(failure);
    }
    if (!isInside(target, this.#root)) return outside;
    if (target === path) return { target };
    // A mount says how a file may be hidden, not whose it is: a credential in one is private by whatever link.
    if (way.isHidden && isHidden(target, this.#root)) return own('a hidden file');
    return (await this.#owned(target, ...way.places)) ?? { target };
  }

  /** The text of a file, or why it isn't read. Where it begins like something that idops wrote, it is read as none. */
  async read(
    path: string,
  ): Promise<{ readonly text: string; readonly target: string } | Refused | Unreadable> {
    const found = await this.find(path);
    if (!('target' in found)) return found;
    const bytes = readBytes(found.target);
    const text = bytes instanceof Uint8Array ? decode(bytes) : bytes;
    if (typeof text !== 'string') return text;
    return isWrittenByIdops(text)
      ? own('a state, a journal or a stored plan')
      : { text, target: found.target };
  }

  #look(place: string, isLast: boolean): Stats {
    const found = this.#folders.get(place) ?? lstatSync(place);
    if (!isLast) this.#folders.set(place, found);
    return found;
  }

  async #private(path: string): Promise<Refused | undefined> {
    return isHidden(path, this.#root) ? own('a hidden file') : await this.#owned(path);
  }

  /** What a file is, by any of its paths. */
  async #owned(...paths: readonly string[]): Promise<Refused | undefined> {
    const [files, states] = await Promise.all([this.#files, this.#states]);
    if (paths.some((path) => files.has(path))) return own('the configuration or a credential file');
    return paths.some((path) => states.some((state) => isOfState(path, state)))
      ? own('a state, a lock or a journal')
      : undefined;
  }
}

const outside: Refused = { reason: 'outside', detail: 'lies outside the project' };

function own(what: string): Refused {
  return { reason: 'private', detail: `is ${what}` };
}

/** Both the paths as they are named and those that they lead to. */
async function realpaths(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return new Set([...paths, ...real]);
}

/** The paths of a file that may not be there yet: as it is named, in the folder that is really meant, and its target. */
async function ways(path: string): Promise<string[]> {
  const [folder, target] = await Promise.all(
    [dirname(path), path].map((one) => realpath(one).catch(() => undefined)),
  );
  return [
    path,
    ...(folder === undefined ? [] : [join(folder, basename(path))]),
    ...(target === undefined ? [] : [target]),
  ];
}

/** Whether a step of the way from the project to a file begins with a dot. */
export function isHidden(path: string, root: string): boolean {
  return relative(root, path)
    .split(sep)
    .some((step) => step.startsWith('.'));
}

/** A state, what lies beside it under its name, or a journal. */
export function isOfState(path: string, state: string): boolean {
  if (path === state || path.startsWith(`${state}.`)) return true;
  return path.endsWith('.jsonl') && dirname(path) === join(dirname(state), 'runs');
}

/** What idops writes begins like no manifest and no body, wherever somebody keeps it. */
export function isWrittenByIdops(text: string): boolean {
  if (!text.startsWith('{') || !/"format_version"\s*:/.test(text.slice(0, 4096))) return false;
  if (/^\{"type":"run",/.test(text)) return true;
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data !== 'object' || data === null) return false;
    return ('lineage' in data && 'resources' in data) || ('digest' in data && 'changes' in data);
  } catch {
    return false;
  }
}

/** Whether a folder is a link of a ConfigMap's mount to one of its own folders. */
export async function isMountedFolder(path: string): Promise<boolean> {
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return false;
  const swapped = dirname(target);
  if (basename(target) !== basename(path) || !mountedFolder.test(basename(swapped))) return false;
  const data = await realpath(join(dirname(path), '..data')).catch(() => undefined);
  return data === swapped && dirname(swapped) === (await realpath(dirname(path)));
}
