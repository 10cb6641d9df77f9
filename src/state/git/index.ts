import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import * as z from 'zod';
import { stringifyJson } from '../../base/json.js';
import { error, ProblemsError } from '../../base/problems.js';
import { fateOf, ownMark } from '../../base/process.js';
import { processMark } from '../../base/process-mark.js';
import { userName } from '../../base/user-name.js';
import type { Holding, Lock, Removable, RunStore, StateBackend, StateName } from '../backend.js';
import { isUnderWay, type Journal, type JournalContent, type JournalLine, underWay } from '../journal.js';
import { journalOf } from '../journal-text.js';
import { emptyState, type State } from '../state.js';
import { ofServer, stateData, stateOf } from '../state-text.js';
import { Branch, type BranchSettings, type Heads } from './branch.js';

/** Where a state lies in git. */
export interface GitSettings extends BranchSettings {
  /** The file of the state on the branch, such as `state.json`. */
  readonly path: string;
}

const holderSchema = z.object({
  user: z.string(),
  ...processMark,
  command: z.string(),
  at: z.string(),
  expires: z.string(),
  nonce: z.string(),
});
type Holder = z.infer<typeof holderSchema>;

/** Milliseconds for which a lock is held without being renewed. */
const LEASE = 10 * 60_000;
/** Milliseconds by which clocks of machines may differ. */
const SKEW = 5 * 60_000;
/** How often a change is made anew where somebody else was quicker. */
const TRIES = 20;

/** The backend that keeps states and runs as commits on a branch of a remote, for runs on any machine. */
export function gitBackend(settings: GitSettings): StateBackend {
  const { remote, branch, path } = settings;
  const store = new Store(settings);
  const place = `${path} on the branch ${branch} of ${remote}`;
  const saved = async (): Promise<State | undefined> => {
    const data = await store.read((head, of) =>
      of.text(head, path).then((text) => text && stateData(text, place)),
    );
    return data === undefined ? undefined : stateOf(data, place);
  };
  return {
    place,
    name: path,
    runs: gitRuns(store, place),
    async load(server) {
      const state = await saved();
      return state === undefined ? emptyState(server) : ofServer(state, place, server);
    },
    saved,
    save: (state) =>
      store.change(
        () => new Map([[path, `${stringifyJson(state, 2)}\n`]]),
        `idops: ${path}, serial ${state.serial}`,
      ),
    told: () => store.named(path),
    async beside() {
      const others = (await store.states()).filter((one) => one !== path);
      const names = await Promise.all(others.map((one) => store.named(one)));
      return names.filter((name) => name !== undefined);
    },
    lock: (command, now) => store.lock(command, now),
    async holder() {
      const holding = await store.holding();
      return holding === null || holding.fate === 'gone' ? null : holding.holder;
    },
    holding: () => store.holding(),
    removable: () => store.removable(),
    async check() {
      await store.look();
    },
  };
}

const nameSchema = z.object({ lineage: z.string(), salt: z.string(), resources: z.unknown() });

/** What the branch and the lock are known to be, and the changes of both, one after the other. */
class Store {
  readonly #branch: Branch;
  readonly #place: string;
  readonly #inTurn = pLimit(1);
  #heads: Heads = { branch: null, lock: null };
  #held: { holder: Holder; at: string } | undefined;
  #lost: ProblemsError | undefined;

  constructor({ path, ...settings }: GitSettings) {
    this.#branch = new Branch(settings, `refs/idops/lock/${settings.branch}/${path}`);
    this.#place = path;
  }

  /** Finds out what the remote has now, and brings it here. */
  async look(): Promise<Heads> {
    this.#heads = await this.#branch.look();
    await this.#branch.fetch(this.#heads);
    return this.#heads;
  }

