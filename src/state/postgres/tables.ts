import { problemError } from '../../base/problems.js';
import { type Statements, transaction } from './connection.js';
import type { Target } from './settings.js';

/** The first number of all advisory locks of idops, to keep them apart from those of other programs. */
export const LOCK_NAMESPACE = 0x69_64_6f_70;

/** The second number of the advisory lock for creating tables. */
const TABLES_LOCK = 0;

/** The version of the tables. */
export const TABLES_VERSION = 1;

/** The type `json` keeps texts unchanged; `jsonb` changes numbers and the order of keys, and refuses `\u0000`. */
const tables: readonly string[] = [
  `CREATE TABLE idops.versions (version integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp())`,
  `CREATE TABLE idops.states (
     name text PRIMARY KEY,
     head json NOT NULL,
     revision uuid NOT NULL,
     saved_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
   )`,
  // An address may be too long for an index, so its hash is the key. It is stored as a JSON string, since a text can't contain NUL.
  `CREATE TABLE idops.records (
     state text NOT NULL REFERENCES idops.states (name) ON DELETE CASCADE,
     key uuid NOT NULL,
     address text NOT NULL,
     record json NOT NULL,
     PRIMARY KEY (state, key)
   )`,
  // The lock of the whole state has no shard.
  `CREATE TABLE idops.locks (
     state text NOT NULL,
     shard text NOT NULL DEFAULT '',
     nonce uuid NOT NULL,
     session uuid NOT NULL,
     advisory integer NOT NULL,
     holder json NOT NULL,
     backend integer NOT NULL,
     seen_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
     PRIMARY KEY (state, shard)
   )`,
  `CREATE TABLE idops.runs (
     run text PRIMARY KEY,
     state text NOT NULL,
     writer uuid NOT NULL,
     begun_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
   )`,
  `CREATE TABLE idops.lines (
     run text NOT NULL REFERENCES idops.runs (run) ON DELETE CASCADE,
     number integer NOT NULL,
     line json NOT NULL,
     PRIMARY KEY (run, number)
   )`,
];

/**
 * Whether there are tables. With `create`, creates missing ones, in one process at a time. Throws a ProblemsError (`state-newer`,
 * `state-unreadable`, `not-writable`), or the errors of the driver.
 */
export async function ensureTables(
  statements: Statements,
  target: Target,
  create: boolean,
): Promise<boolean> {
  if (await tablesExist(statements, target)) return true;
  if (!create) return false;
  try {
    await transaction(statements, async () => {
      await statements.run('SELECT pg_catalog.pg_advisory_xact_lock($1, $2)', [LOCK_NAMESPACE, TABLES_LOCK]);
      if (await tablesExist(statements, target)) return;
      const schema = await statements.run("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'idops'");
      // A role that may use the schema may not be allowed to create it.
      if (schema.count === 0) await statements.run('CREATE SCHEMA idops');
      for (const table of tables) await statements.run(table);
      await statements.run('INSERT INTO idops.versions (version) VALUES ($1)', [TABLES_VERSION]);
    });
    return true;
  } catch (failure) {
    if (!(failure instanceof Error) || !('code' in failure) || failure.code !== '42501') throw failure;
    throw problemError(
      'not-writable',
      `the tables for the state ${target.place} can't be created: this role lacks the permission`,
      `ask the owner of the database to run: GRANT CREATE ON DATABASE "${target.database}" TO this role; or to run idops once, and then: GRANT USAGE ON SCHEMA idops TO this role; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA idops TO this role`,
      failure,
    );
  }
}

async function tablesExist(statements: Statements, { place }: Target): Promise<boolean> {
  // PostgreSQL may have cached that the tables don't exist.
  const there = await statements.run(
    `SELECT FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = 'idops' AND relname = 'versions'`,
  );
  if (there.count === 0) return false;
  const { rows } = await statements.run<{ version: number | null }>(
    'SELECT pg_catalog.max(version) AS version FROM idops.versions',
  );
  const version = rows[0]?.version ?? 0;
  if (version > TABLES_VERSION) {
    throw problemError(
      'state-newer',
      `the tables of the state ${place} have version ${version}, and this idops uses version ${TABLES_VERSION}`,
      'use the version of idops that created them, or a later one',
    );
  }
  return true;
}
