import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import * as z from 'zod';
import type { ProblemsError } from '../../base/problems.js';
import { processStatus } from '../../base/process.js';
import { parseShardName, type Shard, shardName } from '../../base/shard.js';
import type { FoundLock, Lock, LockStatus, LockStore } from '../backend.js';
import {
  lockStatus as heldBy,
  holderSchema,
  lockedError,
  lockLostError,
  ownHolder,
  PROCESS_GONE,
  parseHolder,
  takeoverNote,
} from '../holder.js';
import { Branch, type BranchSettings, type Commit, type RemoteRefs } from './branch.js';
import { foreignBranch, tooManyConflicts } from './failures.js';

/** How often a change is retried if somebody else pushed first. */
const TRIES = 300;
/** The longest random pause before that, in milliseconds: two processes must not collide each time. */
const PAUSE = 200;
/** Milliseconds for which the last fetch is fresh. */
const FETCH_LIFETIME = 1000;
const NEVER = Number.NEGATIVE_INFINITY;

/** The file by which idops recognises its own branch. */
const README = 'README.md';
const TITLE = '# The state of idops';
const README_TEXT = `${TITLE}

idops writes this branch: what it applied is recorded in the \`.json\` files, and each run has its journal in \`runs\`. The history
is the audit log. Change nothing by hand, and merge it nowhere.
`;

/** Files by their paths; null removes a file or a folder. */
type Files = ReadonlyMap<string, string | null>;

export interface Change {
  readonly files: Files;
  readonly message: string;
}

/** A lock of this process, and its commit. */
interface HeldLock {
  readonly ref: string;
  readonly holder: Holder;
  readonly at: string;
}

/** The branch and the locks of a state, as last fetched. Changes are made one after the other. */
export class Store implements LockStore {
  readonly #branch: Branch;
  readonly #place: string;
  readonly #inTurn = pLimit(1);
  /** The reference of the lock of the whole state. That of a shard adds a dot and its name: git allows no reference below another. */
  readonly #whole: string;
  #head: string | null = null;
  #fetchedAt = NEVER;
  #held: HeldLock | undefined;
  #lost: ProblemsError | undefined;
  /** Whether others seem to change the branch too, so that a push without a fetch would fail. */
  #isShared = false;
  /** Whether idops is known to have created the branch. */
  #isIdopsBranch = false;

  /** `lock` names the lock among those of the branch's other states; `place` names the state in messages. */
  constructor(settings: BranchSettings, lock: string, place: string) {
    this.#branch = new Branch(settings, place);
    this.#whole = `refs/idops/lock/${settings.branch}/${lock}`;
    this.#place = place;
  }

  /**
   * Reads from the remote's newest commit; undefined if there is no branch. While this process holds the lock of the whole state, it
   * fetches only once.
   */
  async read<T>(work: (head: string, branch: Branch) => Promise<T>): Promise<T | undefined> {
    const head = await this.#inTurn(async () => {
      const isOnly = this.#held?.ref === this.#whole && this.#fetchedAt !== NEVER;
      if (!isOnly && performance.now() - this.#fetchedAt >= FETCH_LIFETIME) await this.#fetch([]);
      return this.#head;
    });
    return head === null ? undefined : await work(head, this.#branch);
  }

  async #fetch(locks: readonly string[]): Promise<RemoteRefs> {
    const seen = await this.#branch.fetch(locks);
    const { branch: head } = seen;
    if (head !== null && !this.#isIdopsBranch) {
      const about = await this.#branch.text(head, README);
      if (about?.startsWith(TITLE) !== true) throw foreignBranch(this.#place);
      this.#isIdopsBranch = true;
    }
    if (head !== null) await this.#branch.remember(head);
    this.#head = head;
    this.#fetchedAt = performance.now();
    return seen;
  }