  /** Reads from what the remote has now; undefined where there is no branch. */
  async read<T>(work: (head: string, branch: Branch) => Promise<T>): Promise<T | undefined> {
    const { branch: head } = await this.#inTurn(() => this.look());
    return head === null ? undefined : await work(head, this.#branch);
  }

  async states(): Promise<string[]> {
    const names = await this.read((head, branch) => branch.list(head, '', 'blob'));
    return (names ?? []).filter((name) => name.endsWith('.json'));
  }

  async named(path: string): Promise<StateName | undefined> {
    const text = await this.read((head, branch) => branch.text(head, path));
    try {
      return text === undefined ? undefined : nameSchema.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  /** Changes files on the branch, on top of whatever others have put there; with the lock held, only as long as it is. */
  async change(
    files: (
      head: string | null,
      branch: Branch,
    ) => ReadonlyMap<string, string | null> | Promise<ReadonlyMap<string, string | null>>,
    message: string,
  ): Promise<void> {
    await this.#inTurn(async () => {
      for (let tries = 1; tries <= TRIES; tries += 1) {
        if (this.#lost !== undefined) throw this.#lost;
        if (tries > 1 || this.#heads.branch === null) await this.look();
        const { branch: from } = this.#heads;
        const to = await this.#branch.change(from, await files(from, this.#branch), message);
        const renewed = this.#held === undefined ? undefined : await this.#renewed(this.#held);
        const lock = renewed && this.#held && { from: this.#held.at, to: renewed.at };
        const pushed = await this.#branch.push({
          branch: { from, to },
          ...(lock === undefined ? {} : { lock }),
        });
        if (pushed === 'done') {
          this.#heads = { branch: to, lock: lock?.to ?? this.#heads.lock };
          if (renewed !== undefined) this.#held = renewed;
          return;
        }
        if (this.#held !== undefined) await this.#confirm(this.#held);
      }
      throw new Error(`others changed the branch ${TRIES} times meanwhile`);
    });
  }

  async lock(command: string, now: Date): Promise<Lock> {
    return await this.#inTurn(async () => {
      const holder: Holder = {
        user: userName(),
        ...ownMark(),
        command,
        at: now.toISOString(),
        expires: '',
        nonce: randomUUID(),
      };
      const { lock: from } = await this.look();
      const other = from === null ? undefined : await this.#holderOf(from);
      if (other !== undefined && !isOver(other)) throw locked(this.#place, other);
      const made = await this.#renewed({ holder, at: '' });
      if ((await this.#branch.push({ lock: { from, to: made.at } })) === 'moved') {
        const { lock } = await this.look();
        throw locked(this.#place, lock === null ? null : await this.#holderOf(lock));
      }
      this.#held = made;
      this.#lost = undefined;
      const timer = setInterval(() => void this.#renew().catch(() => {}), LEASE / 3);
      timer.unref();
      return {
        takenOver: other === undefined ? null : `took over the lock of ${describe(other)}, which is gone`,
        confirm: () => this.#inTurn(async () => await this.#confirm(this.#held ?? made)),
        release: () =>
          this.#inTurn(async () => {
            clearInterval(timer);
            const { at } = this.#held ?? made;
            this.#held = undefined;
            await this.#branch.push({ lock: { from: at, to: null } });
          }),
      };
    });
  }

  async holding(): Promise<Holding | null> {
    const { lock } = await this.#inTurn(() => this.look());
    if (lock === null) return null;
    const holder = await this.#holderOf(lock);
    if (holder === null) return { holder: UNREADABLE, readable: false, fate: 'unknown', elsewhere: null };
    const fate = isOver(holder) ? 'gone' : fateOf(holder);
    return { holder: describe(holder), readable: true, fate, elsewhere: null };
  }

  async removable(): Promise<Removable | null> {
    const { lock } = await this.#inTurn(() => this.look());
    if (lock === null) return null;
    const holder = await this.#holderOf(lock);
    if (holder !== null && holder.pid !== process.pid && fateOf(holder) === 'alive')
      throw locked(this.#place, holder);
    return {
      holder: holder === null ? UNREADABLE : describe(holder),
      remove: async () => {
        const { lock: now } = await this.#inTurn(() => this.look());
        const other = now === null ? undefined : await this.#holderOf(now);
        if (now === null || other === undefined) return;
        if (other !== null && other.nonce !== holder?.nonce) throw locked(this.#place, other);
        await this.#branch.push({ lock: { from: now, to: null } });
      },
    };
  }

  async #renew(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#held === undefined) return;
      const renewed = await this.#renewed(this.#held);
      const pushed = await this.#branch.push({ lock: { from: this.#held.at, to: renewed.at } });
      if (pushed === 'done') this.#held = renewed;
      else await this.#confirm(this.#held);
    });
  }

  async #renewed({ holder }: { holder: Holder; at: string }): Promise<{ holder: Holder; at: string }> {
    const next = { ...holder, expires: new Date(Date.now() + LEASE).toISOString() };
    // Two that were made in one second would be one commit.
    return { holder: next, at: await this.#branch.note(JSON.stringify({ ...next, turn: randomUUID() })) };
  }

  /** Throws a ProblemsError (`locked`) where the lock is no longer one's own. */
  async #confirm({ holder }: { holder: Holder }): Promise<void> {
    const { lock } = await this.look();
    const now = lock === null ? undefined : await this.#holderOf(lock);
    if (now?.nonce === holder.nonce) return;
    const who =
      now === undefined
        ? 'it was removed'
        : `somebody else has it: ${now === null ? UNREADABLE : describe(now)}`;
    this.#lost = new ProblemsError([
      error(
        'locked',
        `the lock of the state was lost: ${who} (${this.#place})`,
        [],
        'find out who removes locks, and run it again once no other run is under way',
      ),
    ]);
    throw this.#lost;
  }

  async #holderOf(commit: string): Promise<Holder | null> {
    try {
      return holderSchema.parse(JSON.parse(await this.#branch.message(commit)));
    } catch {
      return null;
    }
  }
}

