import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Pauses } from '../base/concurrency.js';
import type { Project } from '../project/project.js';
import { decode, readBytes, type Unreadable, unreadable } from '../yaml/source-file.js';
import { isInside, type LinkTrace, mountedFolder, resolveSymlinks } from './symlinks.js';

export const maxConcurrentReads = 16;

/** Why a file isn't read: it is outside the project, or it is private, such as a hidden file, a credential or a state. */
export interface Refused {
  readonly reason: 'outside' | 'private';
  readonly detail: string;
}

export interface Allowed {
  /** The file's real path. */
  readonly target: string;
}

/**
 * Decides which files manifests may name, by path and by target: they must be inside the project, not hidden, no credential of any
 * environment, and not written by idops. Manifests may come from strangers, who must not see such files in a plan.
 */
export class Access {
  readonly #root: string;
  readonly #states: Promise<readonly string[]>;
  readonly #files: Promise<ReadonlySet<string>>;
  /** The stats of folders by path. */
  readonly #folders = new Map<string, Stats>();
  readonly #pauses: Pauses;

  /** `tokenFile` is another credential file, relative to the current folder. */
  constructor(project: Project, tokenFile?: string, pauses = new Pauses(undefined)) {
    this.#pauses = pauses;
    const tokenFiles = tokenFile === undefined ? [] : [resolve(project.cwd, tokenFile)];
    const { files, states } = project.privateInputs();
    this.#root = project.root;
    this.#states = Promise.all(states.map(pathAndTargets)).then((all) => all.flat());
    this.#files = realpaths([...files, ...tokenFiles]);
  }

  /** The real path of a file, or why it must not or can't be read. Throws if the pauses are aborted. */
  async find(path: string): Promise<Allowed | Refused | Unreadable> {
    if (this.#pauses.due) await this.#pauses.pause();
    // Refused without access to the file, so that messages don't reveal what exists outside.
    if (!isInside(path, this.#root)) return outside;
    if (isHidden(path, this.#root)) return privateFile('a hidden file');
    const refused = await this.#privateReason(path);
    if (refused !== undefined) return refused;
    let target: string;
    const trace: LinkTrace = { places: [], isHidden: false };
    try {
      const followed = await resolveSymlinks(path, this.#root, trace, (place, isLast) =>
        this.#stat(place, isLast),
      );
      if (followed === null) return outside;
      // The real name on a case-insensitive file system.
      target = realpathSync.native(followed);
    } catch (failure) {
      return unreadable(failure);
    }
    if (!isInside(target, this.#root)) return outside;
    if (target === path) return { target };
    // The hidden folders of a ConfigMap are allowed, a link to another hidden file isn't.
    if (trace.isHidden && isHidden(target, this.#root)) return privateFile('a hidden file');
    return (await this.#privateReason(target, ...trace.places)) ?? { target };
  }

  /** The text of a file, or why it isn't read; a file that idops wrote isn't read either. */
  async read(
    path: string,
  ): Promise<{ readonly text: string; readonly target: string } | Refused | Unreadable> {
    const found = await this.find(path);
    if (!('target' in found)) return found;
    const bytes = readBytes(found.target);
    const text = bytes instanceof Uint8Array ? decode(bytes) : bytes;
    if (typeof text !== 'string') return text;
    return isWrittenByIdops(text)
      ? privateFile('a state, a journal or a stored plan')
      : { text, target: found.target };
  }

  #stat(place: string, isLast: boolean): Stats {
    const found = this.#folders.get(place) ?? lstatSync(place);
    if (!isLast) this.#folders.set(place, found);
    return found;
  }

  /** Refuses a file if one of its paths is a credential or belongs to idops. */
  async #privateReason(...paths: readonly string[]): Promise<Refused | undefined> {
    const [files, states] = await Promise.all([this.#files, this.#states]);
    if (paths.some((path) => files.has(path))) return privateFile('the configuration or a credential file');
    return paths.some((path) => states.some((state) => isStateFile(path, state)))
      ? privateFile('a state, a lock or a journal')
      : undefined;
  }
}

const outside: Refused = { reason: 'outside', detail: 'is outside the project' };

function privateFile(what: string): Refused {
  return { reason: 'private', detail: `is ${what}` };
}

/** Paths, and the targets of their links. */
async function realpaths(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return new Set([...paths, ...real]);
}

/** The paths of a file that may not exist yet: its path, its path in the target of its folder, and its target. */
async function pathAndTargets(path: string): Promise<string[]> {
  const [folder, target] = await Promise.all(
    [dirname(path), path].map((one) => realpath(one).catch(() => undefined)),
  );
  const inFolder = folder && join(folder, basename(path));
  return [path, inFolder, target].filter((one) => one !== undefined);
}

/** Whether a part of a path, below the project's root, begins with a dot. */
export function isHidden(path: string, root: string): boolean {
  return relative(root, path)
    .split(sep)
    .some((step) => step.startsWith('.'));
}

/** Whether a path is the state, a file that belongs to it, such as its lock, or a journal. */
export function isStateFile(path: string, state: string): boolean {
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

/** Whether a path is a link of a mounted ConfigMap to one of its own folders. */
export async function isMountedFolder(path: string): Promise<boolean> {
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return false;
  const swapped = dirname(target);
  if (basename(target) !== basename(path) || !mountedFolder.test(basename(swapped))) return false;
  const data = await realpath(join(dirname(path), '..data')).catch(() => undefined);
  return data === swapped && dirname(swapped) === (await realpath(dirname(path)));
}
