import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Merge, StateBackend } from '../../../src/state/backend.js';
import { defaultTimes, type Times } from '../../../src/state/postgres/connection.js';
import { postgresBackend } from '../../../src/state/postgres/index.js';
import { emptyState } from '../../../src/state/state.js';
import { afterwards } from '../../cleanups.js';
import { problemOf, refused } from './failing.js';
import { line, recordOf, runLine, serverUrl } from './lines.js';
import { proxyTo, type ServerProxy } from './proxy.js';
import { noPostgres, type PostgresServer, sharedPostgres } from './server.js';

const run = '20260131T120000Z-aaaaaa';
const state = { ...emptyState(serverUrl), serial: 1 };

let server: PostgresServer;
let database = '';
let proxy: ServerProxy;

/** A new backend, which connects to the given port. */
function open(times: Partial<Times> = {}, port = server.port): StateBackend {
  const url = new URL(server.url(database));
  url.port = String(port);
  return postgresBackend({ url: url.href, name: 'a' }, { pause: 5, ...times });
}
const overProxy = (times: Partial<Times> = {}): StateBackend => open(times, proxy.port);

/** Faults of the first statements that contain a text. */
function faulty(text: string, ...faults: NonNullable<ReturnType<ServerProxy['fault']>>[]): void {
  proxy.fault = (sent) => (sent.includes(text) ? faults.shift() : undefined);
}

function fakeTimers(
  ...toFake: ('setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval' | 'performance')[]
): void {
  vi.useFakeTimers({ toFake });
  afterwards(() => void vi.useRealTimers());
}

/** The network goes silent once, at the first statement that contains a text, until idops stops waiting. */
function silentOnce(text: string): void {
  // Time passes only when the test advances it.
  fakeTimers('setTimeout', 'clearTimeout', 'performance');
  let isSilent = false;
  proxy.fault = (sent) => {
    if (isSilent || !sent.includes(text)) return undefined;
    isSilent = true;
    setImmediate(() => vi.advanceTimersByTime(defaultTimes.answer));
    return 'silence';
  };
}

/** Ends every session of the database, and waits until the server has removed them. */
async function terminate(): Promise<void> {
  const all = 'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1';
  await server.sql('postgres', all, [database]);
}

async function linesOf(backend = open()): Promise<unknown[]> {
  return [...((await backend.runs.read(run))?.lines ?? [])];
}

