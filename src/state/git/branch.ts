import { hash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GitFailed, git, isTooMuch, NoGit } from '../../base/git.js';
import type { ProblemsError } from '../../base/problems.js';
import { userName } from '../../base/process.js';
import { MAX_BYTES, stateError, tooLarge } from '../state-text.js';
import { isForbidden, localFailure, pushRefused, refusedBy, unreachable, wentBack } from './failures.js';

/** Where a state is kept in git. */
export interface BranchSettings {
  /** The root of the work tree whose repository is used; its files and its index stay as they are. */
  readonly root: string;
  /** The name of a remote, or its address. */
  readonly remote: string;
  /** The branch of the remote that holds states and runs, and nothing else. */
  readonly branch: string;
  /** Milliseconds to wait before each further try where the remote can't be asked any more. */
  readonly pauses?: readonly number[];
  /** Bytes of a state, or of a journal, that are read at most. */
  readonly most?: number;
}

/** What the remote has. */
export interface RemoteRefs {
  /** The newest commit of the branch; null where there is none. */
  readonly branch: string | null;
  /** What the other references are that were asked for, by their names. */
  readonly others: ReadonlyMap<string, string>;
}

/** A commit to be made: what it says, and what it changes on top of another; null is a file, or a folder, that goes. */
export interface Commit {
  readonly message: string;
  readonly parent?: string | null;
  readonly files?: ReadonlyMap<string, string | null>;
}

/** A change of one reference: what it has to be before, and what it is to be; null is nothing. */
export interface RefUpdate {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** `moved`: the remote had something else by then. Whatever else goes wrong is thrown. */
export type Pushed = 'done' | 'moved';

/** Milliseconds that a remote gets. */
const TIMEOUT = 30_000;
/** A network that is away for a moment doesn't end a run. */
const PAUSES = [500, 2000, 5000];

/** A branch of a remote, and references beside it: each is changed only from what it is known to be. */
export class Branch {
  readonly settings: BranchSettings;
  /** The reference of the branch. */
  readonly ref: string;
  readonly #place: string;
  /** Whether the remote has ever answered: one that never did is wrong, and not away. */
  #answered = false;
  #isShallow: boolean | undefined;
  /** The newest commit that the branch is known to have had; empty if none is known. */
  #known = '';

  /** `place` is what a message calls what is kept there. */
  constructor(settings: BranchSettings, place: string) {
    this.settings = settings;
    this.#place = place;
    this.ref = `refs/heads/${settings.branch}`;
  }

  /** What the remote has now: the branch, and references by their names, in which `*` is anything. */
  async listRefs(others: readonly string[]): Promise<RemoteRefs> {
    const { remote } = this.settings;
    const said = await this.#asking(['ls-remote', '--quiet', remote, this.ref, ...others]);
    const found = new Map(
      said
        .split('\n')
        .map((line) => line.split('\t'))
        .map(([sha = '', name = '']) => [name, sha]),
    );
    // Git takes a name for the end of one.
    const isMeant = (name: string): boolean =>
      others.some((other) => (other.includes('*') ? name.startsWith('refs/idops/') : name === other));
    return {
      branch: found.get(this.ref) ?? null,
      others: new Map([...found].filter(([name]) => isMeant(name))),
    };
  }

