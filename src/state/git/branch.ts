import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { git, NoGit } from '../../base/git.js';
import { userName } from '../../base/user-name.js';
import { mayBeBusy, noPush, notHere, notTaken, refusedBy, unreachable } from './failures.js';

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
}

/** What the remote has. */
export interface Seen {
  /** The newest commit of the branch; null where there is none. */
  readonly branch: string | null;
  /** What the other references are that were asked for, by their names. */
  readonly others: ReadonlyMap<string, string>;
}

/** A change of one reference: what it has to be before, and what it is to be; null is nothing. */
export interface Move {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** `moved`: the remote had something else by then. Whatever else goes wrong is thrown. */
export type Pushed = 'done' | 'moved';

/** Milliseconds that a remote gets. */
const PATIENCE = 30_000;
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

  /** `place` is what a message calls what is kept there. */
  constructor(settings: BranchSettings, place: string) {
    this.settings = settings;
    this.#place = place;
    this.ref = `refs/heads/${settings.branch}`;
  }

  /** What the remote has now: the branch, and references by their names, in which `*` is anything. */
  async look(others: readonly string[]): Promise<Seen> {
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

  /** What the remote has now, brought here. Throws a ProblemsError (`state-unreachable`). */
  async see(names: readonly string[]): Promise<Seen> {
    for (let tries = 1; ; tries += 1) {
      const { branch, others } = await this.look(names);
      const seen = new Map([...(branch === null ? [] : [[this.ref, branch] as const]), ...others]);
      const failure = await this.#fetch(seen).catch((thrown: unknown) => thrown);
      if ((await this.#missing(seen)).length === 0) {
        const head = seen.get(this.ref) ?? null;
        seen.delete(this.ref);
        return { branch: head, others: seen };
      }
      if (tries >= SIGHTS) {
        throw unreachable(this.#place, this.settings.remote, failure ?? new Error('it moves all the time'));
      }
    }
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
    const shallow = (await this.#git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
    const quiet = [
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-gc',
      '--no-recurse-submodules',
    ];
    // Only what is newest is looked at, and a clone that has everything has to stay one.
    const depth = shallow ? ['--depth=1'] : [];
    const passing = new Map(missing.map((ref) => [ref, `refs/idops/passing/${randomUUID()}`]));
    const specs = [...passing].map(([ref, here]) => `+${ref}:${here}`);
    try {
      await git(root, ['fetch', ...quiet, ...depth, remote, ...specs], FETCHING);
      for (const [ref, here] of passing) {
        const sha = (await this.#git(['rev-parse', '--verify', here])).trim();
        seen.set(ref, sha);
        if (ref === this.ref) await this.#git(['update-ref', this.#seen, sha]).catch(() => '');
      }
    } finally {
      for (const here of passing.values()) await this.#git(['update-ref', '-d', here]).catch(() => '');
    }
  }

  /** The name here of what was seen last, so that the next fetch brings only what is new. */
  get #seen(): string {
    return `refs/idops/seen/${this.settings.branch}`;
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

  /** The texts of files of a commit, by one call; without those that aren't there. */
  async texts(commit: string, paths: readonly string[]): Promise<string[]> {
    if (paths.length === 0) return [];
    const input = paths.map((path) => `${commit}:${path}\n`).join('');
    const said = await this.#git(['cat-file', '--batch-check=%(objecttype) %(objectsize)'], { input });
    const sizes = said.split('\n').map((line) => Number(/^blob (\d+)$/.exec(line)?.[1] ?? Number.NaN));
    const there = paths.filter((_, index) => !Number.isNaN(sizes[index]));
    const most = sizes.reduce((sum, size) => sum + (Number.isNaN(size) ? 0 : size + HEAD), HEAD);
    const wanted = there.map((path) => `${commit}:${path}\n`).join('');
    const found = await git(this.settings.root, ['cat-file', '--batch'], { input: wanted, most }).catch(
      (failure: unknown) => {
        throw notHere(this.#place, failure);
      },
    );
    let at = 0;
    return there.map(() => {
      const begin = found.indexOf('\n', at) + 1;
      const size = Number(found.toString('latin1', at, begin).trim().split(' ').at(-1));
      at = begin + size + 1;
      return found.toString('utf8', begin, begin + size);
    });
  }

  /** The message of a commit. */
  async message(commit: string): Promise<string> {
    const said = await this.#git(['cat-file', 'commit', commit]);
    return said.slice(said.indexOf('\n\n') + 2);
  }

  /** A commit with a message and nothing in it. */
  async note(message: string): Promise<string> {
    const empty = await this.#git(['hash-object', '-t', 'tree', '-w', '--stdin']);
    return await this.#commit(empty.trim(), [], message);
  }

  /** A commit on top of another with these files changed; null is a file, or a folder, that goes. */
  async change(
    parent: string | null,
    files: ReadonlyMap<string, string | null>,
    message: string,
  ): Promise<string> {
    const index = join(tmpdir(), `idops-index-${randomUUID()}`);
    const env = { GIT_INDEX_FILE: index };
    try {
      await this.#git(['read-tree', ...(parent === null ? ['--empty'] : [parent])], { env });
      const lines: string[] = [];
      for (const [path, text] of files) {
        if (text === null) {
          const gone = (await this.#git(['ls-files', '-z', '--', path], { env })).split('\0').filter(Boolean);
          lines.push(...gone.map((one) => `0 ${'0'.repeat(parent?.length ?? 0)}\t${one}`));
        } else {
          const object = await this.#git(['hash-object', '-w', '--stdin'], { input: text });
          lines.push(`100644 ${object.trim()}\t${path}`);
        }
      }
      await this.#git(['update-index', '-z', '--index-info'], {
        env,
        input: lines.map((line) => `${line}\0`).join(''),
      });
      const tree = await this.#git(['write-tree'], { env });
      return await this.#commit(tree.trim(), parent === null ? [] : [parent], message);
    } finally {
      await rm(index, { force: true });
    }
  }

  /**
   * Moves references of the remote, all or none. A failure after which the remote has them so is none; where it can't be asked
   * that is tried again. Throws a ProblemsError (`not-writable`) where it refuses, or (`state-unreachable`).
   */
  async push(moves: readonly Move[]): Promise<Pushed> {
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
        await git(this.settings.root, ['push', ...options, ...leases, remote, ...specs], FAR);
        const to = moves.find(({ ref }) => ref === this.ref)?.to ?? null;
        if (to !== null) await this.#git(['update-ref', this.#seen, to]).catch(() => '');
        return 'done';
      } catch (failure) {
        const now = await this.look(others);
        const has = (ref: string) => (ref === this.ref ? now.branch : (now.others.get(ref) ?? null));
        const is = (compare: 'from' | 'to') => moves.every((move) => has(move.ref) === move[compare]);
        if (is('to')) return 'done';
        if (!is('from')) return 'moved';
        const refused = refusedBy(failure);
        const pause = pauses[tries];
        // Another push may have had its turn at that moment, and not be through with it.
        if (refused !== undefined && (pause === undefined || !mayBeBusy(refused)))
          throw notTaken(this.#place, refused, failure);
        if (pause === undefined) throw unreachable(this.#place, remote, failure);
        await sleep(pause);
      }
    }
  }

  /** Asks the remote whether it would take a push, as far as it says that without one. Throws as `push` does. */
  async tryPush(): Promise<void> {
    const { root, remote } = this.settings;
    const spec = `${await this.note('idops: nothing')}:refs/idops/nothing`;
    try {
      await git(root, ['push', '--dry-run', '--quiet', '--porcelain', '--no-verify', remote, spec], FAR);
    } catch (failure) {
      const refused = refusedBy(failure);
      throw refused === undefined ? noPush(this.#place, failure) : notTaken(this.#place, refused, failure);
    }
  }

  async #commit(tree: string, parents: readonly string[], message: string): Promise<string> {
    const who = { NAME: userName(), EMAIL: 'idops@localhost' };
    const env = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) =>
        Object.entries(who).map(([part, text]) => [`GIT_${role}_${part}`, text]),
      ),
    );
    const args = ['commit-tree', '--no-gpg-sign', tree, ...parents.flatMap((parent) => ['-p', parent])];
    return (await this.#git(args, { env, input: message })).trim();
  }

  /** What the remote answers; asked again where it can't be asked. Throws a ProblemsError (`state-unreachable`). */
  async #asking(command: readonly string[]): Promise<string> {
    const { root, remote, pauses = PAUSES } = this.settings;
    for (let tries = 0; ; tries += 1) {
      try {
        const said = (await git(root, command, FAR)).toString('utf8');
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
      throw notHere(this.#place, failure);
    }
  }
}

const FAR = { reaches: true, patience: PATIENCE } as const;
/** The first time all of the branch comes here. */
const FETCHING = { ...FAR, patience: 10 * PATIENCE };
/** Bytes of what git says before each file. */
const HEAD = 256;
/** How often what was seen may have moved on before it came here. */
const SIGHTS = 5;