describe.skipIf(noPostgres !== null)('a state in PostgreSQL, if something fails', () => {
  beforeAll(async () => {
    server = await sharedPostgres();
  });
  beforeEach(async () => {
    database = await server.database();
    proxy = await proxyTo(server.port);
    afterwards(() => proxy.close());
  });

  describe('a journal', () => {
    it.each(['cut before', 'cut after'] as const)('has a line once if its statement is %s', async (fault) => {
      const backend = overProxy();
      const journal = await backend.runs.create(runLine(run, state));
      faulty('INSERT INTO idops.lines', fault, fault, fault);
      await journal.write(line(1));
      await journal.write(line(2));
      expect(await linesOf()).toEqual([line(1), line(2)]);
    });

    it.each(['cut before', 'cut after'] as const)(
      'continues if the check whether a line arrived is %s too',
      async (fault) => {
        const backend = overProxy();
        const journal = await backend.runs.create(runLine(run, state));
        let isCut = false;
        proxy.fault = (sent) => {
          if (sent.includes('UPDATE idops.runs') && !isCut) {
            isCut = true;
            return fault;
          }
          return sent.includes('INSERT INTO idops.lines') && !isCut ? 'cut after' : undefined;
        };
        await journal.write(line(1));
        expect(isCut).toBe(true);
        await journal.write(line(2));
        expect(await linesOf()).toEqual([line(1), line(2)]);
      },
    );

    it.each(['cut before', 'cut after'] as const)('is created once if the statement is %s', async (fault) => {
      faulty('INSERT INTO idops.runs', fault);
      const journal = await overProxy().runs.create(runLine(run, state));
      await journal.write(line(1));
      expect(await linesOf()).toEqual([line(1)]);
      await refused(open().runs.create(runLine(run, state)), 'not-writable');
    });

    it('has each line once if a COMMIT is cut', async () => {
      const backend = overProxy();
      await (await backend.lock('apply', new Date())).confirm();
      faulty('COMMIT', 'cut after');
      const journal = await backend.runs.create(runLine(run, state));
      await journal.write(line(1));
      expect(await linesOf()).toEqual([line(1)]);
    });

    it('lacks a line that was given up, even if it arrived', async () => {
      const backend = overProxy({ patience: 0 });
      const journal = await backend.runs.create(runLine(run, state));
      await journal.write(line(1));
      faulty('INSERT INTO idops.lines', 'cut after');
      await refused(journal.write(line(2)), 'state-unreachable');
      await journal.write(line(3));
      expect(await linesOf()).toEqual([line(1), line(3)]);
    });

    it('retries if the network is silent for longer than the time limit', async () => {
      const backend = overProxy();
      const journal = await backend.runs.create(runLine(run, state));
      silentOnce('INSERT INTO idops.lines');
      await journal.write(line(1));
      expect(await linesOf()).toEqual([line(1)]);
    });

    it('is not written by the former run after another run reopened it', async () => {
      const journal = await open().runs.create(runLine(run, state));
      await journal.write(line(1));
      const other = open();
      const content = await other.runs.read(run);
      if (content === null) throw new Error('no journal');
      const next = await other.runs.reopen(content);
      await refused(journal.write(line(2)), 'locked', 'was taken over');
      await next.write(line(3));
      expect(await linesOf()).toEqual([line(1), line(3)]);
      await refused(open().runs.reopen(content), 'locked');
    });

    it('does not reappear if it was removed while a run writes it', async () => {
      const backend = open();
      const journal = await backend.runs.create(runLine(run, state));
      await open().runs.remove([run]);
      await refused(journal.write(line(1)), 'locked');
      expect(await open().runs.list()).toEqual([]);
    });
  });

  describe('a run', () => {
    it('continues after PostgreSQL restarts, and keeps its lock', async () => {
      const backend = open({ longestPause: 50 });
      const lock = await backend.lock('apply', new Date());
      await backend.save(state);
      const journal = await backend.runs.create(runLine(run, state));
      for (const how of ['fast', 'immediate'] as const) {
        await server.stop(how);
        const writing = [1, 2, 3].map((seq) => journal.write(line(seq, how)));
        const saving = backend.save({ ...state, serial: 2 });
        await server.start();
        await Promise.all([...writing, saving]);
        await lock.confirm();
        await refused(open().lock('undo', new Date()), 'locked');
      }
      expect(await linesOf()).toHaveLength(6);
      expect((await open().saved())?.serial).toBe(2);
      await lock.release();
      await (await open().lock('undo', new Date())).release();
    });

    it.each(['INSERT INTO idops.locks', 'idops.versions', 'current_setting'])(
      'locks and reads even if a connection is silent for longer than the time limit (%s)',
      async (text) => {
        const backend = overProxy();
        silentOnce(text);
        const lock = await backend.lock('apply', new Date());
        await lock.confirm();
        await backend.save(state);
        await lock.release();
        silentOnce(text.replace('INSERT INTO idops.locks', 'FROM idops.records'));
        expect(await overProxy().load(serverUrl)).toEqual(state);
      },
    );

    it('fails if PostgreSQL stays unreachable', async () => {
      const backend = overProxy({ patience: 60 });
      const lock = await backend.lock('apply', new Date());
      const journal = await backend.runs.create(runLine(run, state));
      proxy.isOpen = false;
      proxy.cut();
      const works = [journal.write(line(1)), backend.save(state), lock.confirm(), backend.load(serverUrl)];
      for (const problem of await Promise.all(works.map((work) => problemOf(work)))) {
        expect(problem).toMatchObject({
          code: 'state-unreachable',
          message: expect.stringMatching(/^the database of the state can't be reached: .+ \(a in /),
        });
      }
      await lock.release();
    });

    it('reconnects automatically, so that its lock is not taken over', async () => {
      fakeTimers('setInterval', 'clearInterval');
      const lock = await overProxy().lock('apply', new Date());
      await terminate();
      const renewed = new Promise<void>((done) => {
        proxy.fault = (sent) => void (sent.includes('UPDATE idops.locks SET seen_at') && done());
      });
      vi.advanceTimersByTime(defaultTimes.renewal);
      await renewed;
      expect(await open({ lease: 0 }).lockStatuses()).toMatchObject([{ fate: 'alive' }]);
      await refused(open({ lease: 0 }).lock('undo', new Date()), 'locked');
      await lock.confirm();
      await lock.release();
    });

    it('keeps its connection while it is idle', async () => {
      fakeTimers('setTimeout', 'clearTimeout');
      const lock = await open().lock('apply', new Date());
      vi.advanceTimersByTime(2 * defaultTimes.idle);
      expect(await open().holder()).toMatch(/, whose session is connected right now$/);
      await lock.release();
    });

    it('keeps its lock for a while if its connection is cut', async () => {
      const backend = overProxy();
      const lock = await backend.lock('apply', new Date());
      proxy.isOpen = false;
      await terminate();
      const refused = await problemOf(open().lock('undo', new Date()));
      expect(refused).toMatchObject({ code: 'locked' });
      expect(refused.message).toMatch(
        /its connection was cut, and nothing was heard of it for \d+ s, and it may come back$/,
      );
      expect(refused.hint).toMatch(/^try again in \d+ s/);
      expect(await open().holder()).not.toContain('is connected right now');
      proxy.isOpen = true;
      await lock.confirm();
      expect(await open().holder()).toContain('is connected right now');
    });

    it('writes nothing after its lock was taken over', async () => {
      const backend = overProxy();
      await backend.save(state);
      const lock = await backend.lock('apply', new Date());
      const journal = await backend.runs.create(runLine(run, state));
      proxy.isOpen = false;
      await terminate();
      const other = await open({ lease: -1 }).lock('undo', new Date());
      expect(other.takenOver).toMatch(
        /^took over the lock of apply by .+: its connection was cut, and nothing/,
      );
      proxy.isOpen = true;
      const works = [
        () => journal.write(line(1)),
        () => backend.save({ ...state, serial: 9 }),
        () => backend.runs.remove([run]),
        () => backend.runs.create(runLine('20260131T120000Z-bbbbbb', state)),
        () => lock.confirm(),
      ];
      for (const work of works) {
        const why = /^the lock of the state was lost: another process took it over: undo by/;
        await refused(work(), 'locked', why);
      }
      // It may still read.
      expect(await backend.saved()).toEqual(state);
      await lock.release();
      await other.confirm();
      expect(await open().runs.list()).toEqual([run]);
      expect(await linesOf()).toEqual([]);
    });

    it('writes nothing after its lock was removed, even if it is still connected', async () => {
      const backend = open();
      const lock = await backend.lock('apply', new Date());
      const journal = await backend.runs.create(runLine(run, state));
      await (await open().removable())?.remove();
      await refused(journal.write(line(1)), 'locked', 'the lock of the state was lost: it was removed');
      const second = await open().lock('undo', new Date());
      await refused(backend.save(state), 'locked');
      await lock.release();
      await second.confirm();
      expect(await open().saved()).toBeUndefined();
      expect(await linesOf()).toEqual([]);
    });

    it.each(['cut before', 'cut after'] as const)('gets the lock if its statement is %s', async (fault) => {
      faulty('INSERT INTO idops.locks', fault);
      const lock = await overProxy().lock('apply', new Date());
      expect(lock.takenOver).toBeNull();
      await lock.confirm();
      await refused(open().lock('undo', new Date()), 'locked');
      await lock.release();
    });
  });

  describe('saving', () => {
    /** By default, more records than fit in one statement. */
    const many = (serial: number, text: string, count = 2_001) => ({
      ...state,
      serial,
      resources: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`User/${index}`, recordOf(`${index}`, { text })]),
      ),
    });

    it('keeps the old state if it is cut in the middle', async () => {
      await open().save(many(1, 'old'));
      const backend = overProxy({ patience: 0 });
      await backend.load(serverUrl);
      let pages = 0;
      proxy.fault = (sent) => {
        if (sent.includes('INSERT INTO idops.records')) pages += 1;
        return pages === 2 ? 'cut after' : undefined;
      };
      await refused(backend.save(many(2, 'new')), 'state-unreachable');
      expect(await open().saved()).toEqual(many(1, 'old'));
      proxy.fault = () => undefined;
      await backend.save(many(3, 'new'));
      expect(await open().saved()).toEqual(many(3, 'new'));
    });

    it.each(['INSERT INTO idops.states', 'INSERT INTO idops.records', 'UPDATE idops.states', 'COMMIT'])(
      'is repeated if its %s is cut',
      async (text) => {
        for (const fault of ['cut before', 'cut after'] as const) {
          const backend = overProxy();
          const wanted = { ...many(1, fault, 3), lineage: fault };
          faulty(text, fault);
          await backend.save(wanted);
          expect(await open().saved()).toEqual(wanted);
        }
      },
    );
  });

  describe('merging', () => {
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
    ])('is done even if its %s is cut, and keeps its lock', async (text) => {
      for (const fault of ['cut before', 'cut after'] as const) {
        await open().save(kept(fault));
        const backend = overProxy();
        const lock = await backend.lock('apply', new Date(), shard);
        faulty(text, fault);
        const head = await backend.merge(change(fault));
        // A merge that arrived without an answer is repeated.
        expect(head.serial).toBe(text === 'COMMIT' && fault === 'cut after' ? 3 : 2);
        const resources = { 'User/1': recordOf('1', { fault }) };
        expect(await open().saved()).toEqual({ ...kept(fault), serial: head.serial, resources });
        await lock.confirm();
        expect(await open().lockStatuses()).toMatchObject([{ shard, fate: 'alive' }]);
        await lock.release();
      }
    });

    it("is refused if the shard's lock was taken over", async () => {
      await open().save(kept('none'));
      const backend = overProxy();
      const lock = await backend.lock('apply', new Date(), shard);
      const journal = await backend.runs.create(runLine(`${run}.2-of-3`, state));
      proxy.isOpen = false;
      await terminate();
      const whole = await open({ lease: -1 }).lock('undo', new Date());
      expect(whole.takenOver).toContain('took over the lock of apply by');
      proxy.isOpen = true;
      for (const work of [() => backend.merge(change('late')), () => journal.write(line(1))])
        await refused(work(), 'locked');
      await lock.release();
      await whole.confirm();
      expect(await open().saved()).toEqual(kept('none'));
    });
  });

  describe('a change by another session between two statements', () => {
    /** Does something once, before a statement that contains a text arrives. */
    function meanwhile(text: string, work: () => Promise<unknown>): void {
      let isDone = false;
      proxy.fault = async (sent) => {
        if (isDone || !sent.includes(text)) return undefined;
        isDone = true;
        await work();
        return undefined;
      };
    }

    it('is not seen by a read in progress', async () => {
      const at = (serial: number) => ({
        ...state,
        serial,
        resources: { 'User/1': recordOf('1', { serial }) },
      });
      await open().save(at(1));
      meanwhile('DECLARE records', () => open().save(at(2)));
      expect(await overProxy().saved()).toEqual(at(1));
      expect(await open().saved()).toEqual(at(2));
    });

    it('takes the lock', async () => {
      await open().save(state);
      meanwhile('INSERT INTO idops.locks', () => open().lock('undo', new Date()));
      await refused(overProxy().lock('apply', new Date()), 'locked', 'undo by');
    });
  });
});