  /** What the remote has now, brought here. Throws a ProblemsError (`state-unreachable`, `state-went-back`). */
  async fetch(names: readonly string[]): Promise<RemoteRefs> {
    // Looked up before the remote is: what another process writes meanwhile is newer than what the remote is about to say.
    this.#known ||= (await this.#git(['for-each-ref', '--format=%(objectname)', this.#seen])).trim();
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
      if (!(await this.#hasKnown(head))) throw wentBack(this.#place, this.settings, this.#seen, head);
      return { branch: head, others: seen };
    }
  }

  /** Whether a commit of the branch has the newest known one in its history. */
  async #hasKnown(head: string | null): Promise<boolean> {
    if (this.#known === '' || this.#known === head) return true;
    if (head === null) return false;
    return (await this.#git(['rev-list', '--max-count=1', this.#known, '--not', head])) === '';
  }

  /** Takes a commit for the newest of the branch, which every later one has to have in its history. */
  async remember(head: string): Promise<void> {
    if (this.#known === head) return;
    this.#known = head;
    await this.#git(['update-ref', this.#seen, head]).catch(() => '');
  }

  /** The names of those whose commits aren't here. */
  async #missing(refs: ReadonlyMap<string, string>): Promise<string[]> {
    if (refs.size === 0) return [];
    const input = [...refs.values()].map((sha) => `${sha}\n`).join('');
    const said = (await this.#git(['cat-file', '--batch-check=%(objecttype)'], { input })).split('\n');
    return [...refs.keys()].filter((_, index) => said[index]?.endsWith(' missing') !== false);
  }

  /** Brings the references here that aren't, as they are by then: others may move them all the time. */
  async #fetch(seen: Map<string, string>): Promise<void> {
    const { root, remote } = this.settings;
    const missing = await this.#missing(seen);
    if (missing.length === 0) return;
    // Only what is newest is looked at, and a clone that has everything has to stay one.
    this.#isShallow ??= (await this.#git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
    const depth = this.#isShallow && this.#known === '' ? ['--depth=1'] : [];
    const quiet = [
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-gc',
      '--no-recurse-submodules',
    ];
    const passing = `refs/idops/passing/${randomUUID()}`;
    const here = new Map(missing.map((ref, index) => [`${passing}/${index}`, ref]));
    const specs = [...here].map(([name, ref]) => `+${ref}:${name}`);
    const after = [...here.keys()].map((name) => `delete ${name}\n`);
    try {
      await git(root, ['fetch', ...quiet, ...depth, remote, ...specs], FETCHING);
      const said = await this.#git(['for-each-ref', '--format=%(objectname) %(refname)', passing]);
      for (const [sha = '', name = ''] of said.split('\n').map((line) => line.split(' '))) {
        const ref = here.get(name);
        if (ref !== undefined) seen.set(ref, sha);
      }
    } finally {
      await this.#git(['update-ref', '--stdin'], { input: after.join('') }).catch(() => '');
    }
  }

  /** The name here of the newest known commit, so that the next fetch brings only what is new. */
  get #seen(): string {
    const { remote, branch } = this.settings;
    // Branches of one name may be those of several remotes.
    const of =
      remote === DEFAULT_REMOTE ? '' : `.${hash('sha256', withoutCredentials(remote), 'hex').slice(0, 12)}`;
    return `${SEEN_REFS}/${branch}${of}`;
  }

  /** The names below a folder of a commit, sorted; files alone or folders alone. */
  async list(commit: string, folder: string, type: 'blob' | 'tree'): Promise<string[]> {
    const said = await this.#git(['ls-tree', '-z', commit, ...(folder === '' ? [] : [`${folder}/`])]);
    return said
      .split('\0')
      .flatMap((line) => {
        const [, kind, path] = /^\d+ (\w+) [0-9a-f]+\t([\s\S]+)$/.exec(line) ?? [];
        return kind === type && path !== undefined ? [path.slice(folder === '' ? 0 : folder.length + 1)] : [];
      })
      .sort();
  }

  /** The text of a file of a commit; undefined where there is none. */
  async text(commit: string, path: string): Promise<string | undefined> {
    const [text] = await this.texts(commit, [path]);
    return text;
  }

  /** The texts of files of a commit, by one call; without those that aren't there. Throws what `refuse` makes of too much. */
  async texts(
    commit: string,
    paths: readonly string[],
    refuse = (why: string): ProblemsError => stateError(this.#place, why),
  ): Promise<string[]> {
    if (paths.length === 0) return [];
    const { root, most = MAX_BYTES } = this.settings;
    const input = paths.map((path) => `${commit}:${path}\n`).join('');
    const options = { input, most, patience: TIMEOUT };
    const found = await git(root, ['cat-file', '--batch'], options).catch((failure: unknown) => {
      throw isTooMuch(failure) ? refuse(tooLarge(most)) : localFailure(this.#place, failure);
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

  /** The message of a commit. */
  async message(commit: string): Promise<string> {
    const said = await this.#git(['cat-file', 'commit', commit]);
    return said.slice(said.indexOf('\n\n') + 2);
  }

  /** Makes commits, which no reference names yet, by one call, and gives their names. */
  async makeCommits(commits: readonly Commit[]): Promise<string[]> {
    const who = `${userName().replace(/[<>\0\n]/g, '')} <idops@localhost> ${Math.floor(Date.now() / 1000)} +0000`;
    const input = commits.flatMap(({ message, parent = null, files = new Map() }, index) => [
      `commit ${IMPORT_REF}\nmark :${index + 1}\ncommitter ${who}\n${dataOf(message)}`,
      parent === null ? '' : `from ${parent}\n`,
      ...[...files].map(([path, text]) =>
        text === null ? `D ${quoted(path)}\n` : `M 100644 inline ${quoted(path)}\n${dataOf(text)}`,
      ),
      `get-mark :${index + 1}\nreset ${IMPORT_REF}\n\n`,
    ]);
    try {
      const command = ['fast-import', '--quiet', '--done'];
      const said = await git(this.settings.root, command, { input: `${input.join('')}done\n` });
      return said.toString('utf8').trimEnd().split('\n');
    } catch (failure) {
      const told = failure instanceof GitFailed ? failure.told : '';
      const [, report] = /^fast-import: dumping crash report to (.+)$/m.exec(told) ?? [];
      if (report !== undefined) await rm(resolve(this.settings.root, report), { force: true });
      throw localFailure(this.#place, failure);
    }
  }

  /**
   * Moves references of the remote, all or none. A failure after which the remote has them so is none; where it can't be asked
   * that is tried again. Throws a ProblemsError (`not-writable`) where it refuses, or (`state-unreachable`).
   */
  async push(moves: readonly RefUpdate[]): Promise<Pushed> {
    const { remote, pauses = PAUSES } = this.settings;
    const leases = moves.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`);
    const specs = moves.map(({ ref, to }) => `${to ?? ''}:${ref}`);
    const others = moves.flatMap(({ ref }) => (ref === this.ref ? [] : [ref]));
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
        await git(this.settings.root, ['push', ...options, ...leases, remote, ...specs], REMOTE);
        return await this.#moved(moves);
      } catch (failure) {
        const now = await this.listRefs(others);
        const has = (ref: string) => (ref === this.ref ? now.branch : (now.others.get(ref) ?? null));
        const is = (compare: 'from' | 'to') => moves.every((move) => has(move.ref) === move[compare]);
        if (is('to')) return await this.#moved(moves);
        if (!is('from')) return 'moved';
        const refused = refusedBy(failure);
        // If it refused a reference, another push may have had its turn at that moment, which doesn't take long.
        const again = isForbidden(failure) ? [] : refused === undefined ? pauses : pauses.slice(0, 2);
        const pause = again[tries];
        // The remote answered the look.
        if (pause === undefined) throw pushRefused(this.#place, refused, failure);
        await sleep(pause);
      }
    }
  }

  async #moved(moves: readonly RefUpdate[]): Promise<'done'> {
    const to = moves.find(({ ref }) => ref === this.ref)?.to;
    if (to != null) await this.remember(to);
    return 'done';
  }

  /** What the remote answers; asked again where it can't be asked. Throws a ProblemsError (`state-unreachable`). */
  async #asking(command: readonly string[]): Promise<string> {
    const { root, remote, pauses = PAUSES } = this.settings;
    for (let tries = 0; ; tries += 1) {
      try {
        const said = (await git(root, command, REMOTE)).toString('utf8');
        this.#answered = true;
        return said;
      } catch (failure) {
        const again = failure instanceof NoGit ? [] : this.#answered ? pauses : pauses.slice(0, 1);
        const pause = again[tries];
        if (pause === undefined) throw unreachable(this.#place, remote, failure);
        await sleep(pause);
      }
    }
  }

  /** What git does here. Throws a ProblemsError (`not-writable`). */
  async #git(command: readonly string[], options: Parameters<typeof git>[2] = {}): Promise<string> {
    try {
      return (await git(this.settings.root, command, options)).toString('utf8');
    } catch (failure) {
      throw localFailure(this.#place, failure);
    }
  }
}

/** Where the newest known commits of branches are named here. */
const SEEN_REFS = 'refs/idops/seen';
/** The remote whose branches are named there by their names alone. */
const DEFAULT_REMOTE = 'origin';

const REMOTE = { reaches: true, patience: TIMEOUT } as const;
/** The first time all of the branch comes here. */
const FETCHING = { ...REMOTE, patience: 10 * TIMEOUT };
/** How often what was seen may have moved on before it came here. */
const FETCH_TRIES = 5;
/** What git calls a commit while it makes it; it writes no such reference. */
const IMPORT_REF = 'refs/idops/passing';

/** A text as git fast-import takes it. */
function dataOf(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** A path as git fast-import takes it. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** The text of a file in the newest known commits of branches, by the references here that name those; without those that lack it. */
export async function seenTexts(root: string, path: string): Promise<[ref: string, text: string][]> {
  const said = await git(root, ['for-each-ref', '--format=%(refname)', SEEN_REFS]);
  const found: [string, string][] = [];
  for (const ref of said.toString('utf8').split('\n').filter(Boolean)) {
    const text = await git(root, ['cat-file', 'blob', `${ref}:${path}`], { most: MAX_BYTES }).catch(
      () => undefined,
    );
    if (text !== undefined) found.push([ref, text.toString('utf8')]);
  }
  return found;
}

/** The address of a remote as it may be written down anywhere. */
export function withoutCredentials(remote: string): string {
  return remote.replace(/^(\w+:\/\/)[^/@]*(?::[^/]*)?@/, '$1');
}
