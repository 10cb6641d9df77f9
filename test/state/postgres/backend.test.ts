import { once } from 'node:events';
import { Client } from 'pg';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StateBackend } from '../../../src/state/backend.js';
import { postgresBackend } from '../../../src/state/postgres/index.js';
import { emptyState, type ResourceRecord, type State } from '../../../src/state/state.js';
import { afterwards } from '../../cleanups.js';
import { conforms, elsewhere } from '../backends.js';
import { problemOf, refused } from './failing.js';
import { line, recordOf, runLine, serverUrl } from './lines.js';
import { begin, inDatabase } from './place.js';
import { noPostgres, type PostgresServer, sharedPostgres } from './server.js';

const run = '20260131T120000Z-aaaaaa';

let server: PostgresServer;
let database = '';

function open(name = 'a'): StateBackend {
  return postgresBackend({ url: server.url(database), name });
}

async function leave(seenAt: string, shard = ''): Promise<void> {
  await server.sql(
    database,
    `INSERT INTO idops.locks (state, shard, nonce, session, advisory, holder, backend, seen_at)
     VALUES ('a', $1, gen_random_uuid(), gen_random_uuid(), 1, $2, 1, ${seenAt})`,
    [shard, JSON.stringify({ ...elsewhere, at: '2026-01-31T12:00:00.000Z' })],
  );
}

/** How many records each transaction wrote last, the newest transaction last. */
async function written(): Promise<number[]> {
  const rows = await server.sql<{ count: string }>(
    database,
    'SELECT count(*) FROM idops.records GROUP BY xmin ORDER BY min(age(xmin)) DESC',
  );
  return rows.map(({ count }) => Number(count));
}

function users(count: number, change: (index: number) => ResourceRecord['fields'] = () => ({})): State {
  return {
    ...emptyState(serverUrl),
    lineage: 'one',
    salt: 'salt',
    resources: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`User/${index}`, recordOf(`${index}`, change(index))]),
    ),
  };
}

