import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { error, ProblemsError } from '../../base/problems.js';
import { type Fate, ownProcess, processStatus, userName } from '../../base/process.js';
import { type Shard, shardName, shardNamed } from '../../base/shard.js';
import type { FoundLock, Lock, LockStatus, LockStore } from '../backend.js';
import {
  describeHolder,
  GONE,
  type Holder,
  holderFields,
  lockedError,
  lockLostError,
  lockStatus,
  takeoverNote,
} from '../holder.js';
import type { Statements } from './connection.js';
import type { Database, LockOwner } from './database.js';
import { LOCKS } from './tables.js';

/** The row of a lock. */
export interface Found {
  /** The key of its shard. */
  readonly shard: string;
  readonly nonce: string;
  readonly session: string;
  /** Null where it names nobody. */
  readonly holder: Holder | null;
  /** Whether its session still holds its advisory lock. */
  readonly isConnected: boolean;
  /** The last sign of life, as the database writes it. */
  readonly seenAt: string;
  /** Milliseconds since then, by the clock of the database. */
  readonly age: number;
}

const holderSchema = z.object(holderFields);

interface Row {
  readonly shard: string;
  readonly nonce: string;
  readonly session: string;
  readonly holder: string;
  readonly seen_at: string;
  /** Seconds. */
  readonly age: number;
  readonly free: boolean;
}

/** What the row of a shard's lock is told by among those of its state; that of all of it has no name. */
export function shardKey(shard: Shard | undefined): string {
  return shard === undefined ? '' : shardName(shard);
}

/** The locks of a state. */
export async function findHolders(statements: Statements, state: string): Promise<Found[]> {
  // Shared, so that two that look at the same time don't take each other for the holder.
  const { rows } = await statements.run<Row>(
    `SELECT shard, nonce, session, holder::text, seen_at::text,
       extract(epoch FROM pg_catalog.clock_timestamp() - seen_at)::float8 AS age,
       pg_catalog.pg_try_advisory_xact_lock_shared($2, advisory) AS free
     FROM idops.locks WHERE state = $1 ORDER BY shard`,
    [state, LOCKS],
  );
  return rows.map(({ holder, seen_at: seenAt, age, free, ...row }) => ({
    ...row,
    age: age * 1000,
    holder: holderOf(holder),
    isConnected: !free,
    seenAt,
  }));
}

/** Who holds a lock of a state, that of a shard by its key; undefined where nobody does. */
export async function findHolder(
  statements: Statements,
  state: string,
  shard: string,
): Promise<Found | undefined> {
  return (await findHolders(statements, state)).find((found) => found.shard === shard);
}

