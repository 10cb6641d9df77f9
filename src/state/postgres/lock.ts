import { randomUUID } from 'node:crypto';
import { type ProblemsError, problemError } from '../../base/problems.js';
import { type ProcessStatus, processStatus } from '../../base/process.js';
import { parseShardName, type Shard, shardName } from '../../base/shard.js';
import type { FoundLock, Lock, LockStatus, LockStore } from '../backend.js';
import {
  describeHolder,
  type Holder,
  holderSchema,
  lockedError,
  lockLostError,
  lockStatus,
  ownHolder,
  PROCESS_GONE,
  parseHolder,
  takeoverNote,
} from '../holder.js';
import { type Statements, transaction } from './connection.js';
import type { Database, LockOwner } from './database.js';
import { LOCK_NAMESPACE } from './tables.js';

/*
 * A lock is a row of `idops.locks`. Its columns answer these questions:
 *
 * | question                             | decided by                                                                    |
 * |--------------------------------------|-------------------------------------------------------------------------------|
 * | Is it taken?                         | the row of the state and the shard is there                                   |
 * | Is it still mine?                    | `nonce`, which stays, and `session`, which each connection has anew           |
 * | May this statement write?            | `session`, in the transaction of the write: none of a former connection does  |
 * | Does a pooler share my connection?   | `backend`, the process of the server: if another one answers, the run stops   |
 * | May another process take it over?    | in this order:                                                                |
 * |   yes, the holder ended              | `holder`: its process ran on this host and is gone                            |
 * |   no, the holder is connected        | the advisory lock `advisory`, which PostgreSQL frees when the connection ends |
 * |   yes, it did not come back          | `seen_at`, if older than the lease; each write and each renewal sets it       |
 * |   not yet                            | otherwise                                                                     |
 * | Did it change since I looked at it?  | `session` and `seen_at`: both are compared when a row is replaced or removed  |
 *
 * Each connection has an advisory lock of its own number, so whoever removes the row needs no right over the other connection.
 */

/** The row of a lock. */
interface LockRow {
  readonly shard: string;
  readonly nonce: string;
  readonly session: string;
  /** Null if it names nobody. */
  readonly holder: Holder | null;
  /** Whether its session still holds its advisory lock. */
  readonly isConnected: boolean;
  /** The last sign of life, as the database writes it. */
  readonly seenAt: string;
  /** Milliseconds since then, by the clock of the database. */
  readonly age: number;
}

/** A lock of this process. */
interface HeldLock {
  /** The name of the shard; empty for the lock of the whole state. */
  readonly shard: string;
  readonly nonce: string;
  readonly session: string;
  readonly advisory: number;
}

/** The locks of a state, of which this process holds one at a time. */
export class StateLock implements LockOwner, LockStore {
  readonly #database: Database;
  readonly state: string;
  #held: HeldLock | undefined;
  #lost: ProblemsError | undefined;
  #renewing: NodeJS.Timeout | undefined;

  constructor(database: Database, state: string) {
    this.#database = database;
    this.state = state;
  }

