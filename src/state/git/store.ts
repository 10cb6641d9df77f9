import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { ProblemsError } from '../../base/problems.js';
import { fateOf, ownMark } from '../../base/process.js';
import { userName } from '../../base/user-name.js';
import type { Holding, Lock, Removable } from '../backend.js';
import { whereElse } from '../holder.js';
import { Branch, type BranchSettings, type Heads } from './branch.js';
import { outrun } from './failures.js';
import {
  describe,
  endInWords,
  type Holder,
  holderOf,
  isOver,
  LEASE,
  locked,
  lostTo,
  NOBODY,
  notOwn,
} from './holder.js';

/** How often a change is made anew where somebody else was quicker. */
const TRIES = 300;
/** Milliseconds that are waited then, at most: two that are equally quick must not meet again each time. */
const PAUSE = 200;
/** Milliseconds for which what was seen of the remote is read from. */
const FRESH = 1000;

/** What tells a branch of states from others, and tells a person what it is. */
const ABOUT = 'README.md';
const TITLE = '# The state of idops';
const TEXT = `${TITLE}

idops writes this branch: what it applied is recorded in the \`.json\` files, and each run has its journal in \`runs\`. The history
is the audit log. Change nothing by hand, and merge it nowhere.
`;

/** Files by their paths on the branch; null is a file, or a folder, that goes. */
export type Files = ReadonlyMap<string, string | null>;

/** What the branch and the lock of a state are known to be, and the changes of both, one after the other. */
export class Store {
  readonly #branch: Branch;
  readonly #place: string;
  readonly #inTurn = pLimit(1);
  #heads: Heads = { branch: null, lock: null };
  #seenAt = Number.NEGATIVE_INFINITY;
  #held: { readonly holder: Holder; readonly at: string } | undefined;
  #lost: ProblemsError | undefined;
  /** Whether the branch was found to be one that idops made. */
  #isOwn = false;

  /** `lock` names the lock beside those of the branch's other states, `place` is what a message calls the state. */
  constructor(settings: BranchSettings, lock: string, place: string) {
    this.#branch = new Branch(settings, `refs/idops/lock/${settings.branch}/${lock}`, place);
    this.#place = place;
  }