function holderOf(text: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** What a holder of the lock is told by: `session` is another one for each connection, so that nothing of a former one comes late. */
interface Held {
  /** The key of the shard that it is of. */
  readonly shard: string;
  readonly nonce: string;
  readonly session: string;
  readonly advisory: number;
}

/**
 * The locks of a state, of which one at a time is this process's: a row that says who holds it, which decides, and an advisory lock of its session, which ends with that and so tells at
 * once that it was cut. Each session has an advisory lock of its own number: who removes the row needs no right over the session.
 */
export class StateLock implements LockOwner, LockStore {
  readonly #database: Database;
  readonly state: string;
  #held: Held | undefined;
  #lost: ProblemsError | undefined;
  #renewing: NodeJS.Timeout | undefined;

  constructor(database: Database, state: string) {
    this.#database = database;
    this.state = state;
  }

  /** The session that may write; null where this process holds no lock, and nothing is asked of it. */
  get session(): string | null {
    if (this.#lost !== undefined) throw this.#lost;
    return this.#held?.session ?? null;
  }

  /** The key of the shard whose lock this process holds; empty where that is the lock of all of it, or where it holds none. */
  get shard(): string {
    return this.#held?.shard ?? '';
  }

  async list(): Promise<readonly FoundLock[]> {
    const rows = await this.#database.read([], (statements) => findHolders(statements, this.state));
    return rows.map((found) => {
      const { nonce, session, seenAt } = found;
      const shard = shardNamed(found.shard);
      const holding = this.#holdingOf(found);
      const connected = this.#isConnected(found) ? ', whose session is connected right now' : '';
      return {
        ...holding,
        ...(shard === undefined ? {} : { shard }),
        holder: `${holding.holder}${connected}`,
        nonce: found.holder === null ? null : nonce,
        place: this.#database.target.place,
        drop: () =>
          this.#database.write(async (statements) => {
            const { count } = await statements.run(
              'DELETE FROM idops.locks WHERE state = $1 AND shard = $2 AND session = $3 AND seen_at = $4::timestamptz',
              [this.state, found.shard, session, seenAt],
            );
            return count > 0;
          }),
      };
    });
  }

  async take(command: string, now: Date, of?: Shard): Promise<Lock> {
    const shard = shardKey(of);
    const before = this.#held;
    if (before !== undefined && this.#lost === undefined && before.shard !== shard) {
      // A second lock would take the place of the first, which nothing would keep any more.
      const own = (await this.list()).find(({ nonce }) => nonce === before.nonce);
      if (own !== undefined) throw lockedError(own, own.place);
    }
    const holder: Holder = { user: userName(), ...ownProcess(), command, at: now.toISOString() };
    const nonce = randomUUID();
    const { takenOver, held } = await this.#database.write(async (statements) => {
      const session = await this.#begin(statements);
      const own: Held = { shard, nonce, ...session };
      try {
        return { takenOver: await this.#enter(statements, own, holder), held: own };
      } catch (failure) {
        await end(statements, session.advisory);
        throw failure;
      }
    });
    this.#held = held;
    this.#lost = undefined;
    this.#database.keep(this);
    clearInterval(this.#renewing);
    const { renewal, lease } = this.#database.times;
    const renew = onceAtATime(() => this.#renew(nonce));
    // It also brings a connection back that was cut while nothing was written.
    this.#renewing = setInterval(() => void renew().catch(() => {}), renewal);
    this.#renewing.unref();
    return {
      takenOver,
      fenced: true,
      lease: lease / 2,
      confirm: () =>
        this.#database.read(undefined, (statements) => this.confirm(statements, { shard, nonce })),
      release: async () => {
        await this.#release(nonce);
        return [];
      },
    };
  }

  /** Throws a ProblemsError (`locked`) where the lock is no longer this process's; with one named, where it isn't that one. */
  async confirm(
    statements: Statements,
    asked: Pick<Held, 'shard' | 'nonce'> | undefined = this.#held,
  ): Promise<void> {
    const found = await findHolder(statements, this.state, asked?.shard ?? '');
    const own = this.#held;
    if (own !== undefined && own.nonce === asked?.nonce && found?.session === own.session) return;
    if (own?.nonce === asked?.nonce) throw this.#lose(found);
    throw lockLostError(found?.holder, this.#database.target.place);
  }

  async reconnected(statements: Statements): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    const own: Held = { ...held, ...(await this.#begin(statements)) };
    // This waits for what the former session still does: afterwards nothing of it comes any more.
    const { count } = await statements.run(
      `UPDATE idops.locks SET session = $4, advisory = $5, backend = pg_catalog.pg_backend_pid(), seen_at = pg_catalog.clock_timestamp()
       WHERE state = $1 AND shard = $2 AND nonce = $3`,
      [this.state, own.shard, own.nonce, own.session, own.advisory],
    );
    if (count === 0) throw this.#lose(await findHolder(statements, this.state, own.shard));
    this.#held = own;
  }

  /** Locks the row for the transaction that is under way, and shows a sign of life. Throws a ProblemsError (`locked`) where it is another one's. */
  async fence(statements: Statements): Promise<void> {
    const { session } = this;
    if (session === null) return;
    const { rows } = await statements.run<{ own: boolean }>(
      `UPDATE idops.locks SET seen_at = pg_catalog.clock_timestamp() WHERE state = $1 AND shard = $2 AND session = $3
       RETURNING backend = pg_catalog.pg_backend_pid() AS own`,
      [this.state, this.shard, session],
    );
    if (rows.length === 0) await this.confirm(statements);
    if (rows[0]?.own === false) throw pooled(this.#database.target.place);
  }

  /** Begins a session that others see: its advisory lock comes before its row, which then is never seen without. */
  async #begin(statements: Statements): Promise<{ session: string; advisory: number }> {
    for (;;) {
      const session = randomUUID();
      const advisory = Number.parseInt(session.slice(0, 8), 16) | 0;
      const { rows } = await statements.run<{ free: boolean }>(
        'SELECT pg_catalog.pg_try_advisory_lock($1, $2) AS free',
        [LOCKS, advisory],
      );
      // The number may be somebody else's.
      if (rows[0]?.free === true) return { session, advisory };
    }
  }

  /** Puts a holder into the row, if it is free or its holder is gone; says from whom it was taken over. */
  async #enter(statements: Statements, own: Held, holder: Holder): Promise<string | null> {
    const values = [this.state, own.shard, own.nonce, own.session, own.advisory, JSON.stringify(holder)];
    for (;;) {
      const { count } = await statements.run(
        `INSERT INTO idops.locks (state, shard, nonce, session, advisory, holder, backend)
         VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.pg_backend_pid()) ON CONFLICT (state, shard) DO NOTHING`,
        values,
      );
      if (count === 1) return null;
      const other = await findHolder(statements, this.state, own.shard);
      // Released meanwhile.
      if (other === undefined) continue;
      // Put in by a former try, whose answer was cut off.
      const isOwn = other.nonce === own.nonce;
      if (!isOwn && this.#processStatus(other) !== 'gone') throw this.#refusal(other);
      const replaced = await statements.run(
        `UPDATE idops.locks SET nonce = $3, session = $4, advisory = $5, holder = $6, backend = pg_catalog.pg_backend_pid(), seen_at = pg_catalog.clock_timestamp()
         WHERE state = $1 AND shard = $2 AND session = $7 AND seen_at = $8::timestamptz`,
        [...values, other.session, other.seenAt],
      );
      if (replaced.count === 0) continue;
      if (isOwn) return null;
      return takeoverNote(this.#holdingOf(other));
    }
  }

  async #renew(nonce: string): Promise<void> {
    await this.#database.write(async (statements) => {
      if (this.#held?.nonce === nonce) await this.fence(statements);
    });
  }

  /** Gives the lock up. Where the database can't be reached, others take it over once the lease is over, or see that this process is gone. */
  async #release(nonce: string): Promise<void> {
    const held = this.#held;
    if (held?.nonce !== nonce) return;
    clearInterval(this.#renewing);
    this.#held = undefined;
    this.#lost = undefined;
    this.#database.drop();
    await this.#database
      .write(async (statements) => {
        await remove(statements, this.state, held);
        await end(statements, held.advisory);
      })
      .catch(() => {});
  }

  /**
   * `gone` where anybody may take the lock: its process is gone, or nothing was heard of its session for longer than the lease, also by a
   * clock that was set back since.
   */
  #processStatus(found: Found): Fate {
    const fate = found.holder === null ? 'unknown' : processStatus(found.holder);
    if (fate === 'gone') return 'gone';
    if (this.#isConnected(found)) return 'alive';
    return Math.abs(found.age) > this.#database.times.lease ? 'gone' : fate;
  }

  #holdingOf(found: Found): LockStatus {
    const isGone = found.holder !== null && processStatus(found.holder) === 'gone';
    return lockStatus(
      found.holder,
      this.#processStatus(found),
      isGone ? GONE : `whose lease ran out: ${cut(found)}`,
    );
  }

  /** What this session holds seems free to itself. */
  #isConnected({ isConnected, session }: Found): boolean {
    return isConnected || session === this.#held?.session;
  }

  #refusal(found: Found): ProblemsError {
    const { target, times } = this.#database;
    if (this.#isConnected(found)) return lockedError(lockStatus(found.holder, 'alive'), target.place);
    const seconds = Math.max(1, Math.ceil((times.lease - found.age) / 1000));
    return new ProblemsError([
      error(
        'locked',
        `the state is locked: ${describeHolder(found.holder)} (${target.place}); ${cut(found)}, and it may come back`,
        [],
        `try again in ${seconds} s, when its lock is taken over if it did not come back; if that process is surely gone, use idops runs unlock`,
      ),
    ]);
  }

  /** From now on nothing is written, nor is it tried to get the lock back. */
  #lose(found: Found | undefined): ProblemsError {
    this.#lost = lockLostError(found?.holder, this.#database.target.place);
    this.#database.drop();
    clearInterval(this.#renewing);
    return this.#lost;
  }
}

