import { hash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exceededMaxOutput, GitError, GitNotFound, git } from '../../base/git.js';
import type { ProblemsError } from '../../base/problems.js';
import { userName } from '../../base/process.js';
import { MAX_STATE_BYTES, stateError, tooLargeText } from '../state-text.js';
import {
  historyWentBack,
  isForbidden,
  localFailure,
  pushRefused,
  refusalIn,
  unreachable,
} from './failures.js';

export interface BranchSettings {
  /** The root of a work tree. Only its repository is used, not its files or index. */
  readonly root: string;
  /** The name of a remote, or its address. */
  readonly remote: string;
  /** The branch of the remote, with nothing but states and runs. */
  readonly branch: string;
  /** The largest state or journal that is read, in bytes. */
  readonly maxBytes?: number;
}

export interface RemoteRefs {
  /** The newest commit of the branch; null if there is none. */
  readonly branch: string | null;
  /** The other requested references, by their names. */
  readonly others: ReadonlyMap<string, string>;
}

/** A commit to make: its message and its changes; null removes a file or a folder. */
export interface Commit {
  readonly message: string;
  readonly parent?: string | null;
  readonly files?: ReadonlyMap<string, string | null>;
}

/** A change of one reference, from and to a commit; null is no reference. */
export interface RefUpdate {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** `moved`: the remote's references were not at `from`. Other failures are thrown. */
export type PushResult = 'done' | 'moved';

/** Milliseconds for one request to the remote. */
const TIMEOUT = 30_000;
/** A short network failure doesn't end a run. */
const RETRY_PAUSES = [500, 2000, 5000];

/** A branch of a remote, and other references. Each push names the commits that it replaces. */
export class Branch {
  readonly settings: BranchSettings;
  readonly ref: string;
  readonly #place: string;
  /** Whether the remote has ever answered. If not, it is probably misconfigured, and is retried less. */
  #answered = false;
  #isShallow: boolean | undefined;
  /** The newest known commit of the branch; empty if unknown. */
  #known = '';

  /** `place` names the state in messages. */
  constructor(settings: BranchSettings, place: string) {
    this.settings = settings;
    this.#place = place;
    this.ref = `refs/heads/${settings.branch}`;
  }

  /** Lists the branch and other references of the remote. In their names, `*` matches anything. */
  async listRefs(others: readonly string[]): Promise<RemoteRefs> {
    const { remote } = this.settings;
    const output = await this.#queryRemote(['ls-remote', '--quiet', remote, this.ref, ...others]);
    const found = new Map(
      output
        .split('\n')
        .map((line) => line.split('\t'))
        .map(([sha = '', name = '']) => [name, sha]),
    );
    // Git also matches references that end with a name.
    const isRequested = (name: string): boolean =>
      others.some((other) => (other.includes('*') ? name.startsWith('refs/idops/') : name === other));
    return {
      branch: found.get(this.ref) ?? null,
      others: new Map([...found].filter(([name]) => isRequested(name))),
    };
  }

