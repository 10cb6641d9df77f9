import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Pauses } from '../base/concurrency.js';
import type { Project } from '../project/project.js';
import { decode, readBytes, type Unreadable, unreadable } from '../yaml/source-file.js';
import { isInside, mountedFolder, resolveSymlinks, type Way } from './symlinks.js';

export const readsAtOnce = 16;

/** Why a file isn't read: it is outside the project, hidden, idops' own, or a credential. */
export interface Refused {
  readonly reason: 'outside' | 'private';
  readonly detail: string;
}

export interface Allowed {
  /** The file's real path. */
  readonly target: string;
}

/**
 * Decides which files manifests may name, by path and by target: inside the project, not hidden, no credential of any
 * environment, nothing that idops wrote. Manifests may come from strangers, who must not see any of that in a plan.
 */
export class Access {
  readonly #root: string;
  readonly #states: Promise<readonly string[]>;
  readonly #files: Promise<ReadonlySet<string>>;
  /** The stats of folders, each read once. */
  readonly #folders = new Map<string, Stats>();
  readonly #pauses: Pauses;

  /** `tokenFile` is a further credential file, relative to the current folder. */
  constructor(project: Project, tokenFile?: string, pauses = new Pauses(undefined)) {
    this.#pauses = pauses;
    const more = tokenFile === undefined ? [] : [resolve(project.cwd, tokenFile)];
    const { files, states } = project.privateInputs();
    this.#root = project.root;
    this.#states = Promise.all(states.map(ways)).then((all) => all.flat());
    this.#files = realpaths([...files, ...more]);
  }

  /** The real path of a file, or why it isn't read. Throws what the pauses throw. */
  async find(path: string): Promise<Allowed | Refused | Unreadable> {
    if (this.#pauses.due) await this.#pauses.pause();
    // Without looking, so that a message can't reveal what exists outside.
    if (!isInside(path, this.#root)) return outside;
    if (isHidden(path, this.#root)) return own('a hidden file');
    const refused = await this.#owned(path);
    if (refused !== undefined) return refused;
    let target: string;
    const way: Way = { places: [], isHidden: false };
    try {
      const followed = await resolveSymlinks(path, this.#root, way, (place, isLast) =>
        this.#look(place, isLast),
      );
      if (followed === null) return outside;
      // The real name on a case-insensitive file system.
      target = realpathSync.native(followed);
    } catch (failure) {
      return unreadable(failure);
    }
    if (!isInside(target, this.#root)) return outside;
    if (target === path) return { target };
    // A ConfigMap's own hidden folders are fine, but not a link to another hidden file.
    if (way.isHidden && isHidden(target, this.#root)) return own('a hidden file');
    return (await this.#owned(target, ...way.places)) ?? { target };
  }

  /** The text of a file, or why it isn't read: also if it looks like something that idops wrote. */
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

  /** Refuses a file that is idops' own or a credential by one of its paths. */
  async #owned(...paths: readonly string[]): Promise<Refused | undefined> {
    const [files, states] = await Promise.all([this.#files, this.#states]);
    if (paths.some((path) => files.has(path))) return own('the configuration or a credential file');
    return paths.some((path) => states.some((state) => isOfState(path, state)))
      ? own('a state, a lock or a journal')
      : undefined;
  }
}

const outside: Refused = { reason: 'outside', detail: 'is outside the project' };

function own(what: string): Refused {
  return { reason: 'private', detail: `is ${what}` };
}

/** The paths and their targets. */
async function realpaths(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return new Set([...paths, ...real]);
}

/** The paths of a file that may not exist yet: its own, the one in its folder's target, and its target. */
async function ways(path: string): Promise<string[]> {
  const [folder, target] = await Promise.all(
    [dirname(path), path].map((one) => realpath(one).catch(() => undefined)),
  );
  const inFolder = folder && join(folder, basename(path));
  return [path, inFolder, target].filter((one) => one !== undefined);
}

/** Whether a part of a path below the project begins with a dot. */
export function isHidden(path: string, root: string): boolean {
  return relative(root, path)
    .split(sep)
    .some((step) => step.startsWith('.'));
}

/** Whether a path is a state, a file beside it with its name, or a journal. */
export function isOfState(path: string, state: string): boolean {
  if (path === state || path.startsWith(`${state}.`)) return true;
  return path.endsWith('.jsonl') && dirname(path) === join(dirname(state), 'runs');
}

/** Whether a text is a state, a journal or a stored plan. */
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

/** Whether a folder is a ConfigMap's link to one of its own folders. */
export async function isMountedFolder(path: string): Promise<boolean> {
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return false;
  const swapped = dirname(target);
  if (basename(target) !== basename(path) || !mountedFolder.test(basename(swapped))) return false;
  const data = await realpath(join(dirname(path), '..data')).catch(() => undefined);
  return data === swapped && dirname(swapped) === (await realpath(dirname(path)));
}