  #refOf(shard: Shard | undefined): string {
    return shard === undefined ? this.#whole : `${this.#whole}.${shardName(shard)}`;
  }

  /** The current commit of a lock; null if there is none. */
  async #lockAt(ref: string): Promise<string | null> {
    return (await this.#fetch([ref])).others.get(ref) ?? null;
  }

  async list(): Promise<readonly FoundLock[]> {
    return await this.#inTurn(async () => {
      // The same answer has the branch: if no lock is in the way, nobody changes it afterwards.
      const { others } = await this.#fetch([this.#whole, `${this.#whole}.*-of-*`]);
      const found: FoundLock[] = [];
      for (const [ref, lock] of others) {
        const shard = parseShardName(ref.slice(this.#whole.length + 1));
        if (ref !== this.#whole && (shard === undefined || this.#refOf(shard) !== ref)) continue;
        const holder = await this.#holder(lock);
        found.push({
          ...statusOf(holder),
          ...(shard === undefined ? {} : { shard }),
          nonce: holder?.nonce ?? null,
          place: this.#place,
          removeIfUnchanged: () => this.#inTurn(() => this.#removeLock(ref, lock)),
        });
      }
      return found;
    });
  }

  async #removeLock(ref: string, lock: string): Promise<boolean> {
    // The holder may have written until now.
    this.#fetchedAt = NEVER;
    return (await this.#branch.push([{ ref, from: lock, to: null }])) === 'done';
  }

  /**
   * Commits changes of files on top of others' commits, and returns the change that succeeded. A lock of this process is renewed; throws
   * a ProblemsError (`locked`) if it was lost. `needsLatest`: the change depends on the newest commit.
   */
  async change<C extends Change>(
    work: (head: string | null, branch: Branch) => C | Promise<C>,
    needsLatest = false,
  ): Promise<C> {
    return await this.#inTurn(async () => {
      for (let tries = 1; tries <= TRIES; tries += 1) {
        if (this.#lost !== undefined) throw this.#lost;
        if (tries > 1 || needsLatest || this.#isShared || this.#head === null) {
          const last = this.#head;
          if (this.#held === undefined) await this.#fetch([]);
          else await this.#confirm(this.#held);
          this.#isShared &&= tries > 1 || last !== this.#head;
        }
        const from = this.#head;
        const changed = await work(from, this.#branch);
        const about = from === null ? [[README, README_TEXT] as const] : [];
        const files = new Map([...about, ...changed.files]);
        const held = this.#held;
        const holder = held && renewedHolder(held.holder);
        const notes = holder === undefined ? [] : [lockCommit(holder)];
        const change = { parent: from, files, message: changed.message };
        const [to = '', at = ''] = await this.#branch.makeCommits([change, ...notes]);
        const lock = held === undefined ? [] : [{ ref: held.ref, from: held.at, to: at }];
        const pushed = await this.#branch.push([{ ref: this.#branch.ref, from, to }, ...lock]);
        if (pushed === 'done') {
          this.#head = to;
          this.#fetchedAt = performance.now();
          this.#held = held && holder && { ref: held.ref, holder, at };
          return changed;
        }
        this.#isShared = true;
        await sleep(Math.random() * Math.min(PAUSE, 10 * tries));
      }
      throw tooManyConflicts(this.#place, TRIES);
    });
  }

  /** Takes a lock and keeps renewing it. Throws a ProblemsError (`locked`) if somebody has it, or this process has another one. */
  async take(command: string, now: Date, shard?: Shard): Promise<Lock> {
    return await this.#inTurn(async () => {
      const ref = this.#refOf(shard);
      // A second lock would replace the first, which would no longer be renewed.
      if (this.#held !== undefined && this.#held.ref !== ref && this.#lost === undefined)
        throw lockedError(statusOf(this.#held.holder), this.#place);
      const from = await this.#lockAt(ref);
      const other = from === null ? undefined : await this.#holder(from);
      if (other !== undefined && !isExpired(other)) throw lockedError(statusOf(other), this.#place);
      const own = { ...ownHolder(command, now), expires: '', nonce: randomUUID() };
      const taken = await this.#makeRenewed({ ref, holder: own });
      if ((await this.#branch.push([{ ref, from, to: taken.at }])) === 'moved') {
        const lock = await this.#lockAt(ref);
        throw lockedError(statusOf(lock === null ? null : await this.#holder(lock)), this.#place);
      }
      this.#held = taken;
      this.#lost = undefined;
      // Another holder may have written until now.
      this.#fetchedAt = NEVER;
      this.#isShared = shard !== undefined;
      const renew = () =>
        this.#inTurn(async () => {
          const held = this.#current(taken);
          if (held !== undefined) await this.#renew(held);
        });
      const timer = setInterval(() => void renew().catch(() => {}), LEASE / 3);
      timer.unref();
      return {
        takenOver: other === undefined ? null : takeoverNote(statusOf(other)),
        fenced: true,
        lease: LEASE / 2,
        confirm: () =>
          this.#inTurn(async () => {
            await this.#confirm(taken);
            const held = this.#current(taken);
            // After this machine slept, another may take the lock over at any moment.
            if (held !== undefined && Date.parse(held.holder.expires) - Date.now() < LEASE / 2)
              await this.#renew(held);
          }),
        release: async () => {
          clearInterval(timer);
          // If this fails, the lease runs out.
          await this.#inTurn(() => this.#release(taken)).catch(() => {});
          return [];
        },
      };
    });
  }

  async #release(taken: HeldLock): Promise<void> {
    const { at } = this.#current(taken) ?? taken;
    if (this.#current(taken) !== undefined) this.#held = undefined;
    this.#fetchedAt = NEVER;
    await this.#branch.push([{ ref: taken.ref, from: at, to: null }]);
  }

  /** The current lock, if it is still this one. */
  #current({ holder }: HeldLock): HeldLock | undefined {
    return this.#held?.holder.nonce === holder.nonce ? this.#held : undefined;
  }

  async #renew(held: HeldLock): Promise<void> {
    const renewed = await this.#makeRenewed(held);
    const pushed = await this.#branch.push([{ ref: held.ref, from: held.at, to: renewed.at }]);
    if (pushed === 'done') this.#held = renewed;
    else await this.#confirm(held);
  }

  async #makeRenewed({ ref, holder }: Pick<HeldLock, 'ref' | 'holder'>): Promise<HeldLock> {
    const next = renewedHolder(holder);
    const [at = ''] = await this.#branch.makeCommits([lockCommit(next)]);
    return { ref, holder: next, at };
  }

  async #confirm(taken: HeldLock): Promise<void> {
    const { ref, holder } = taken;
    const at = await this.#lockAt(ref);
    const now = at === null ? undefined : await this.#holder(at);
    const isOwn = this.#current(taken) !== undefined;
    if (at !== null && now?.nonce === holder.nonce) {
      // The lock may have a newer commit, from a push without an answer.
      if (isOwn) this.#held = { ref, holder: now, at };
      return;
    }
    const failure = lockLostError(now, this.#place);
    if (isOwn) this.#lost = failure;
    throw failure;
  }

  async #holder(commit: string): Promise<Holder | null> {
    return parseHolder(schema, await this.#branch.message(commit));
  }
}

