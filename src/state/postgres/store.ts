import { hash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { stringifyJson } from '../../base/json.js';
import { error, ProblemsError } from '../../base/problems.js';
import type { StateBackend, StateName } from '../backend.js';
import { emptyState, type ResourceRecord, type State } from '../state.js';
import { ofServer, stateData, stateGone, stateOf } from '../state-text.js';
import { type Statements, transaction } from './connection.js';
import type { Database } from './database.js';
import type { StateLock } from './lock.js';

/** What the database was seen to have: by the address of each record, a hash of its text. */
interface Known {
  /** Each save gives the state another one. */
  readonly revision: string;
  readonly hashes: ReadonlyMap<string, string>;
}

/** How many records, and characters of them, go in one statement. */
const PAGE = 2_000;
const CHARACTERS = 4_000_000;

const nameSchema = z.object({ lineage: z.string(), salt: z.string() });

type Kept = Pick<StateBackend, 'load' | 'saved' | 'save' | 'merge' | 'told' | 'beside'>;

/** A state in the tables of a database: a row of what is said of it as a whole, and one for each record. */
export function stateRows(database: Database, lock: StateLock, name: string): Kept {
  const { place } = database.target;
  let known: Known | undefined;

  const saved = async (): Promise<State | undefined> => {
    const found = await database.read(undefined, (statements) =>
      transaction(statements, () => readAll(statements, name), 'ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    );
    if (found === undefined) {
      known = undefined;
      return undefined;
    }
    known = knownOf(found);
    const head = stateData(found.head, place);
    const resources = new Map<string, unknown>();
    for (const { address, record } of found.records) {
      // It is written as a string of JSON is.
      const key = String(stateData(`"${address}"`, place));
      if (resources.has(key)) throw recordTwice(key, place);
      resources.set(key, stateData(record, place));
    }
    return stateOf({ ...(head as object), resources: Object.fromEntries(resources) }, place);
  };

  const names = async (where: string): Promise<StateName[]> => {
    const rows = await database.read([], async (statements) => {
      const answer = await statements.run<{ head: string }>(
        `SELECT head::text FROM idops.states WHERE ${where} ORDER BY name`,
        [name],
      );
      return answer.rows;
    });
    return rows.flatMap(({ head }) => nameSchema.safeParse(JSON.parse(head)).data ?? []);
  };

  return {
    async load(server) {
      const state = await saved();
      return state === undefined ? emptyState(server) : ofServer(state, place, server);
    },
    saved,
    async save({ resources, ...head }) {
      const records = Object.entries(resources).map(rowOf);
      const wanted = { head: stringifyJson(head), revision: randomUUID(), records };
      await database.write((statements) =>
        transaction(statements, async () => {
          await lock.fence(statements);
          await replace(statements, name, wanted, known);
        }),
      );
      known = knownOf(wanted);
    },
    async merge({ records, absent, head: headOf }) {
      const entries = [...records];
      const put = entries.flatMap(([key, record]) => (record === null ? [] : [rowOf([key, record])]));
      const gone = entries.flatMap(([key, record]) => (record === null ? [addressOf(key)] : []));
      const revision = randomUUID();
      const merged = await database.write((statements) =>
        transaction(statements, async () => {
          await lock.fence(statements);
          if (absent !== undefined) await begin(statements, name, absent);
          // Whoever else merges or saves waits here.
          const { rows } = await statements.run<{ head: string }>(
            'SELECT head::text FROM idops.states WHERE name = $1 FOR UPDATE',
            [name],
          );
          const [there] = rows;
          if (there === undefined) throw stateGone(place);
          // Its records may be very many, and nothing is asked of them.
          const whole = { ...(stateData(there.head, place) as object), resources: {} };
          const { resources: _, ...now } = stateOf(whole, place);
          const head = headOf(now);
          await remove(statements, name, gone);
          await upsert(statements, name, put);
          await describe(statements, name, { head: stringifyJson(head), revision });
          return head;
        }),
      );
      // What others merged isn't known here.
      known = undefined;
      return merged;
    },
    told: async () => (await names('name = $1'))[0],
    beside: () => names('name <> $1'),
  };
}

/** A record, its address as in a string of JSON, and the hash of its text. */
interface Row {
  readonly address: string;
  readonly record: string;
  readonly hash: string;
}

/** A state as the database has it, or is to have it. */
interface Rows {
  readonly head: string;
  readonly revision: string;
  readonly records: readonly Row[];
}

async function readAll(statements: Statements, name: string): Promise<Rows | undefined> {
  const { rows } = await statements.run<{ head: string; revision: string }>(
    'SELECT head::text, revision FROM idops.states WHERE name = $1',
    [name],
  );
  const [state] = rows;
  return state === undefined ? undefined : { ...state, records: await readRecords(statements, name) };
}

/** Puts a state where there is none. */
async function begin(statements: Statements, name: string, { resources, ...head }: State): Promise<void> {
  const { count } = await statements.run(
    'INSERT INTO idops.states (name, head, revision) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING',
    [name, stringifyJson(head), randomUUID()],
  );
  if (count > 0) await upsert(statements, name, Object.entries(resources).map(rowOf));
}

/** All records, in pages, each of which comes soon enough; in a transaction. */
async function readRecords(statements: Statements, name: string): Promise<Row[]> {
  await statements.run(
    'DECLARE records NO SCROLL CURSOR FOR SELECT address, record::text FROM idops.records WHERE state = $1',
    [name],
  );
  const records: Row[] = [];
  for (let isMore = true; isMore; ) {
    const page = await statements.run<{ address: string; record: string }>(
      `FETCH FORWARD ${PAGE} FROM records`,
    );
    for (const { address, record } of page.rows) records.push({ address, record, hash: hashOf(record) });
    isMore = page.rows.length === PAGE;
  }
  await statements.run('CLOSE records');
  return records;
}

/** Brings the rows to what is wanted; writes those that aren't so yet, as far as is known of them. */
async function replace(
  statements: Statements,
  name: string,
  wanted: Rows,
  known: Known | undefined,
): Promise<void> {
  const { head, revision, records } = wanted;
  await statements.run(
    'INSERT INTO idops.states (name, head, revision) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING',
    [name, head, revision],
  );
  // Whoever else saves waits here.
  const { rows } = await statements.run<{ revision: string }>(
    'SELECT revision FROM idops.states WHERE name = $1 FOR UPDATE',
    [name],
  );
  // Somebody else may have saved it since, or a save may have arrived whose answer did not.
  const isKnown = known !== undefined && known.revision === rows[0]?.revision;
  const there = isKnown
    ? known.hashes
    : knownOf({ ...wanted, records: await readRecords(statements, name) }).hashes;
  const addresses = new Set(records.map(({ address }) => address));
  const gone = [...there.keys()].filter((address) => !addresses.has(address));
  await remove(statements, name, gone);
  const changed = records.filter(({ address, hash }) => there.get(address) !== hash);
  await upsert(statements, name, changed);
  await describe(statements, name, wanted);
}

async function remove(statements: Statements, name: string, addresses: readonly string[]): Promise<void> {
  for (let at = 0; at < addresses.length; at += PAGE) {
    await statements.run('DELETE FROM idops.records WHERE state = $1 AND key = ANY ($2::uuid[])', [
      name,
      addresses.slice(at, at + PAGE).map(keyOf),
    ]);
  }
}

async function upsert(statements: Statements, name: string, records: readonly Row[]): Promise<void> {
  for (const page of pagesOf(records)) {
    await statements.run(
      `INSERT INTO idops.records (state, key, address, record)
       SELECT $1, key, address, record::json FROM unnest($2::uuid[], $3::text[], $4::text[]) AS page (key, address, record)
       ON CONFLICT (state, key) DO UPDATE SET address = excluded.address, record = excluded.record`,
      [
        name,
        page.map(({ address }) => keyOf(address)),
        page.map(({ address }) => address),
        page.map(({ record }) => record),
      ],
    );
  }
}

/** Writes what is said of a state as a whole. */
async function describe(
  statements: Statements,
  name: string,
  { head, revision }: Pick<Rows, 'head' | 'revision'>,
): Promise<void> {
  await statements.run(
    'UPDATE idops.states SET head = $2, revision = $3, saved_at = clock_timestamp() WHERE name = $1',
    [name, head, revision],
  );
}

function* pagesOf(records: readonly Row[]): Generator<readonly Row[]> {
  let [begin, characters] = [0, 0];
  for (const [index, { record }] of records.entries()) {
    if (index - begin >= PAGE || characters > CHARACTERS) {
      yield records.slice(begin, index);
      [begin, characters] = [index, 0];
    }
    characters += record.length;
  }
  if (begin < records.length) yield records.slice(begin);
}

/** The refusal of a state with two rows of one object: nobody knows the right one. */
function recordTwice(address: string, place: string): ProblemsError {
  return new ProblemsError([
    error(
      'state-unreadable',
      `the state ${place} has two records of ${address}`,
      [],
      'find out which row of idops.records is right, and remove the other: idops writes one for each object',
    ),
  ]);
}

function knownOf({ revision, records }: Rows): Known {
  return { revision, hashes: new Map(records.map(({ address, hash }) => [address, hash])) };
}

function rowOf([key, record]: readonly [string, ResourceRecord]): Row {
  const text = stringifyJson(record);
  return { address: addressOf(key), record: text, hash: hashOf(text) };
}

/** An address as it is kept. */
function addressOf(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}

/** A record is what it was where its text is. */
function hashOf(text: string): string {
  return hash('sha256', text, 'base64');
}

/** The key of an address, which may be longer than an index takes. */
function keyOf(address: string): string {
  return hash('sha256', address, 'hex').slice(0, 32);
}
