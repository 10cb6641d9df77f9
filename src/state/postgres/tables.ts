import { error, ProblemsError } from '../../base/problems.js';
import { type Statements, transaction } from './connection.js';
import type { Target } from './settings.js';

/** The first number of all advisory locks of idops, beside those of other programs in the database. */
export const LOCKS = 0x69_64_6f_70;

/** The lock under which tables are made. */
const MAKING = 0;

/** The version of the tables that this idops makes and uses. */
export const TABLES = 1;

/** JSON is kept as `json`, which keeps the text to the letter; `jsonb` alters numbers, the order of keys and refuses `\u0000`. */
const tables: readonly string[] = [
  `CREATE TABLE idops.versions (version integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp())`,
  `CREATE TABLE idops.states (
     name text PRIMARY KEY,
     head json NOT NULL,
     revision uuid NOT NULL,
     saved_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
   )`,
  // An address may be longer than an index takes, so its hash is the key. It is as in a string of JSON: no text holds a NUL.
  `CREATE TABLE idops.records (
     state text NOT NULL REFERENCES idops.states (name) ON DELETE CASCADE,
     key uuid NOT NULL,
     address text NOT NULL,
     record json NOT NULL,
     PRIMARY KEY (state, key)
   )`,
  // No name of a shard is the lock of all of a state.
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
 * Whether the tables are there, made where `make` says so. Two that make them at once wait for
 * each other. Throws a ProblemsError (`state-newer`, `state-unreadable`, `not-writable`) or what the driver throws.
 */
export async function haveTables(statements: Statements, target: Target, make: boolean): Promise<boolean> {
  if (await areThere(statements, target)) return true;
  if (!make) return false;
  try {
    await transaction(statements, async () => {
      await statements.run('SELECT pg_catalog.pg_advisory_xact_lock($1, $2)', [LOCKS, MAKING]);
      if (await areThere(statements, target)) return;
      const schema = await statements.run("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'idops'");
      // Who may use a schema that somebody else made may not be allowed to make one.
      if (schema.count === 0) await statements.run('CREATE SCHEMA idops');
      for (const table of tables) await statements.run(table);
      await statements.run('INSERT INTO idops.versions (version) VALUES ($1)', [TABLES]);
    });
    return true;
  } catch (failure) {
    if (!(failure instanceof Error) || !('code' in failure) || failure.code !== '42501') throw failure;
    throw new ProblemsError(
      [
        error(
          'not-writable',
          `the tables for the state ${target.place} can't be made: this role may not make them`,
          [],
          `let the owner of the database run: GRANT CREATE ON DATABASE "${target.database}" TO this role; or let somebody who may make them run idops once, and then: GRANT USAGE ON SCHEMA idops TO this role; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA idops TO this role`,
        ),
      ],
      { cause: failure },
    );
  }
}

/** Whether there are tables, surely of this version. */
async function areThere(statements: Statements, { place }: Target): Promise<boolean> {
  // Names that PostgreSQL resolves itself may be those from before another one made the tables.
  const there = await statements.run(
    `SELECT FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = 'idops' AND relname = 'versions'`,
  );
  if (there.count === 0) return false;
  const { rows } = await statements.run<{ version: number | null }>(
    'SELECT pg_catalog.max(version) AS version FROM idops.versions',
  );
  const version = rows[0]?.version ?? 0;
  if (version > TABLES) {
    throw new ProblemsError([
      error(
        'state-newer',
        `the tables of the state ${place} have version ${version}, this idops knows version ${TABLES}`,
        [],
        'use the version of idops that made them, or a later one',
      ),
    ]);
  }
  return true;
}
