import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { ProblemsError } from '../../base/problems.js';
import { Connection, type Statements, type Times } from './connection.js';
import { isOfDatabase, isTransient, NoAnswer, type Operation, problemOf } from './failures.js';
import type { Target } from './settings.js';
import { ensureTables } from './tables.js';

/** Work with the database. `again`: an earlier attempt was cut off, with an unknown result. */
export type Work<T> = (statements: Statements, again: boolean) => Promise<T>;

/** The owner of a lock that a session holds. */
export interface LockOwner {
  /** Moves the lock to a new connection. Throws a ProblemsError (`locked`) if it is lost. */
  reconnected(statements: Statements): Promise<void>;
}

/**
 * A database with one connection, which is opened on demand and closed when idle. Work runs one after the other, and is retried for a
 * while if it is cut off.
 */
export class Database {
  readonly target: Target;
  readonly times: Times;
  readonly #inTurn = pLimit(1);
  #connection: Connection | undefined;
  #lockOwner: LockOwner | undefined;
  #hasTables = false;
  #idle: NodeJS.Timeout | undefined;
  /** Whether the last retries failed: the next work makes one attempt, and doesn't wait. */
  #unreachable = false;

  constructor(target: Target, times: Times) {
    this.target = target;
    this.times = times;
  }

  /** Reads; returns `none` if there are no tables. Throws a ProblemsError. */
  async read<T>(none: T, work: Work<T>): Promise<T> {
    return await this.#run('read', async (connection, again) =>
      (await this.#ensureTables(connection, false)) ? await work(connection, again) : none,
    );
  }

  /** Writes, and creates the tables if there are none. Throws a ProblemsError. */
  async write<T>(work: Work<T>): Promise<T> {
    return await this.#run('write', async (connection, again) => {
      await this.#ensureTables(connection, true);
      return await work(connection, again);
    });
  }

  /** Keeps the connection open for the owner of a lock, and notifies the owner of each new one. */
  keepOpen(owner: LockOwner): void {
    clearTimeout(this.#idle);
    this.#lockOwner = owner;
  }

  allowIdle(): void {
    this.#lockOwner = undefined;
  }

  async #run<T>(doing: Operation, work: (connection: Connection, again: boolean) => Promise<T>): Promise<T> {
    return await this.#inTurn(async () => {
      clearTimeout(this.#idle);
      try {
        return await this.#withRetries(doing, work);
      } finally {
        this.#onIdle();
      }
    });
  }

  async #withRetries<T>(
    doing: Operation,
    work: (connection: Connection, again: boolean) => Promise<T>,
  ): Promise<T> {
    const { patience, pause, longestPause } = this.times;
    // Counted from the first failure, so that a slow failure is retried at least once.
    let until: number | undefined;
    let begun = false;
    for (let tries = 0; ; tries += 1) {
      let stage: Operation = 'reach';
      try {
        const connection = await this.#connect();
        stage = doing;
        const again = begun;
        begun = true;
        const done = await work(connection, again);
        this.#unreachable = false;
        return done;
      } catch (failure) {
        if (failure instanceof ProblemsError) throw failure;
        const wasCutOff = this.#connection === undefined || this.#connection.isClosed;
        // Anything else is a bug of idops.
        if (!wasCutOff && !isOfDatabase(failure)) throw failure;
        const isLocked = this.#lockOwner !== undefined;
        // If the database never answered, the URL may be wrong: that fails at once.
        const wasReached = isLocked || begun || isOfDatabase(failure) || failure instanceof NoAnswer;
        const mayRetry = wasReached && isTransient(failure, isLocked);
        if (mayRetry || wasCutOff) this.#disconnect();
        const now = performance.now();
        until ??= now + (this.#unreachable ? 0 : patience);
        if (!mayRetry || now >= until) {
          this.#unreachable ||= mayRetry;
          throw problemOf(failure, stage, this.target);
        }
        await wait(Math.min(longestPause, pause * 2 ** tries) * (0.5 + Math.random() / 2));
      }
    }
  }

  async #connect(): Promise<Connection> {
    if (this.#connection?.isClosed) this.#disconnect();
    if (this.#connection === undefined) {
      const connection = await Connection.open(this.target, this.times);
      try {
        await this.#lockOwner?.reconnected(connection);
      } catch (failure) {
        connection.close();
        throw failure;
      }
      this.#connection = connection;
    }
    this.#connection.hold(true);
    return this.#connection;
  }

  async #ensureTables(connection: Connection, make: boolean): Promise<boolean> {
    this.#hasTables ||= await ensureTables(connection, this.target, make);
    return this.#hasTables;
  }

  #disconnect(): void {
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  /** An open connection doesn't keep the process running, and is closed soon if no lock is held. */
  #onIdle(): void {
    if (this.#inTurn.pendingCount > 0) return;
    this.#connection?.hold(false);
    if (this.#lockOwner !== undefined) return;
    this.#idle = setTimeout(() => {
      this.#connection?.close();
      this.#connection = undefined;
    }, this.times.idle);
    this.#idle.unref();
  }
}
