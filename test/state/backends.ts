import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { unusableJournals } from '../../src/apply/find-runs.js';
import { parseJson, stringifyJson } from '../../src/base/json.js';
import type { JournalLine, RunLine } from '../../src/state/journal.js';
import { emptyState, type State } from '../../src/state/state.js';
import { type BackendPlace, codeOf } from './backend-place.js';
import { answer, at, runLine, server } from './journal-lines.js';
import { keepsShards } from './shards.js';

export { type BackendPlace, elsewhere } from './backend-place.js';

const end: JournalLine = { type: 'end', at, interrupted: false };

/** The identity of another process, which lives until the test ends. */
async function livingMark(): Promise<Partial<RunLine>> {
  const module = pathToFileURL(resolve('dist/base/process.js')).href;
  const program = `const { currentProcess } = await import('${module}'); console.log(JSON.stringify(currentProcess())); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return JSON.parse(line.toString());
}

/** What every state backend must do. */
export function conforms(kind: string, place: () => Promise<BackendPlace>): void {
  describe(`${kind}: a state`, () => {
    test('is empty if none is saved, with a new lineage each time', async () => {
      const backend = await (await place()).open('a');
      const [first, second] = [await backend.load(server), await backend.load(server)];
      expect(first).toMatchObject({ server, serial: 0, resources: {} });
      expect(first.lineage).not.toBe(second.lineage);
      expect(await backend.saved()).toBeUndefined();
      expect(await backend.identity()).toBeUndefined();
    });

    test('is loaded as it was saved, by any backend that opens it', async () => {
      const here = await place();
      const state: State = { ...emptyState(server), serial: 3, last_run: '20260131T120000Z-abcdef' };
      await (await here.open('a')).save(state);
      await (await here.open('a')).save({ ...state, serial: 4 });
      expect(await (await here.open('a')).load(server)).toEqual({ ...state, serial: 4 });
      expect(await (await here.open('a')).saved()).toEqual({ ...state, serial: 4 });
      expect(await (await here.open('a')).identity()).toMatchObject({
        lineage: state.lineage,
        salt: state.salt,
      });
      expect(await (await here.open('b')).saved()).toBeUndefined();
    });

    test('is refused if it belongs to another server', async () => {
      const backend = await (await place()).open('a');
      await backend.save(emptyState('https://other.example.com'));
      expect(await codeOf(backend.load(server))).toBe('state-other-server');
      expect((await backend.saved())?.server).toBe('https://other.example.com');
    });

    test.each([
      ['garbage', 'state-unreadable'],
      ['newer', 'state-newer'],
      ['moved', 'state-moved'],
    ] as const)('is refused by every read if it is broken (%s)', async (how, code) => {
      const here = await place();
      await (await here.open('a')).save(emptyState(server));
      await here.spoil('a', how);
      expect(await codeOf((await here.open('a')).saved())).toBe(code);
      expect(await codeOf((await here.open('a')).load(server))).toBe(code);
      expect(await (await here.open('b')).saved()).toBeUndefined();
    });

    test('keeps every character and every digit', async () => {
      const here = await place();
      const record = (fields: unknown): State['resources'][string] => ({
        kind: 'User',
        identity: { id: '1' },
        recorded_at: at,
        run: '20260131T120000Z-aaaaaa',
        managed: ['metadata'],
        fields: fields as State['resources'][string]['fields'],
        hashes: { '/metadata/pin': 'scrypt:1' },
      });
      const odd = parseJson(
        String.raw`{"metadata":{"nul":"a\u0000b","\u0000":1,"emoji":"👩‍👩‍👧","lone":"\ud800","half":"\ud83d","quotes":"\"\\ {}(),NULL","lines":"\u2028\n\r",
        "numbers":[9007199254740993,10.0,1e400,-1e-400,12345678901234567890,-0,0.10,1E5,1E-7,-0.0],"b":{"10":1,"9":2,"a":[null,[],{}]},"z":1,"":null,"__proto__":{"x":1}}}`,
      );
      const keys = ['a\0b', '"\\"', '\ud83d', 'ü'.repeat(5_000)].map((name) => `User/${name}`);
      const resources = Object.fromEntries(['User/1', ...keys].map((key) => [key, record(odd)]));
      const state: State = { ...emptyState(server), serial: 9, resources };
      await (await here.open('a')).save(state);
      const found = await (await here.open('a')).saved();
      for (const key of Object.keys(resources))
        expect(stringifyJson(found?.resources[key])).toBe(stringifyJson(record(odd)));
      expect(Object.keys(found?.resources ?? {}).sort()).toEqual(Object.keys(resources).sort());
      expect(stringifyJson(record(odd))).toContain('-1e-400,12345678901234567890,-0,0.10,1E5,1E-7,-0.0]');
      await (await here.open('a')).save(state);
      expect(await (await here.open('a')).saved()).toEqual(found);
    });

    test('has its own name, and lists the other states of its backend', async () => {
      const here = await place();
      const [one, other] = [emptyState(server), emptyState(server)];
      await (await here.open('a')).save(one);
      await (await here.open('b')).save(other);
      expect((await (await here.open('a')).neighbours()).map(({ lineage }) => lineage)).toEqual([
        other.lineage,
      ]);
      expect((await here.open('a')).name).not.toBe((await here.open('b')).name);
    });
  });

  describe(`${kind}: the lock`, () => {
    test('has one holder at a time, and names it', async () => {
      const here = await place();
      const held = await (await here.open('a')).lock('apply', new Date(at));
      expect(held.takenOver).toBeNull();
      expect(await (await here.open('a')).holder()).toContain('apply by');
      expect(await codeOf((await here.open('a')).lock('undo', new Date(at)))).toBe('locked');
      expect(await (await here.open('b')).holder()).toBeNull();
      await (await (await here.open('b')).lock('apply', new Date(at))).release();
      await held.release();
      expect(await (await here.open('a')).holder()).toBeNull();
      await (await (await here.open('a')).lock('undo', new Date(at))).release();
    });

    test('can be removed, but not if another holder has it now', async () => {
      const here = await place();
      expect(await (await here.open('a')).removable()).toBeNull();
      const held = await (await here.open('a')).lock('apply', new Date(at));
      const removable = await (await here.open('a')).removable();
      expect(removable?.holder).toContain('apply by');
      await held.release();
      const other = await (await here.open('a')).lock('undo', new Date(at));
      expect(await codeOf(removable?.remove() ?? Promise.resolve())).toBe('locked');
      await (await (await here.open('a')).removable())?.remove();
      expect(await (await here.open('a')).holder()).toBeNull();
      await other.release();
    });

    test("of another machine is taken over only if the backend's locks expire and it has expired", async () => {
      const here = await place();
      await here.leave('a', new Date());
      expect(await codeOf((await here.open('a')).lock('apply', new Date()))).toBe('locked');
      expect(await (await here.open('a')).holder()).toContain('grace on another-machine, process 4711');
      expect(await (await here.open('a')).lockStatuses()).toMatchObject([
        { fate: 'unknown', readable: true },
      ]);
      expect((await (await here.open('a')).lockStatuses())[0]?.unknownReason).not.toBeNull();
      await (await (await here.open('a')).removable())?.remove();

      await here.leave('a', new Date(Date.now() - 24 * 3_600_000));
      const taking = (await here.open('a')).lock('apply', new Date());
      if (!here.ends) {
        expect(await codeOf(taking)).toBe('locked');
        return;
      }
      const taken = await taking;
      expect(taken.takenOver).toMatch(
        /^took over the lock of apply by grace on another-machine, .+, whose lease ran out(?:: its connection| at .+Z and was not renewed$)/,
      );
      await taken.release();
      expect(await (await here.open('a')).holder()).toBeNull();
    });

    test('is lost if it is removed, and belongs to its next holder', async () => {
      const here = await place();
      const first = await (await here.open('a')).lock('apply', new Date(at));
      await first.confirm();
      await (await (await here.open('a')).removable())?.remove();
      expect(await codeOf(first.confirm())).toBe('locked');
      const second = await (await here.open('a')).lock('undo', new Date(at));
      expect(await codeOf(first.confirm())).toBe('locked');
      await second.confirm();
      await first.release();
      expect(await (await here.open('a')).holder()).toContain('undo by');
      await second.release();
    });
  });

  keepsShards(kind, place);

  describe(`${kind}: runs`, () => {
    const early = '20260131T120000Z-aaaaaa';
    const late = '20260131T120001Z-000000';

    test('are listed oldest first, and read as they were written', async () => {
      const here = await place();
      const state = emptyState(server);
      const { runs } = await here.open('a');
      expect(await runs.list()).toEqual([]);
      for (const run of [late, early]) {
        const journal = await runs.create(runLine(run, state, 'a'));
        if (run === early) await Promise.all([journal.write(answer), journal.write(end)]);
        await journal.close();
      }
      expect(await (await here.open('a')).runs.list()).toEqual([early, late]);
      expect(await (await here.open('a')).runs.read(early)).toMatchObject({
        run: runLine(early, state, 'a'),
        lines: [answer, end],
        ended: true,
      });
      expect(await runs.read(late)).toMatchObject({ lines: [], ended: false });
      expect([await runs.hasEnd(early), await runs.hasEnd(late)]).toEqual([true, false]);
    });

    test('have each line as soon as it is written, and unique names', async () => {
      const here = await place();
      const state = emptyState(server);
      const journal = await (await here.open('a')).runs.create(runLine(early, state, 'a'));
      await journal.write(answer);
      expect((await (await here.open('a')).runs.read(early))?.lines).toEqual([answer]);
      await expect((await here.open('a')).runs.create(runLine(early, state, 'a'))).rejects.toThrow();
      expect((await (await here.open('a')).runs.read(early))?.lines).toEqual([answer]);
      await journal.close();
    });

    test('are reopened if their process is gone, and refused if it is alive', async () => {
      const here = await place();
      const state = emptyState(server);
      const { runs } = await here.open('a');
      const gone: RunLine = { ...runLine(early, state, 'a'), host: 'a-host-that-is-gone' };
      const alive: RunLine = { ...runLine(late, state, 'a'), ...(await livingMark()) };
      for (const run of [gone, alive]) await (await runs.create(run)).close();
      const [left, living] = [await runs.read(early), await runs.read(late)];
      if (left === null || living === null) throw new Error('no journal');
      const journal = await runs.reopen(left);
      await journal.write(end);
      await journal.close();
      expect(await runs.read(early)).toMatchObject({ lines: [end], ended: true });
      expect(await codeOf(runs.reopen(living))).toBe('locked');
    });

    test('of several states each have all their lines in order', async () => {
      const here = await place();
      const state = emptyState(server);
      const of = { a: early, b: late };
      const lineOf = (name: string, seq: number): JournalLine => ({ ...answer, seq, error: name });
      const journals = [];
      for (const [name, run] of Object.entries(of)) {
        const journal = await (await here.open(name)).runs.create(runLine(run, state, name));
        journals.push({ name, journal });
      }
      for (const { name, journal } of journals)
        await Promise.all([1, 2, 3].map((seq) => journal.write(lineOf(name, seq))));
      for (const { name, journal } of journals) await journal.write(lineOf(name, 4));
      for (const { journal } of journals) await journal.close();
      for (const [name, run] of Object.entries(of))
        expect((await (await here.open('a')).runs.read(run))?.lines).toEqual(
          [1, 2, 3, 4].map((seq) => lineOf(name, seq)),
        );
    });

    test('are read one by one, so that a broken journal is reported and the others are read', async () => {
      const here = await place();
      const state = emptyState(server);
      const { runs } = await here.open('a');
      for (const run of [early, late]) {
        const journal = await runs.create(runLine(run, state, 'a'));
        await journal.write(answer);
        await journal.write(end);
        await journal.close();
      }
      await here.spoilRun('a', early);
      expect(await codeOf((await here.open('a')).runs.read(early))).toBe('journal-unreadable');
      expect(await (await here.open('a')).runs.read(late)).toMatchObject({ lines: [answer, end] });
      const there = (await here.open('a')).runs;
      expect(await there.list()).toEqual([early, late]);
      expect(await unusableJournals(there, early)).toEqual([early]);
      expect(await codeOf(unusableJournals(there, late))).toBe('journal-readable');
      await there.remove([early]);
      expect(await (await here.open('a')).runs.list()).toEqual([late]);
      expect(await codeOf(unusableJournals(there, early))).toBe('no-such-run');
    });

    test("are removed, and a run that doesn't exist is no error", async () => {
      const here = await place();
      const { runs } = await here.open('a');
      await (await runs.create(runLine(early, emptyState(server), 'a'))).close();
      await runs.remove([early, late]);
      expect(await (await here.open('a')).runs.list()).toEqual([]);
    });
  });
}
