import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Merge, StateBackend } from '../../../src/state/backend.js';
import type { Times } from '../../../src/state/postgres/connection.js';
import { postgresBackend } from '../../../src/state/postgres/index.js';
import { emptyState } from '../../../src/state/state.js';
import { afterwards } from '../../cleanups.js';
import { problemOf } from './failing.js';
import { line, recordOf, runLine, serverUrl } from './lines.js';
import { proxyTo, type ServerProxy } from './proxy.js';
import { noPostgres, type PostgresServer, startPostgres } from './server.js';

const run = '20260131T120000Z-aaaaaa.2-of-3';
const state = { ...emptyState(serverUrl), serial: 1 };

let server: PostgresServer;
let database = '';
let proxy: ServerProxy;

/** A backend of its own; over the proxy where it is said so. */
function open(times: Partial<Times> = {}, port = server.port): StateBackend {
  const url = new URL(server.url(database));
  url.port = String(port);
  return postgresBackend({ url: url.href, name: 'a' }, { pause: 5, ...times });
}
const overProxy = (times: Partial<Times> = {}): StateBackend => open(times, proxy.port);

describe.skipIf(noPostgres !== null)('a part of a state in PostgreSQL, where something fails,', () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    database = await server.database();
    proxy = await proxyTo(server.port);
    afterwards(() => proxy.close());
  });

  const kept = (fault: string) => ({
    ...state,
    lineage: fault,
    resources: { 'User/1': recordOf('1'), 'User/2': recordOf('2') },
  });
  const change = (fault: string): Merge => ({
    records: new Map([
      ['User/1', recordOf('1', { fault })],
      ['User/2', null],
    ]),
    head: (head) => ({ ...head, serial: head.serial + 1 }),
  });
  const shard = { index: 2, count: 3 };

  it.each([
    ...['UPDATE idops.locks', 'FOR UPDATE', 'DELETE FROM idops.records', 'INSERT INTO idops.records'],
    ...['UPDATE idops.states', 'COMMIT'],
  ])('is done though its %s is cut, and keeps its lock', async (text) => {
    for (const fault of ['cut before', 'cut after'] as const) {
      await open().save(kept(fault));
      const backend = overProxy();
      const lock = await backend.lock('apply', new Date(), shard);
      const faults = [fault];
      proxy.fault = (sent) => (sent.includes(text) ? faults.shift() : undefined);
      const head = await backend.merge(change(fault));
      // One that arrived without an answer is made once more.
      expect(head.serial).toBe(text === 'COMMIT' && fault === 'cut after' ? 3 : 2);
      const resources = { 'User/1': recordOf('1', { fault }) };
      expect(await open().saved()).toEqual({ ...kept(fault), serial: head.serial, resources });
      await lock.confirm();
      expect(await open().lockStatuses()).toMatchObject([{ shard, fate: 'alive' }]);
      await lock.release();
    }
  });

  it('is refused to a shard whose lock somebody else took for gone', async () => {
    await open().save(kept('none'));
    const backend = overProxy();
    const lock = await backend.lock('apply', new Date(), shard);
    const journal = await backend.runs.create(runLine(run, state));
    proxy.isOpen = false;
    proxy.cut();
    await gone();
    const whole = await open({ lease: -1 }).lock('undo', new Date());
    expect(whole.takenOver).toContain('took over the lock of apply by');
    proxy.isOpen = true;
    for (const work of [() => backend.merge(change('late')), () => journal.write(line(1))])
      expect(await problemOf(work())).toMatchObject({ code: 'locked' });
    await lock.release();
    await whole.confirm();
    expect(await open().saved()).toEqual(kept('none'));
  });
});

/** Waits until the server knows of no session that holds a lock. */
async function gone(): Promise<void> {
  const held = () =>
    server.sql(
      database,
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
  while ((await held()).length > 0) await wait(5);
}