  /** The session that may write; null if this process holds no lock: then no lock is needed. */
  get session(): string | null {
    if (this.#lost !== undefined) throw this.#lost;
    return this.#held?.session ?? null;
  }

  /** The shard whose lock this process holds; empty for the whole state, or if it holds none. */
  get shard(): string {
    return this.#held?.shard ?? '';
  }

  async list(): Promise<readonly FoundLock[]> {
    const rows = await this.#database.read([], (statements) => this.#rows(statements));
    return rows.map((found) => {
      const shard = parseShardName(found.shard);
      const status = this.#statusOf(found);
      const connected = this.#isConnected(found) ? ', whose session is connected right now' : '';
      return {
        ...status,
        ...(shard === undefined ? {} : { shard }),
        holder: `${status.holder}${connected}`,
        nonce: found.holder === null ? null : found.nonce,
        place: this.#database.target.place,
        removeIfUnchanged: () =>
          this.#database.write(async (statements) => {
            const { count } = await statements.run(
              'DELETE FROM idops.locks WHERE state = $1 AND shard = $2 AND session = $3 AND seen_at = $4::timestamptz',
              [this.state, found.shard, found.session, found.seenAt],
            );
            return count > 0;
          }),
      };
    });
  }

  async take(command: string, now: Date, of?: Shard): Promise<Lock> {
    const shard = of === undefined ? '' : shardName(of);
    const before = this.#held;
    if (before !== undefined && this.#lost === undefined && before.shard !== shard) {
      // A second lock would replace the first, which would no longer be renewed.
      const own = (await this.list()).find(({ nonce }) => nonce === before.nonce);
      if (own !== undefined) throw lockedError(own, own.place);
    }
    const holder = ownHolder(command, now);
    const nonce = randomUUID();
    const { takenOver, held } = await this.#database.write(async (statements) => {
      const session = await this.#beginSession(statements);
      const own: HeldLock = { shard, nonce, ...session };
      try {
        return { takenOver: await this.#insert(statements, own, holder), held: own };
      } catch (failure) {
        await unlockAdvisory(statements, session.advisory);
        throw failure;
      }
    });
    this.#held = held;
    this.#lost = undefined;
    this.#database.keepOpen(this);
    clearInterval(this.#renewing);
    const { renewal, lease } = this.#database.times;
    let isRenewing = false;
    const renew = async (): Promise<void> => {
      if (isRenewing) return;
      isRenewing = true;
      await this.#renew(nonce).catch(() => {});
      isRenewing = false;
    };
    // Also reconnects if the connection was cut while nothing was written.
    this.#renewing = setInterval(() => void renew(), renewal);
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

  /** Throws a ProblemsError (`locked`) if this process no longer holds a lock: by default its present one. */
  async confirm(
    statements: Statements,
    asked: Pick<HeldLock, 'shard' | 'nonce'> | undefined = this.#held,
  ): Promise<void> {
    const found = await this.#find(statements, asked?.shard ?? '');
    const own = this.#held;
    if (own !== undefined && own.nonce === asked?.nonce && found?.session === own.session) return;
    if (own?.nonce === asked?.nonce) throw this.#markLost(found);
    throw lockLostError(found?.holder, this.#database.target.place);
  }

  async reconnected(statements: Statements): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    const own: HeldLock = { ...held, ...(await this.#beginSession(statements)) };
    // Waits for a statement of the former session, so that it can't take effect later.
    const { count } = await statements.run(
      `UPDATE idops.locks SET session = $4, advisory = $5, backend = pg_catalog.pg_backend_pid(), seen_at = pg_catalog.clock_timestamp()
       WHERE state = $1 AND shard = $2 AND nonce = $3`,
      [this.state, own.shard, own.nonce, own.session, own.advisory],
    );
    if (count === 0) throw this.#markLost(await this.#find(statements, own.shard));
    this.#held = own;
  }

  /** Writes in one transaction, which fails if the lock is lost. Throws a ProblemsError. */
  async write<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return await this.#database.write((statements) =>
      transaction(statements, async () => {
        await this.fence(statements);
        return await work(statements);
      }),
    );
  }

  /** Locks the row for the current transaction, and renews it. Throws a ProblemsError (`locked`) if another process has it. */
  async fence(statements: Statements): Promise<void> {
    const { session } = this;
    if (session === null) return;
    const { rows } = await statements.run<{ own: boolean }>(
      `UPDATE idops.locks SET seen_at = pg_catalog.clock_timestamp() WHERE state = $1 AND shard = $2 AND session = $3
       RETURNING backend = pg_catalog.pg_backend_pid() AS own`,
      [this.state, this.shard, session],
    );
    if (rows.length === 0) await this.confirm(statements);
    if (rows[0]?.own === false)
      throw problemError(
        'state-unreachable',
        `the database of the state can't be reached: a pooler on the way changes sessions within a run (${this.#database.target.place})`,
        'set the pooler to session pooling (pool_mode = session in PgBouncer), or use the port of PostgreSQL itself',
      );
  }

  /** Begins a session. Its advisory lock comes before its row, so that nobody sees the row without it. */
  async #beginSession(statements: Statements): Promise<{ session: string; advisory: number }> {
    for (;;) {
      const session = randomUUID();
      const advisory = Number.parseInt(session.slice(0, 8), 16) | 0;
      const { rows } = await statements.run<{ free: boolean }>(
        'SELECT pg_catalog.pg_try_advisory_lock($1, $2) AS free',
        [LOCK_NAMESPACE, advisory],
      );
      // Another session may have that number.
      if (rows[0]?.free === true) return { session, advisory };
    }
  }

  /** Takes the row if there is none or its holder is gone. Returns a note about the former holder, or null. */
  async #insert(statements: Statements, own: HeldLock, holder: Holder): Promise<string | null> {
    const values = [this.state, own.shard, own.nonce, own.session, own.advisory, JSON.stringify(holder)];
    for (;;) {
      const { count } = await statements.run(
        `INSERT INTO idops.locks (state, shard, nonce, session, advisory, holder, backend)
         VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.pg_backend_pid()) ON CONFLICT (state, shard) DO NOTHING`,
        values,
      );
      if (count === 1) return null;
      const other = await this.#find(statements, own.shard);
      // Released meanwhile.
      if (other === undefined) continue;
      // An earlier attempt wrote it, but its answer was lost.
      const isOwn = other.nonce === own.nonce;
      if (!isOwn && this.#processStatus(other) !== 'gone') throw this.#takenError(other);
      const replaced = await statements.run(
        `UPDATE idops.locks SET nonce = $3, session = $4, advisory = $5, holder = $6, backend = pg_catalog.pg_backend_pid(), seen_at = pg_catalog.clock_timestamp()
         WHERE state = $1 AND shard = $2 AND session = $7 AND seen_at = $8::timestamptz`,
        [...values, other.session, other.seenAt],
      );
      if (replaced.count > 0) return isOwn ? null : takeoverNote(this.#statusOf(other));
    }
  }

  async #renew(nonce: string): Promise<void> {
    await this.#database.write(async (statements) => {
      if (this.#held?.nonce === nonce) await this.fence(statements);
    });
  }

  /** Releases the lock. If the database can't be reached, others take it over after the lease, or if they see that this process is gone. */
  async #release(nonce: string): Promise<void> {
    const held = this.#held;
    if (held?.nonce !== nonce) return;
    clearInterval(this.#renewing);
    this.#held = undefined;
    this.#lost = undefined;
    this.#database.allowIdle();
    await this.#database
      .write(async (statements) => {
        await statements.run('DELETE FROM idops.locks WHERE state = $1 AND shard = $2 AND nonce = $3', [
          this.state,
          held.shard,
          held.nonce,
        ]);
        await unlockAdvisory(statements, held.advisory);
      })
      .catch(() => {});
  }

  /** All locks of the state. */
  async #rows(statements: Statements): Promise<LockRow[]> {
    // Shared, so that two processes that check at the same time don't block each other.
    const { rows } = await statements.run<
      Omit<LockRow, 'holder' | 'isConnected'> & { holder: string; free: boolean }
    >(
      `SELECT shard, nonce, session, holder::text, seen_at::text AS "seenAt",
         1000 * extract(epoch FROM pg_catalog.clock_timestamp() - seen_at)::float8 AS age,
         pg_catalog.pg_try_advisory_xact_lock_shared($2, advisory) AS free
       FROM idops.locks WHERE state = $1 ORDER BY shard`,
      [this.state, LOCK_NAMESPACE],
    );
    return rows.map(({ holder, free, ...row }) => ({
      ...row,
      holder: parseHolder(holderSchema, holder),
      isConnected: !free,
    }));
  }

  async #find(statements: Statements, shard: string): Promise<LockRow | undefined> {
    return (await this.#rows(statements)).find((found) => found.shard === shard);
  }

  /** `gone` if anybody may take the lock over. */
  #processStatus(found: LockRow): ProcessStatus {
    const fate = found.holder === null ? 'unknown' : processStatus(found.holder);
    if (fate === 'gone') return 'gone';
    if (this.#isConnected(found)) return 'alive';
    // The clock of the database may have been set back.
    return Math.abs(found.age) > this.#database.times.lease ? 'gone' : fate;
  }

  #statusOf(found: LockRow): LockStatus {
    const isGone = found.holder !== null && processStatus(found.holder) === 'gone';
    return lockStatus(
      found.holder,
      this.#processStatus(found),
      isGone ? PROCESS_GONE : `whose lease ran out: ${disconnectedFor(found)}`,
    );
  }

  /** The advisory lock of this process's own session seems free to it. */
  #isConnected({ isConnected, session }: LockRow): boolean {
    return isConnected || session === this.#held?.session;
  }

  #takenError(found: LockRow): ProblemsError {
    const { target, times } = this.#database;
    if (this.#isConnected(found)) return lockedError(lockStatus(found.holder, 'alive'), target.place);
    const seconds = Math.max(1, Math.ceil((times.lease - found.age) / 1000));
    return problemError(
      'locked',
      `the state is locked: ${describeHolder(found.holder)} (${target.place}); ${disconnectedFor(found)}, and it may come back`,
      `try again in ${seconds} s: that run takes the lock over unless the holder came back; if that process is certainly gone, use idops runs unlock`,
    );
  }

  /** Marks the lock as lost: nothing is written from now on, and the lock is no longer renewed. */
  #markLost(found: LockRow | undefined): ProblemsError {
    this.#lost = lockLostError(found?.holder, this.#database.target.place);
    this.#database.allowIdle();
    clearInterval(this.#renewing);
    return this.#lost;
  }
}

/** How long a holder has been disconnected, in words. */
function disconnectedFor({ age }: LockRow): string {
  const seconds = Math.max(0, Math.round(age / 1000));
  return `its connection was cut, and nothing was heard of it for ${seconds} s`;
}

async function unlockAdvisory(statements: Statements, advisory: number): Promise<void> {
  await statements
    .run('SELECT pg_catalog.pg_advisory_unlock($1, $2)', [LOCK_NAMESPACE, advisory])
    .catch(() => {});
}
