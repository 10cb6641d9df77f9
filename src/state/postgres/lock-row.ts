import * as z from 'zod';
import { type Shard, shardName } from '../../base/shard.js';
import { type Holder, holderFields } from '../holder.js';
import type { Statements } from './connection.js';
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
