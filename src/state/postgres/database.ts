import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { ProblemsError } from '../../base/problems.js';
import { Connection, type Statements, type Times } from './connection.js';
import { isOfDatabase, isTransient, NoAnswer, type Operation, problemOf } from './failures.js';
import type { Target } from './settings.js';
import { haveTables } from './tables.js';

/** Some work with the database; `again` says that it was begun before, and cut off: nobody knows how far it came. */
export type Work<T> = (statements: Statements, again: boolean) => Promise<T>;

/** Who holds a lock in the database, for as long as a session of its own lives. */
export interface LockOwner {
  /** Takes up on a new connection what it had on one that was cut. Throws a ProblemsError (`locked`) where it can't. */
  reconnected(statements: Statements): Promise<void>;
}

/**
 * A database with one connection, which is made when it is needed and closed when it isn't. All work is done one after the other on it. What
 * was cut off while it was done, or while a lock is held, is tried again for a while.
 */
export class Database {
  readonly target: Target;
  readonly times: Times;
  readonly #inTurn = pLimit(1);
  #connection: Connection | undefined;
  #keeper: LockOwner | undefined;
  #hasTables = false;
  #idle: NodeJS.Timeout | undefined;
  /** Whether it was waited for in vain: what is asked of it next finds out whether it is back, and waits no more. */
  #isAway = false;

  constructor(target: Target, times: Times) {
    this.target = target;
    this.times = times;
  }

  /** Reads; `none` is what there is where nothing was written yet. Throws a ProblemsError. */
  async read<T>(none: T, work: Work<T>): Promise<T> {
    return await this.#do('read', async (connection, again) =>
      (await this.#tables(connection, false)) ? await work(connection, again) : none,
    );
  }

  /** Writes, and makes the tables where there are none. Throws a ProblemsError. */
  async write<T>(work: Work<T>): Promise<T> {
    return await this.#do('write', async (connection, again) => {
      await this.#tables(connection, true);
      return await work(connection, again);
    });
  }

  /** From now on the connection stays, and whoever keeps a lock on it is told of a new one. */
  keep(keeper: LockOwner): void {
    clearTimeout(this.#idle);
    this.#keeper = keeper;
  }

  /** Nobody keeps a lock any more. */
  drop(): void {
    this.#keeper = undefined;
  }

  async #do<T>(doing: Operation, work: (connection: Connection, again: boolean) => Promise<T>): Promise<T> {
    return await this.#inTurn(async () => {
      clearTimeout(this.#idle);
      try {
        return await this.#patiently(doing, work);
      } finally {
        this.#rest();
      }
    });
  }

  async #patiently<T>(
    doing: Operation,
    work: (connection: Connection, again: boolean) => Promise<T>,
  ): Promise<T> {
    const { patience, pause, longestPause } = this.times;
    // What takes long to fail is tried again all the same.
    let until: number | undefined;
    let begun = false;
    for (let tries = 0; ; tries += 1) {
      let stage: Operation = 'reach';
      try {
        const connection = await this.#connected();
        stage = doing;
        const again = begun;
        begun = true;
        const done = await work(connection, again);
        this.#isAway = false;
        return done;
      } catch (failure) {
        if (failure instanceof ProblemsError) throw failure;
        const wasCut = this.#connection === undefined || this.#connection.gone;
        // Anything else is a mistake of ours.
        if (!wasCut && !isOfDatabase(failure)) throw failure;
        const isKept = this.#keeper !== undefined;
        // Where nothing answers and nothing was begun, the URL may be wrong: that is said at once.
        const isThere = isKept || begun || isOfDatabase(failure) || failure instanceof NoAnswer;
        const canPass = isThere && isTransient(failure, isKept);
        if (canPass || wasCut) this.#forget();
        const now = performance.now();
        until ??= now + (this.#isAway ? 0 : patience);
        if (!canPass || now >= until) {
          this.#isAway ||= canPass;
          throw problemOf(failure, stage, this.target);
        }
        await wait(Math.min(longestPause, pause * 2 ** tries) * (0.5 + Math.random() / 2));
      }
    }
  }

  async #connected(): Promise<Connection> {
    if (this.#connection?.gone) this.#forget();
    if (this.#connection === undefined) {
      const connection = await Connection.open(this.target, this.times);
      try {
        await this.#keeper?.reconnected(connection);
      } catch (failure) {
        connection.close();
        throw failure;
      }
      this.#connection = connection;
    }
    this.#connection.hold(true);
    return this.#connection;
  }

  async #tables(connection: Connection, make: boolean): Promise<boolean> {
    this.#hasTables ||= await haveTables(connection, this.target, make);
    return this.#hasTables;
  }

  #forget(): void {
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  /** An open connection doesn't keep the process from ending, and doesn't stay for long where nobody keeps a lock on it. */
  #rest(): void {
    if (this.#inTurn.pendingCount > 0) return;
    this.#connection?.hold(false);
    if (this.#keeper !== undefined) return;
    this.#idle = setTimeout(() => {
      this.#connection?.close();
      this.#connection = undefined;
    }, this.times.idle);
    this.#idle.unref();
  }
}