describe.skipIf(noPostgres !== null)(
  `a state in PostgreSQL${noPostgres === null ? '' : `: ${noPostgres}`}`,
  () => {
    beforeAll(async () => {
      server = await sharedPostgres();
    });

    conforms('PostgreSQL backend', () => inDatabase(server));

    it('is not read over a connection without the requested TLS', async () => {
      const url = server.url('postgres', { host: 'localhost', query: '?sslmode=verify-full' });
      const loading = postgresBackend({ url, name: 'a' }).load(serverUrl);
      await refused(loading, 'state-unreachable', 'does not support SSL connections');
    });

    describe('the records', () => {
      beforeEach(async () => {
        database = await server.database();
      });

      it('are written only if they changed, after a load as after a save', async () => {
        const changed = (state: State, id: string, name: string): State => ({
          ...state,
          resources: { ...state.resources, [`User/${id}`]: recordOf(id, { name }) },
        });
        const backend = open();
        const first = users(300);
        await backend.save(first);
        expect(await written()).toEqual([300]);
        await backend.save(changed(first, '7', 'x'));
        expect(await written()).toEqual([299, 1]);

        const other = open();
        const loaded = await other.load(serverUrl);
        await other.save(changed(changed(loaded, '7', 'x'), '300', 'y'));
        expect(await written()).toEqual([299, 2]);

        await backend.save(users(3));
        expect(await open().saved()).toEqual(users(3));
        await open().save(users(2));
        expect(await open().saved()).toEqual(users(2));
        await backend.save(users(0));
        expect(await open().saved()).toEqual(users(0));
      });

      it('are merged without reading the others', async () => {
        await open().save(users(300));
        const records = new Map([
          ['User/7', recordOf('7', { name: 'x' })],
          ['User/8', null],
          ['User/more', recordOf('more')],
        ]);
        const backend = open();
        await backend.merge({ records, head: (head) => ({ ...head, serial: 7 }) });
        expect(await written()).toEqual([298, 2]);
        expect(await open().saved()).toMatchObject({
          serial: 7,
          resources: { 'User/7': { fields: { name: 'x' } }, 'User/more': {} },
        });
        await backend.save(users(300));
        expect(await open().saved()).toEqual(users(300));
      });

      it('are merged in any number', async () => {
        const { resources } = users(2_001, (index) => ({ name: `${index}` }));
        await open().save(users(2_500));
        const gone = Array.from({ length: 2_001 }, (_, index) => [`User/${index}`, null] as const);
        await open().merge({ records: new Map(Object.entries(resources)), head: (head) => head });
        expect((await open().saved())?.resources).toEqual({ ...users(2_500).resources, ...resources });
        await open().merge({ records: new Map(gone), head: (head) => head });
        expect(Object.keys((await open().saved())?.resources ?? {})).toHaveLength(499);
      });

      it('are those of the last save, even if another state was saved meanwhile', async () => {
        const [one, other] = [open(), open()];
        await one.save(users(5));
        await other.load(serverUrl);
        await one.save(users(7, () => ({ name: 'x' })));
        await other.save(users(6));
        expect(await open().saved()).toEqual(users(6));
      });

      it('of several states are kept apart', async () => {
        await open('a').save(users(3));
        await open('b').save({ ...users(2), lineage: 'other' });
        await open('a').save(users(0));
        expect(await open('b').saved()).toEqual({ ...users(2), lineage: 'other' });
        expect(await open('c').neighbours()).toEqual([
          { lineage: 'one', salt: 'salt' },
          { lineage: 'other', salt: 'salt' },
        ]);
      });

      it.each([
        [
          'a record is invalid',
          'state-unreadable',
          'is not a state of idops at resources.User/1',
          `UPDATE idops.records SET record = '{}' WHERE address = 'User/1'`,
        ],
        [
          'an address is invalid',
          'state-unreadable',
          'is not JSON',
          `UPDATE idops.records SET address = 'x"' WHERE address = 'User/1'`,
        ],
        [
          'the head is invalid',
          'state-unreadable',
          'is not a state of idops',
          `UPDATE idops.states SET head = '[]'`,
        ],
        [
          'the head lacks a field',
          'state-unreadable',
          'at salt',
          `UPDATE idops.states SET head = (head::jsonb - 'salt')::json`,
        ],
      ])('are refused if %s', async (_, code, message, change) => {
        await open().save(users(2));
        await server.sql(database, change);
        await refused(open().load(serverUrl), code, message);
        await refused(open().saved(), code, message);
      });
    });

    it('keeps a lock whose holder renews it during a takeover', async () => {
      database = await server.database();
      await open().save(users(1));
      await leave("'2026-01-31'", '1-of-3');
      const other = new Client({ connectionString: server.url(database) });
      await other.connect();
      afterwards(() => other.end());
      await other.query('BEGIN');
      await other.query('UPDATE idops.locks SET seen_at = clock_timestamp()');
      const taking = problemOf(open().lock('apply', new Date()));
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE %'`;
      while ((await server.sql(database, waiting)).length === 0)
        await new Promise((done) => setTimeout(done, 10));
      await other.query('COMMIT');
      expect(await taking).toMatchObject({
        code: 'locked',
        message: expect.stringContaining('locked by a run of a shard: apply by grace'),
      });
      expect((await open().lockStatuses()).map(({ shard }) => shard)).toEqual([{ index: 1, count: 3 }]);
    });

    it('takes over a lock that was renewed in the future, by a clock that was set back', async () => {
      database = await server.database();
      await open().save(users(1));
      await leave("clock_timestamp() + interval '1 day'");
      const lock = await open().lock('undo', new Date());
      expect(lock.takenOver).toMatch(
        /^took over the lock of apply by grace .+ nothing was heard of it for 0 s$/,
      );
      await lock.confirm();
      await lock.release();
      await leave("clock_timestamp() + interval '30 minutes'");
      const patient = postgresBackend({ url: server.url(database), name: 'a' }, { lease: 3_600_000 });
      const { message, hint } = await problemOf(patient.lock('undo', new Date()));
      expect(message).toContain('nothing was heard of it for 0 s, and it may come back');
      expect(hint).toMatch(/^try again in \d+ s/);
    });

    it('reports whether the session of a removable lock is connected', async () => {
      database = await server.database();
      const lock = await open().lock('apply', new Date());
      expect((await open().removable())?.holder).toMatch(
        /^apply by .+ since [\d:.TZ-]+, whose session is connected right now$/,
      );
      await lock.release();
      await leave('clock_timestamp()');
      expect((await open().removable())?.holder).toMatch(/since [\d:.TZ-]+$/);
    });

    describe('a process', () => {
      beforeEach(async () => {
        database = await server.database();
      });

      it('loses its lock as soon as it is killed', async () => {
        const child = begin(
          server.url(database),
          `await backend.lock('apply', new Date()); console.log('got'); setInterval(() => {}, 1000);`,
        );
        await child.printed();
        await refused(open().lock('undo', new Date()), 'locked');
        await refused(open().removable(), 'locked', 'still runs on this host');
        const ended = once(child, 'close');
        child.kill('SIGKILL');
        await ended;
        expect((await open().lockStatuses())[0]?.fate).toBe('gone');
        expect(await open().holder()).toBeNull();
        const lock = await open().lock('undo', new Date());
        expect(lock.takenOver).toMatch(/^took over the lock of apply by .+, which is gone$/);
      });

      it('exits even if it left a connection and a lock open', async () => {
        const child = begin(
          server.url(database),
          `
        await backend.save(${JSON.stringify(users(0))});
        await backend.lock('apply', new Date());
        await backend.load('${serverUrl}');`,
        );
        expect(await once(child, 'close')).toEqual([0, null]);
        expect((await open().lock('undo', new Date())).takenOver).toContain('which is gone');
      });
    });

    describe('a journal', () => {
      beforeEach(async () => {
        database = await server.database();
      });

      it('has its lines in order, many of them in one commit', async () => {
        const backend = open();
        const journal = await backend.runs.create(runLine(run, users(0)));
        const lines = Array.from({ length: 3_000 }, (_, index) => line(index + 1, `note ${index} \0 👩`));
        await Promise.all(lines.map((one) => journal.write(one)));
        await journal.close();
        const content = await open().runs.read(run);
        expect(content?.lines).toEqual(lines);
        const commits = await server.sql(database, 'SELECT xmin FROM idops.lines GROUP BY xmin');
        expect(commits.length).toBeLessThan(10);
      });

      it('is refused if a line is missing or invalid', async () => {
        const journal = await open().runs.create(runLine(run, users(0)));
        for (const seq of [1, 2, 3]) await journal.write(line(seq));
        await server.sql(database, 'DELETE FROM idops.lines WHERE number = 2');
        await refused(open().runs.read(run), 'journal-unreadable', 'line 3 is missing');
        await server.sql(database, "UPDATE idops.lines SET line = '{}'");
        await server.sql(database, 'UPDATE idops.lines SET number = 2 WHERE number = 3');
        await refused(open().runs.read(run), 'journal-unreadable', 'is not a journal line');
        await refused(open().runs.read('other'), 'journal-unreadable', 'is not there');
        await refused(open().runs.hasEnd('other'), 'journal-unreadable', 'is not there');
      });
    });
  },
);