const UNREADABLE = 'something that left no name';

function isOver(holder: Holder | null): holder is Holder {
  return holder !== null && (fateOf(holder) === 'gone' || Date.now() > Date.parse(holder.expires) + SKEW);
}

function describe({ user, host, pid, command, at }: Holder): string {
  return `${command} by ${user} on ${host}, process ${pid}, since ${at}`;
}

function locked(place: string, holder: Holder | null): ProblemsError {
  const who = holder === null ? UNREADABLE : describe(holder);
  const until = holder === null ? '' : `, at the latest until ${holder.expires} if that process is gone`;
  return new ProblemsError([
    error(
      'locked',
      `the state is locked: ${who} (${place})`,
      [],
      `wait until it has ended${until}; if it surely is, idops runs unlock removes the lock`,
    ),
  ]);
}

/** The journals on the branch: a folder for each run, with a file for all lines that were written at once. */
function gitRuns(store: Store, place: string): RunStore {
  const folder = (run: string): string => `runs/${run}`;
  const batches = async (run: string): Promise<string[]> =>
    (await store.read((head, branch) => branch.list(head, folder(run), 'blob'))) ?? [];
  const read = async (run: string): Promise<string> => {
    const found = await store.read(async (head, branch) => {
      const names = await branch.list(head, folder(run), 'blob');
      return await Promise.all(names.map((name) => branch.text(head, `${folder(run)}/${name}`)));
    });
    return (found ?? []).join('');
  };
  return {
    list: async () => (await store.read((head, branch) => branch.list(head, 'runs', 'tree'))) ?? [],
    read: async (run) => journalOf(await read(run), run, `${run} in ${place}`),
    async hasEnd(run) {
      const last = (await batches(run)).at(-1);
      const text = await store.read((head, branch) => branch.text(head, `${folder(run)}/${last}`));
      return (text ?? '').trimEnd().split('\n').at(-1)?.startsWith('{"type":"end"') === true;
    },
    async create(first) {
      const { run } = first;
      await store.change(async (head, branch) => {
        if (head !== null && (await branch.list(head, folder(run), 'blob')).length > 0) {
          throw new Error(`there is a journal of ${run} already`);
        }
        return new Map([[`${folder(run)}/${numbered(0)}`, lines([first])]]);
      }, `idops: run ${run} begins`);
      return new GitJournal(store, run, 1);
    },
    async reopen(content: JournalContent) {
      if (isUnderWay(content)) throw underWay(content.run);
      const { run } = content.run;
      return new GitJournal(store, run, (await batches(run)).length);
    },
    async remove(runs) {
      await store.change(
        () => new Map(runs.map((run) => [folder(run), null])),
        `idops: ${runs.length} journals removed`,
      );
    },
  };
}

function numbered(number: number): string {
  return `${String(number).padStart(8, '0')}.jsonl`;
}

function lines(of: readonly JournalLine[]): string {
  return of.map((line) => `${stringifyJson(line)}\n`).join('');
}

interface Waiting {
  readonly line: JournalLine;
  readonly done: () => void;
  readonly failed: (reason: unknown) => void;
}

/** Lines that come while a push is under way go together with the next. */
class GitJournal implements Journal {
  readonly #store: Store;
  readonly #run: string;
  #number: number;
  #waiting: Waiting[] = [];
  #pushing: Promise<void> | undefined;

  constructor(store: Store, run: string, number: number) {
    this.#store = store;
    this.#run = run;
    this.#number = number;
  }

  write(line: JournalLine): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ line, done, failed });
      this.#pushing ??= this.#push();
    });
  }

  async #push(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const path = `runs/${this.#run}/${numbered(this.#number)}`;
        const text = lines(batch.map(({ line }) => line));
        await this.#store.change(() => new Map([[path, text]]), `idops: run ${this.#run}`);
        this.#number += 1;
        for (const { done } of batch) done();
      } catch (failure) {
        for (const { failed } of batch) failed(failure);
      }
    }
    this.#pushing = undefined;
  }

  async close(): Promise<void> {
    await this.#pushing;
  }
}
