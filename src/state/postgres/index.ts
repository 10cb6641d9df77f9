import { hash, randomUUID } from 'node:crypto';
import { stringifyJson } from '../../base/json.js';
import type { Merge, StateBackend, StateIdentity } from '../backend.js';
import { exclusiveLocks } from '../locks.js';
import { changedRecords } from '../shards.js';
import type { State, StateHead } from '../state.js';
import {
  parseState,
  parseStateIdentity,
  parseStateJson,
  stateForServer,
  stateGoneError,
} from '../state-text.js';
import { defaultTimes, type Statements, type Times, transaction } from './connection.js';
import { Database } from './database.js';
import { StateLock } from './lock.js';
import { postgresRuns } from './runs.js';
import { type PostgresSettings, targetOf } from './settings.js';

export { type PostgresSettings, type PostgresTls, secretsOf } from './settings.js';

/**
 * Keeps states and runs in tables of a PostgreSQL database, in its schema `idops`, for runs on any machine. It connects on first use; the
 * connection doesn't keep the process running and needs no closing. A session holds the lock, so a pooler must give each connection a
 * session of its own (`pool_mode = session` in PgBouncer): with transaction pooling a run is refused. `times` are for tests. Throws a
 * ProblemsError (`wrong-value`, `bad-certificate`) if the settings are wrong.
 */
export function postgresBackend(settings: PostgresSettings, times: Partial<Times> = {}): StateBackend {
  const { name } = settings;
  const database = new Database(targetOf(settings), { ...defaultTimes, ...times });
  const lock = new StateLock(database, name);
  return {
    place: database.target.place,
    name,
    runs: postgresRuns(database, lock, name),
    ...stateRows(database, lock, name),
    ...exclusiveLocks(lock),
    // A commit can't replace a database.
    check: async () => {},
  };
}

/** The state as last read or saved. */
interface KnownState {
  /** New with each save. */
  readonly revision: string;
  readonly resources: State['resources'];
}

/** Records in one statement. */
const PAGE = 1_000;

type StateMethods = Pick<StateBackend, 'load' | 'saved' | 'save' | 'merge' | 'identity' | 'neighbours'>;