/** What is known of a holder whose session is gone. */
function cut({ age }: Found): string {
  // The clock of the database may have been set back.
  const heard = Math.max(0, Math.round(age / 1000));
  return `its connection was cut, and nothing was heard of it for ${heard} s`;
}

/** A pooler that hands transactions to sessions as they come leaves no session to hold a lock. */
function pooled(place: string): ProblemsError {
  return new ProblemsError([
    error(
      'state-unreachable',
      `the database of the state can't be reached: a pooler on the way changes sessions within a run (${place})`,
      [],
      'let the pooler work by sessions (pool_mode = session in PgBouncer), or name the port of PostgreSQL itself',
    ),
  ]);
}

async function remove(
  statements: Statements,
  state: string,
  { shard, nonce }: Pick<Held, 'shard' | 'nonce'>,
): Promise<void> {
  await statements.run('DELETE FROM idops.locks WHERE state = $1 AND shard = $2 AND nonce = $3', [
    state,
    shard,
    nonce,
  ]);
}

async function end(statements: Statements, advisory: number): Promise<void> {
  await statements.run('SELECT pg_catalog.pg_advisory_unlock($1, $2)', [LOCKS, advisory]).catch(() => {});
}

/** The same work, which is not begun again while it is under way. */
function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return async () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    await underWay;
  };
}