/** The holder with a new lease. */
function renewedHolder(holder: Holder): Holder {
  return { ...holder, expires: new Date(Date.now() + LEASE).toISOString() };
}

/** A lock is an empty commit. */
function lockCommit(holder: Holder): Commit {
  // Without a unique value, two locks of one second would be the same commit.
  return { message: JSON.stringify({ ...holder, turn: randomUUID() }) };
}

const schema = holderSchema.extend({ expires: z.iso.datetime(), nonce: z.string() });

/** Who holds a lock, and until when (ISO 8601, UTC). */
type Holder = z.infer<typeof schema>;

/** The lease of a lock, in milliseconds. */
const LEASE = 10 * 60_000;
/** Milliseconds by which clocks of machines may differ. */
const SKEW = 5 * 60_000;

/** Whether a lock has ended: its process is gone, or its lease ran out. */
function isExpired(holder: Holder | null): holder is Holder {
  return holder !== null && (processStatus(holder) === 'gone' || Date.now() > takeoverTime(holder));
}

/** When a lock that isn't renewed may be taken over; a time of `Date.now()`. */
function takeoverTime({ expires }: Holder): number {
  return Date.parse(expires) + SKEW;
}

/** The status of a lock, with its lease. */
function statusOf(holder: Holder | null): LockStatus {
  // Only a process of this host is known to be gone.
  const end =
    holder === null || processStatus(holder) === 'gone'
      ? PROCESS_GONE
      : `whose lease ran out at ${holder.expires} and was not renewed`;
  const status = heldBy(holder, isExpired(holder) ? 'gone' : undefined, end);
  if (holder === null || status.unknownReason === null) return status;
  const last = `its lock ends at ${new Date(takeoverTime(holder)).toISOString()} unless it is renewed`;
  return { ...status, unknownReason: `${status.unknownReason}, and ${last}` };
}