/** A state in tables: a row for its head, and one for each record. */
function stateRows(database: Database, lock: StateLock, name: string): StateMethods {
  const { place } = database.target;
  let known: KnownState | undefined;

  const saved = async (): Promise<State | undefined> => {
    known = undefined;
    const found = await database.read(undefined, (statements) =>
      transaction(statements, () => readAll(statements, name), 'ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    );
    if (found === undefined) return undefined;
    const head = parseStateJson(found.head, place);
    // Addresses are stored in the form of JSON strings.
    const resources = found.records.map(({ address, record }) => [
      String(parseStateJson(`"${address}"`, place)),
      parseStateJson(record, place),
    ]);
    const state = parseState({ ...(head as object), resources: Object.fromEntries(resources) }, place);
    known = { revision: found.revision, resources: state.resources };
    return state;
  };

  const readIdentities = async (where: string): Promise<StateIdentity[]> => {
    const rows = await database.read([], async (statements) => {
      const answer = await statements.run<{ head: string }>(
        `SELECT head::text FROM idops.states WHERE ${where} ORDER BY name`,
        [name],
      );
      return answer.rows;
    });
    return rows.flatMap(({ head }) => parseStateIdentity(head) ?? []);
  };

  return {
    load: async (server) => stateForServer(await saved(), place, server),
    saved,
    async save({ resources, ...head }) {
      const revision = randomUUID();
      const seen = known;
      await lock.write(async (statements) => {
        await insertHead(statements, name, head, revision);
        // Another process that saves waits here.
        const { rows } = await statements.run<{ revision: string }>(
          'SELECT revision FROM idops.states WHERE name = $1 FOR UPDATE',
          [name],
        );
        // Another process may have saved it since, or an earlier save without an answer.
        const isKnown = seen !== undefined && seen.revision === rows[0]?.revision;
        if (!isKnown) await statements.run('DELETE FROM idops.records WHERE state = $1', [name]);
        await writeRecords(statements, name, changedRecords(isKnown ? seen.resources : {}, resources));
        await updateHead(statements, name, head, revision);
      });
      known = { revision, resources };
    },
    async merge({ records, absent, head: headOf }) {
      const merged = await lock.write(async (statements) => {
        if (absent !== undefined) {
          const { resources, ...head } = absent;
          const isNew = await insertHead(statements, name, head, randomUUID());
          if (isNew) await writeRecords(statements, name, new Map(Object.entries(resources)));
        }
        // Another process that merges or saves waits here.
        const { rows } = await statements.run<{ head: string }>(
          'SELECT head::text FROM idops.states WHERE name = $1 FOR UPDATE',
          [name],
        );
        const [there] = rows;
        if (there === undefined) throw stateGoneError(place);
        // The many records are not needed.
        const whole = { ...(parseStateJson(there.head, place) as object), resources: {} };
        const { resources: _, ...now } = parseState(whole, place);
        const head = headOf(now);
        await writeRecords(statements, name, records);
        await updateHead(statements, name, head, randomUUID());
        return head;
      });
      // What others merged is unknown.
      known = undefined;
      return merged;
    },
    identity: async () => (await readIdentities('name = $1'))[0],
    neighbours: () => readIdentities('name <> $1'),
  };
}

interface Row {
  readonly address: string;
  readonly record: string;
}

async function readAll(statements: Statements, name: string) {
  const { rows } = await statements.run<{ head: string; revision: string }>(
    'SELECT head::text, revision FROM idops.states WHERE name = $1',
    [name],
  );
  const [state] = rows;
  return state && { ...state, records: await readRecords(statements, name) };
}

/** Inserts a state without records if there is none; returns whether it did. */
async function insertHead(
  statements: Statements,
  name: string,
  head: StateHead,
  revision: string,
): Promise<boolean> {
  const { count } = await statements.run(
    'INSERT INTO idops.states (name, head, revision) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING',
    [name, stringifyJson(head), revision],
  );
  return count > 0;
}

/** All records, in pages that are small enough for the time limit; in a transaction. */
async function readRecords(statements: Statements, name: string): Promise<Row[]> {
  await statements.run(
    'DECLARE records NO SCROLL CURSOR FOR SELECT address, record::text FROM idops.records WHERE state = $1',
    [name],
  );
  const records: Row[] = [];
  for (let isMore = true; isMore; ) {
    const page = await statements.run<Row>(`FETCH FORWARD ${PAGE} FROM records`);
    records.push(...page.rows);
    isMore = page.rows.length === PAGE;
  }
  await statements.run('CLOSE records');
  return records;
}

async function writeRecords(statements: Statements, name: string, records: Merge['records']): Promise<void> {
  const entries = [...records].map(([key, record]) => ({
    address: JSON.stringify(key).slice(1, -1),
    record,
  }));
  for (let at = 0; at < entries.length; at += PAGE) {
    const page = entries.slice(at, at + PAGE);
    const deleted = page.filter(({ record }) => record === null);
    const upserted = page.filter(({ record }) => record !== null);
    if (deleted.length > 0) {
      await statements.run('DELETE FROM idops.records WHERE state = $1 AND key = ANY ($2::uuid[])', [
        name,
        deleted.map(({ address }) => keyOf(address)),
      ]);
    }
    if (upserted.length > 0) {
      await statements.run(
        `INSERT INTO idops.records (state, key, address, record)
         SELECT $1, key, address, record::json
         FROM ROWS FROM (pg_catalog.unnest($2::uuid[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]))
           AS page (key, address, record)
         ON CONFLICT (state, key) DO UPDATE SET address = excluded.address, record = excluded.record`,
        [
          name,
          upserted.map(({ address }) => keyOf(address)),
          upserted.map(({ address }) => address),
          upserted.map(({ record }) => stringifyJson(record)),
        ],
      );
    }
  }
}

async function updateHead(
  statements: Statements,
  name: string,
  head: StateHead,
  revision: string,
): Promise<void> {
  await statements.run(
    'UPDATE idops.states SET head = $2, revision = $3, saved_at = pg_catalog.clock_timestamp() WHERE name = $1',
    [name, stringifyJson(head), revision],
  );
}

/** A hash: an address may be too long for an index. */
function keyOf(address: string): string {
  return hash('sha256', address, 'hex').slice(0, 32);
}