  /** The same, with their commits fetched. Throws a ProblemsError (`state-unreachable`, `state-went-back`). */
  async fetch(names: readonly string[]): Promise<RemoteRefs> {
    // Read before the remote is queried, since another process may write a newer one meanwhile.
    this.#known ||= (await this.#git(['for-each-ref', '--format=%(objectname)', this.#seenRef])).trim();
    for (let tries = 1; ; tries += 1) {
      const { branch, others } = await this.listRefs(names);
      const seen = new Map([...(branch === null ? [] : [[this.ref, branch] as const]), ...others]);
      try {
        await this.#fetch(seen);
      } catch (failure) {
        if (tries >= FETCH_TRIES) throw unreachable(this.#place, this.settings.remote, failure);
        continue;
      }
      const head = seen.get(this.ref) ?? null;
      seen.delete(this.ref);
      if (!(await this.#hasKnown(head)))
        throw historyWentBack(this.#place, this.settings, this.#seenRef, head);
      return { branch: head, others: seen };
    }
  }

  /** Whether the history of a commit contains the newest known one. */
  async #hasKnown(head: string | null): Promise<boolean> {
    if (this.#known === '' || this.#known === head) return true;
    if (head === null) return false;
    return (await this.#git(['rev-list', '--max-count=1', this.#known, '--not', head])) === '';
  }

  /** Records a commit as the newest known one: the history of every later one must contain it. */
  async remember(head: string): Promise<void> {
    if (this.#known === head) return;
    this.#known = head;
    await this.#git(['update-ref', this.#seenRef, head]).catch(() => '');
  }

  /** The references whose commits are not in the local repository. */
  async #missing(refs: ReadonlyMap<string, string>): Promise<string[]> {
    if (refs.size === 0) return [];
    const input = [...refs.values()].map((sha) => `${sha}\n`).join('');
    const output = (await this.#git(['cat-file', '--batch-check=%(objecttype)'], { input })).split('\n');
    return [...refs.keys()].filter((_, index) => output[index]?.endsWith(' missing') !== false);
  }

  /** Fetches missing references, and updates `seen` if they have moved meanwhile. */
  async #fetch(seen: Map<string, string>): Promise<void> {
    const { root, remote } = this.settings;
    const missing = await this.#missing(seen);
    if (missing.length === 0) return;
    // Only the newest commit is needed, but a full clone must not become shallow.
    this.#isShallow ??= (await this.#git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
    const depth = this.#isShallow && this.#known === '' ? ['--depth=1'] : [];
    const quiet = [
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-gc',
      '--no-recurse-submodules',
    ];
    const temporary = `refs/idops/passing/${randomUUID()}`;
    const here = new Map(missing.map((ref, index) => [`${temporary}/${index}`, ref]));
    const specs = [...here].map(([name, ref]) => `+${ref}:${name}`);
    const after = [...here.keys()].map((name) => `delete ${name}\n`);
    try {
      await git(root, ['fetch', ...quiet, ...depth, remote, ...specs], FETCH_OPTIONS);
      const output = await this.#git(['for-each-ref', '--format=%(objectname) %(refname)', temporary]);
      for (const [sha = '', name = ''] of output.split('\n').map((line) => line.split(' '))) {
        const ref = here.get(name);
        if (ref !== undefined) seen.set(ref, sha);
      }
    } finally {
      await this.#git(['update-ref', '--stdin'], { input: after.join('') }).catch(() => '');
    }
  }

  /** The local reference of the newest known commit. */
  get #seenRef(): string {
    const { remote, branch } = this.settings;
    // Several remotes may have a branch of that name.
    const suffix =
      remote === DEFAULT_REMOTE ? '' : `.${hash('sha256', withoutCredentials(remote), 'hex').slice(0, 12)}`;
    return `${SEEN_REFS}/${branch}${suffix}`;
  }

  /** The names in a folder of a commit, sorted: only files or only folders. */
  async list(commit: string, folder: string, type: 'blob' | 'tree'): Promise<string[]> {
    const output = await this.#git(['ls-tree', '-z', commit, ...(folder === '' ? [] : [`${folder}/`])]);
    return output
      .split('\0')
      .flatMap((line) => {
        const [, kind, path] = /^\d+ (\w+) [0-9a-f]+\t([\s\S]+)$/.exec(line) ?? [];
        return kind === type && path !== undefined ? [path.slice(folder === '' ? 0 : folder.length + 1)] : [];
      })
      .sort();
  }

  /** The text of a file of a commit; undefined if there is none. */
  async text(commit: string, path: string): Promise<string | undefined> {
    const [text] = await this.texts(commit, [path]);
    return text;
  }

  /** The texts of the existing files of a commit, with one call of git. Throws the error of `refuse` if they are too large. */
  async texts(
    commit: string,
    paths: readonly string[],
    refuse = (why: string): ProblemsError => stateError(this.#place, why),
  ): Promise<string[]> {
    if (paths.length === 0) return [];
    const { root, maxBytes = MAX_STATE_BYTES } = this.settings;
    const input = paths.map((path) => `${commit}:${path}\n`).join('');
    const options = { input, maxOutput: maxBytes, timeout: TIMEOUT };
    const found = await git(root, ['cat-file', '--batch'], options).catch((failure: unknown) => {
      throw exceededMaxOutput(failure) ? refuse(tooLargeText(maxBytes)) : localFailure(this.#place, failure);
    });
    let at = 0;
    return paths.flatMap(() => {
      const begin = found.indexOf('\n', at) + 1;
      const [, type, size] = / (\w+) (\d+)$/.exec(found.toString('latin1', at, begin - 1)) ?? [];
      const end = begin + Number(size ?? 0);
      at = size === undefined ? begin : end + 1;
      return type === 'blob' ? [found.toString('utf8', begin, end)] : [];
    });
  }

  async message(commit: string): Promise<string> {
    const output = await this.#git(['cat-file', 'commit', commit]);
    return output.slice(output.indexOf('\n\n') + 2);
  }

  /** Makes commits with one call of git, and returns their hashes. No reference names them yet. */
  async makeCommits(commits: readonly Commit[]): Promise<string[]> {
    const committer = `${userName().replace(/[<>\0\n]/g, '')} <idops@localhost> ${Math.floor(Date.now() / 1000)} +0000`;
    const input = commits.flatMap(({ message, parent = null, files = new Map() }, index) => [
      `commit ${IMPORT_REF}\nmark :${index + 1}\ncommitter ${committer}\n${dataCommand(message)}`,
      parent === null ? '' : `from ${parent}\n`,
      ...[...files].map(([path, text]) =>
        text === null ? `D ${quotePath(path)}\n` : `M 100644 inline ${quotePath(path)}\n${dataCommand(text)}`,
      ),
      `get-mark :${index + 1}\nreset ${IMPORT_REF}\n\n`,
    ]);
    try {
      const command = ['fast-import', '--quiet', '--done'];
      const output = await git(this.settings.root, command, { input: `${input.join('')}done\n` });
      return output.toString('utf8').trimEnd().split('\n');
    } catch (failure) {
      const stderr = failure instanceof GitError ? failure.stderr : '';
      const [, crashReport] = /^fast-import: dumping crash report to (.+)$/m.exec(stderr) ?? [];
      if (crashReport !== undefined) await rm(resolve(this.settings.root, crashReport), { force: true });
      throw localFailure(this.#place, failure);
    }
  }

  /**
   * Moves references of the remote atomically, and retries while the remote can't be reached. A push that seems to fail succeeded if the
   * references have moved. Throws a ProblemsError (`not-writable`, `state-unreachable`).
   */
  async push(updates: readonly RefUpdate[]): Promise<PushResult> {
    const { remote } = this.settings;
    const leases = updates.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`);
    const specs = updates.map(({ ref, to }) => `${to ?? ''}:${ref}`);
    const others = updates.flatMap(({ ref }) => (ref === this.ref ? [] : [ref]));
    const options = [
      '--quiet',
      '--porcelain',
      '--atomic',
      '--no-verify',
      '--no-recurse-submodules',
      '--no-signed',
    ];
    for (let tries = 0; ; tries += 1) {
      try {
        await git(this.settings.root, ['push', ...options, ...leases, remote, ...specs], REMOTE_OPTIONS);
        return await this.#pushDone(updates);
      } catch (failure) {
        const now = await this.listRefs(others);
        const currentOf = (ref: string) => (ref === this.ref ? now.branch : (now.others.get(ref) ?? null));
        const areAt = (compare: 'from' | 'to') =>
          updates.every((move) => currentOf(move.ref) === move[compare]);
        if (areAt('to')) return await this.#pushDone(updates);
        if (!areAt('from')) return 'moved';
        const refused = refusalIn(failure);
        // Another push may have locked the reference for a moment.
        const delays = isForbidden(failure)
          ? []
          : refused === undefined
            ? RETRY_PAUSES
            : RETRY_PAUSES.slice(0, 2);
        const pause = delays[tries];
        // The remote listed its references, so it can be reached.
        if (pause === undefined) throw pushRefused(this.#place, refused, failure);
        await sleep(pause);
      }
    }
  }

  async #pushDone(updates: readonly RefUpdate[]): Promise<'done'> {
    const to = updates.find(({ ref }) => ref === this.ref)?.to;
    if (to != null) await this.remember(to);
    return 'done';
  }

  /** Runs a git command on the remote, with retries. Throws a ProblemsError (`state-unreachable`). */
  async #queryRemote(command: readonly string[]): Promise<string> {
    const { root, remote } = this.settings;
    for (let tries = 0; ; tries += 1) {
      try {
        const output = (await git(root, command, REMOTE_OPTIONS)).toString('utf8');
        this.#answered = true;
        return output;
      } catch (failure) {
        const delays =
          failure instanceof GitNotFound ? [] : this.#answered ? RETRY_PAUSES : RETRY_PAUSES.slice(0, 1);
        const pause = delays[tries];
        if (pause === undefined) throw unreachable(this.#place, remote, failure);
        await sleep(pause);
      }
    }
  }

  /** Runs git on the local repository. Throws a ProblemsError (`not-writable`). */
  async #git(command: readonly string[], options: Parameters<typeof git>[2] = {}): Promise<string> {
    try {
      return (await git(this.settings.root, command, options)).toString('utf8');
    } catch (failure) {
      throw localFailure(this.#place, failure);
    }
  }
}

/** The local references of the newest known commits. */
const SEEN_REFS = 'refs/idops/seen';
/** The remote that has no suffix there. */
const DEFAULT_REMOTE = 'origin';

const REMOTE_OPTIONS = { allowRemotes: true, timeout: TIMEOUT } as const;
/** The first fetch brings the whole branch. */
const FETCH_OPTIONS = { ...REMOTE_OPTIONS, timeout: 10 * TIMEOUT };
/** Attempts if references move between listing and fetching. */
const FETCH_TRIES = 5;
/** A name for commits within fast-import, which doesn't create this reference. */
const IMPORT_REF = 'refs/idops/passing';

function dataCommand(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** The texts of a file in the newest known commits of all state branches, with their local references. */
export async function seenTexts(root: string, path: string): Promise<[ref: string, text: string][]> {
  const output = await git(root, ['for-each-ref', '--format=%(refname)', SEEN_REFS]);
  const found: [string, string][] = [];
  for (const ref of output.toString('utf8').split('\n').filter(Boolean)) {
    const text = await git(root, ['cat-file', 'blob', `${ref}:${path}`], {
      maxOutput: MAX_STATE_BYTES,
    }).catch(() => undefined);
    if (text !== undefined) found.push([ref, text.toString('utf8')]);
  }
  return found;
}

/** The address of a remote without its credentials. */
export function withoutCredentials(remote: string): string {
  return remote.replace(/^(\w+:\/\/)[^/@]*(?::[^/]*)?@/, '$1');
}
