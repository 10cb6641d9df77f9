import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git } from '../../base/git.js';
import { userName } from '../../base/user-name.js';

/** Where a state is kept in git. */
export interface BranchSettings {
  /** The root of the work tree whose repository is used; its files and its index stay as they are. */
  readonly root: string;
  /** The name of a remote, or its address. */
  readonly remote: string;
  /** The branch of the remote that holds states and runs, and nothing else. */
  readonly branch: string;
}

/** What the remote has by two names; null where there is nothing. */
export interface Heads {
  readonly branch: string | null;
  readonly lock: string | null;
}

/** A change of one reference: what it has to be before, and what it is to be; null is nothing. */
export interface Move {
  readonly from: string | null;
  readonly to: string | null;
}

/** `moved`: the remote had something else by then. Whatever else goes wrong is thrown. */
export type Pushed = 'done' | 'moved';

/** Milliseconds that a remote gets. */
const PATIENCE = 60_000;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** A branch of a remote, and a reference beside it: each is changed only from what it is known to be. */
export class Branch {
  readonly settings: BranchSettings;
  readonly #refs: { readonly branch: string; readonly lock: string };

  /** `lock` names the reference beside the branch. */
  constructor(settings: BranchSettings, lock: string) {
    this.settings = settings;
    this.#refs = { branch: `refs/heads/${settings.branch}`, lock };
  }

  /** What the remote has now. */
  async look(): Promise<Heads> {
    const { remote } = this.settings;
    const names = Object.values(this.#refs);
    const said = await this.#git(['ls-remote', '--quiet', remote, ...names], { reaches: true });
    const found = new Map(
      said
        .split('\n')
        .map((line) => line.split('\t'))
        .map(([sha = '', name = '']) => [name, sha]),
    );
    return {
      branch: found.get(this.#refs.branch) ?? null,
      lock: found.get(this.#refs.lock) ?? null,
    };
  }

  /** Brings what the remote has of these here. */
  async fetch(heads: Heads): Promise<void> {
    const { remote } = this.settings;
    const wanted = (['branch', 'lock'] as const).filter((name) => heads[name] !== null);
    const missing = [];
    for (const name of wanted) if (!(await this.#has(heads[name] ?? ''))) missing.push(this.#refs[name]);
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
    const into = missing.map((name) => `+${name}:refs/idops/seen/${randomUUID()}`);
    try {
      await this.#git(['fetch', ...quiet, ...depth, remote, ...into], { reaches: true });
    } finally {
      // Nothing needs a name here: what is not referred to stays for two weeks.
      for (const one of into)
        await this.#git(['update-ref', '-d', one.slice(one.indexOf(':') + 1)]).catch(() => '');
    }
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
    const said = await this.#git(['ls-tree', '-z', commit, path]);
    const [, object] = /^\d+ blob ([0-9a-f]+)\t/.exec(said) ?? [];
    return object === undefined ? undefined : await this.#git(['cat-file', 'blob', object]);
  }

  /** The message of a commit. */
  async message(commit: string): Promise<string> {
    const said = await this.#git(['cat-file', 'commit', commit]);
    return said.slice(said.indexOf('\n\n') + 2);
  }

  /** A commit with a message and nothing in it. */
  async note(message: string): Promise<string> {
    await this.#git(['hash-object', '-t', 'tree', '-w', '--stdin']);
    return await this.#commit(EMPTY_TREE, [], message);
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
          lines.push(...gone.map((one) => `0 ${'0'.repeat(40)}\t${one}`));
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

  /** Moves references of the remote, all or none. A failure after which the remote has them so is none. */
  async push(moves: { readonly branch?: Move; readonly lock?: Move }): Promise<Pushed> {
    const { remote } = this.settings;
    const named = Object.entries(moves).map(([name, move]) => ({
      ref: this.#refs[name as keyof Heads],
      ...move,
    }));
    const leases = named.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`);
    const specs = named.map(({ ref, to }) => `${to ?? ''}:${ref}`);
    const options = ['--quiet', '--atomic', '--no-verify', '--no-recurse-submodules', '--no-signed'];
    try {
      await this.#git(['push', ...options, ...leases, remote, ...specs], { reaches: true });
      return 'done';
    } catch (failure) {
      const now = await this.look();
      const is = (compare: 'from' | 'to') =>
        Object.entries(moves).every(([name, move]) => now[name as keyof Heads] === move[compare]);
      if (is('to')) return 'done';
      if (!is('from')) return 'moved';
      throw failure;
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

  async #has(object: string): Promise<boolean> {
    return await this.#git(['cat-file', '-e', object]).then(
      () => true,
      () => false,
    );
  }

  async #git(command: readonly string[], options: Parameters<typeof git>[2] = {}): Promise<string> {
    const patience = options.reaches === true ? { patience: PATIENCE } : {};
    return (await git(this.settings.root, command, { ...patience, ...options })).toString('utf8');
  }
}