  /** Reads from what the remote has; undefined where there is no branch. With the lock held nobody else changes it. */
  async read<T>(work: (head: string, branch: Branch) => Promise<T>): Promise<T | undefined> {
    const { branch: head } = await this.#inTurn(async () => {
      const isFresh = this.#held !== undefined || performance.now() - this.#seenAt < FRESH;
      return isFresh ? this.#heads : await this.#see();
    });
    return head === null ? undefined : await work(head, this.#branch);
  }

  async #see(): Promise<Heads> {
    this.#heads = await this.#branch.see();
    const { branch: head } = this.#heads;
    if (head !== null && !this.#isOwn) {
      const about = await this.#branch.text(head, ABOUT);
      if (about?.startsWith(TITLE) !== true) throw notOwn(this.#place);
      this.#isOwn = true;
    }
    this.#seenAt = performance.now();
    return this.#heads;
  }

  /**
   * Changes files on the branch, on top of whatever others have put there; with the lock held, only as long as it is, which is
   * renewed by it. Throws a ProblemsError (`locked`) where it was lost.
   */
  async change(
    files: (head: string | null, branch: Branch) => Files | Promise<Files>,
    message: string,
  ): Promise<void> {
    await this.#inTurn(async () => {
      for (let tries = 1; tries <= TRIES; tries += 1) {
        if (this.#lost !== undefined) throw this.#lost;
        if (tries > 1 || this.#heads.branch === null) await this.#see();
        const { branch: from } = this.#heads;
        const changed = await files(from, this.#branch);
        const about = from === null ? [[ABOUT, TEXT] as const] : [];
        const to = await this.#branch.change(from, new Map([...about, ...changed]), message);
        const renewed = this.#held === undefined ? undefined : await this.#renewed(this.#held.holder);
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
        if (this.#held !== undefined) await this.#confirm(this.#held.holder);
        await sleep(Math.random() * Math.min(PAUSE, 10 * tries));
      }
      throw outrun(this.#place, TRIES);
    });
  }

  /** Takes the lock, for as long as it is renewed. Throws a ProblemsError (`locked`) where somebody has it. */
  async lock(command: string, now: Date): Promise<Lock> {
    return await this.#inTurn(async () => {
      const { lock: from } = await this.#see();
      const other = from === null ? undefined : await this.#holder(from);
      if (other !== undefined && !isOver(other)) throw locked(this.#place, other);
      const mark = { ...ownMark(), command, at: now.toISOString(), expires: '', nonce: randomUUID() };
      const made = await this.#renewed({ user: userName(), ...mark });
      if ((await this.#branch.push({ lock: { from, to: made.at } })) === 'moved') {
        const { lock } = await this.#see();
        throw locked(this.#place, lock === null ? null : await this.#holder(lock));
      }
      this.#held = made;
      this.#lost = undefined;
      const timer = setInterval(() => void this.#renew().catch(() => {}), LEASE / 3);
      timer.unref();
      return {
        takenOver: other === undefined ? null : `took over the lock of ${describe(other)}, which is gone`,
        fenced: true,
        confirm: () => this.#inTurn(() => this.#confirm(made.holder)),
        release: async () => {
          clearInterval(timer);
          // One that can't be given back now ends by itself.
          await this.#inTurn(() => this.#release(made)).catch(() => {});
        },
      };
    });
  }

  async #release(made: { readonly at: string }): Promise<void> {
    const { at } = this.#held ?? made;
    this.#held = undefined;
    this.#seenAt = Number.NEGATIVE_INFINITY;
    await this.#branch.push({ lock: { from: at, to: null } });
  }

  /** The lock as it stands; null where there is none. */
  async holding(): Promise<Holding | null> {
    const { lock } = await this.#inTurn(() => this.#see());
    if (lock === null) return null;
    const holder = await this.#holder(lock);
    if (holder === null) return { holder: NOBODY, readable: false, fate: 'unknown', elsewhere: null };
    const fate = isOver(holder) ? 'gone' : fateOf(holder);
    const elsewhere = whereElse(holder);
    const end = `, and its lock ends by itself at ${endInWords(holder)} where nothing renews it`;
    return {
      holder: describe(holder),
      readable: true,
      fate,
      elsewhere: fate === 'unknown' && elsewhere !== null ? elsewhere + end : null,
    };
  }

  /** The lock, to be removed; null where there is none. Throws a ProblemsError (`locked`) where its holder surely runs. */
  async removable(): Promise<Removable | null> {
    const { lock } = await this.#inTurn(() => this.#see());
    if (lock === null) return null;
    const holder = await this.#holder(lock);
    if (holder !== null && holder.pid !== process.pid && fateOf(holder) === 'alive')
      throw locked(this.#place, holder);
    return {
      holder: describe(holder),
      remove: async () => {
        const { lock: now } = await this.#inTurn(() => this.#see());
        const other = now === null ? undefined : await this.#holder(now);
        if (now === null || other === undefined) return;
        if (other !== null && other.nonce !== holder?.nonce) throw locked(this.#place, other);
        await this.#branch.push({ lock: { from: now, to: null } });
      },
    };
  }

  async #renew(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#held === undefined) return;
      const renewed = await this.#renewed(this.#held.holder);
      const pushed = await this.#branch.push({ lock: { from: this.#held.at, to: renewed.at } });
      if (pushed === 'done') this.#held = renewed;
      else await this.#confirm(this.#held.holder);
    });
  }

  async #renewed(holder: Holder): Promise<{ readonly holder: Holder; readonly at: string }> {
    const next = { ...holder, expires: new Date(Date.now() + LEASE).toISOString() };
    // Two that were made in one second would be one commit.
    return { holder: next, at: await this.#branch.note(JSON.stringify({ ...next, turn: randomUUID() })) };
  }

  async #confirm({ nonce }: Holder): Promise<void> {
    const { lock } = await this.#see();
    const now = lock === null ? undefined : await this.#holder(lock);
    if (now?.nonce === nonce) return;
    this.#lost = lostTo(this.#place, now);
    throw this.#lost;
  }

  async #holder(commit: string): Promise<Holder | null> {
    return holderOf(await this.#branch.message(commit));
  }
}
