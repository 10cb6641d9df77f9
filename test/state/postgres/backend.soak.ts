import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StateBackend } from '../../../src/state/backend.js';
import { postgresBackend } from '../../../src/state/postgres/index.js';
import { emptyState, type State } from '../../../src/state/state.js';
import { races } from '../races.js';
import { line, recordOf, runLine, serverUrl } from './lines.js';
import { begin, inDatabase } from './place.js';
import { noPostgres, type PostgresServer, sharedPostgres } from './server.js';

const run = '20260131T120000Z-aaaaaa';
const state = emptyState(serverUrl);

let server: PostgresServer;
let database = '';

function open(): StateBackend {
  return postgresBackend({ url: server.url(database), name: 'a' }, { pause: 5 });
}

/** Ends every other session of the database. */
async function terminate(): Promise<void> {
  const all = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1';
  await server.sql('postgres', all, [database]);
}

describe.skipIf(noPostgres !== null)('a state in PostgreSQL', () => {
  beforeAll(async () => {
    server = await sharedPostgres();
  });
  beforeEach(async () => {
    database = await server.database();
  });

  races('PostgreSQL backend', () => inDatabase(server));

  it('has records that are read as of one moment', async () => {
    const backend = open();
    await backend.save(users(0));
    let isDone = false;
    const saving = (async () => {
      for (let at = 1; !isDone; at += 1) await backend.save(users(at));
    })();
    for (let tries = 0; tries < 10; tries += 1) {
      const { resources } = await open().load(serverUrl);
      expect(new Set(Object.values(resources).map(({ fields }) => fields.at)).size).toBe(1);
    }
    isDone = true;
    await saving;
  });

  it('has a lock that one of several processes gets', async () => {
    const children = Array.from({ length: 5 }, () =>
      begin(
        server.url(database),
        `
      process.stdin.once('data', async () => {
        const got = await backend.lock('apply', new Date()).then(() => 'got', ({ problems }) => problems[0].code);
        console.log(got);
      });
      console.log('ready');`,
      ),
    );
    await Promise.all(children.map((child) => child.printed()));
    const answers = children.map((child) => child.printed());
    for (const child of children) child.stdin?.write('now\n');
    expect((await Promise.all(answers)).sort()).toEqual(['got', 'locked', 'locked', 'locked', 'locked']);
  });

  it('has a journal that neither loses nor repeats a line if its connection is cut often', async () => {
    const backend = open();
    const lock = await backend.lock('apply', new Date());
    const journal = await backend.runs.create(runLine(run, state));
    let isDone = false;
    const cutting = (async () => {
      while (!isDone) await terminate();
    })();
    const written = Array.from({ length: 600 }, (_, index) => line(index + 1, 'x'.repeat(500)));
    for (let at = 0; at < written.length; at += 20) {
      await Promise.all(written.slice(at, at + 20).map((one) => journal.write(one)));
      await lock.confirm();
    }
    isDone = true;
    await cutting;
    await journal.close();
    expect((await open().runs.read(run))?.lines).toEqual(written);
    await lock.release();
    expect(await open().holder()).toBeNull();
  });
});

function users(at: number): State {
  return {
    ...state,
    resources: Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`User/${index}`, recordOf(`${index}`, { at })]),
    ),
  };
}
