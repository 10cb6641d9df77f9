import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { currentProcess } from '../../src/base/process.js';
import type { Shard } from '../../src/base/shard.js';
import { profiles } from '../../src/server/profiles.js';
import type { Reader } from '../../src/server/reader.js';
import { type CurrentState, loadStateForPlan, lockAndLoadState } from '../../src/session/current-state.js';
import type { StateBackend } from '../../src/state/backend.js';
import { fileBackend } from '../../src/state/file/index.js';
import type { JournalLine } from '../../src/state/journal.js';
import { emptyState, type ResourceRecord, type State } from '../../src/state/state.js';
import { temporaryFolder } from '../cleanups.js';
import { answer, at, runLine, sending, server } from '../state/journal-lines.js';

const RUN = '20260131T120000Z-aaaaaa';
const [one, two]: readonly [Shard, Shard] = [
  { index: 1, count: 3 },
  { index: 2, count: 3 },
];
const id = '6a2f0000-0000-4000-8000-000000000001';
const key = `Client/${id}`;

const { documented: profile } = profiles;
const unasked = () => Promise.reject(new Error('nobody asked for this'));
const reader: Reader = {
  listOrganizations: unasked,
  showTemplate: unasked,
  showExtra: unasked,
  listExtra: unasked,
};

async function backendOf(): Promise<StateBackend> {
  const folder = await temporaryFolder('hold');
  return await fileBackend({ path: join(folder, 'state.json'), allowTracked: true });
}

/** Opens a session and closes it; returns the state at its beginning. */
async function settled(backend: StateBackend, shard?: Shard, plans = false): Promise<CurrentState> {
  if (profile === undefined) throw new Error('there is such a profile');
  const home = { backend, environment: null };
  const options = { reader, profile, concurrency: 1, server, shard, holds: () => false };
  if (plans) return await loadStateForPlan(home, options);
  const { lock, ...held } = await lockAndLoadState(home, 'apply', options);
  await lock.release();
  return held;
}

/** What two shards begin with if the second begins immediately before the first one changes the state. */
async function atOnce(backend: StateBackend) {
  let second: CurrentState | undefined;
  const first = await settled(
    {
      ...backend,
      async merge(change) {
        second ??= await settled(backend, two);
        return await backend.merge(change);
      },
    },
    one,
  );
  return { first, second };
}

function record(did_generation: number): ResourceRecord {
  const run = '20260130T120000Z-aaaaaa';
  const of = { kind: 'Client', identity: { id }, recorded_at: at, run } as const;
  return { ...of, managed: [], fields: {}, hashes: {}, did_generation };
}

/** The first line of a run on another machine. */
const elsewhere = (run: string, state: State) => ({
  ...runLine(run, state, 'state.json'),
  host: 'another-machine',
});

/** A client's DID was regenerated, but the state doesn't contain it. */
const regenerated: readonly JournalLine[] = [
  {
    ...sending,
    address: key,
    key,
    kind: 'Client',
    identity: { id },
    action: 'regenerate',
    operation: 'regenerateClientDid',
    method: 'POST',
    path: `/api/clients/${id}/regenerate_did`,
    existed: null,
    managed: ['did_generation'],
    generation: 2,
    recorded_generation: 1,
  },
  answer,
];

/** Saves a state and runs of all shards that were killed, by name. */
async function withKilledRun(backend: StateBackend, ...runs: readonly string[]): Promise<void> {
  const state: State = {
    ...emptyState(server),
    serial: 1,
    ...(runs[0] === undefined ? {} : { open_run: runs[0] }),
    resources: { [key]: record(1) },
  };
  await backend.save(state);
  for (const run of runs) {
    const journal = await backend.runs.create(elsewhere(run, state));
    for (const line of regenerated) await journal.write(line);
    await journal.close();
  }
}

const generationOf = ({ state }: Pick<CurrentState, 'state'>): number | undefined =>
  state.resources[key]?.did_generation;

describe('the first shards of a split', () => {
  it('create one state if they begin at the same time without one', async () => {
    const backend = await backendOf();
    const { first, second } = await atOnce(backend);
    expect(first.state).toEqual(second?.state);
    expect(first.state).toMatchObject({ serial: 1, shards: { count: 3, parts: {} } });
    expect(await backend.saved()).toEqual(first.state);
  });

  it('settle a killed run once, in any order', async () => {
    const backend = await backendOf();
    await withKilledRun(backend, RUN);
    const { first, second } = await atOnce(backend);
    expect(first.notes).toEqual([]);
    expect(second?.notes).toEqual([`run ${RUN} had not ended: 1 of its answers was taken into the state`]);
    for (const state of [first.state, second?.state, await backend.saved()]) {
      if (state === undefined) throw new Error('there is a state');
      expect(generationOf({ state })).toBe(2);
      expect(state).toMatchObject({ last_run: RUN, shards: { count: 3, parts: {} } });
      expect(state.open_run).toBeUndefined();
    }
    const lines = (await backend.runs.read(RUN))?.lines.map(({ type }) => type);
    expect(lines).toEqual(['sending', 'answered', 'end']);
  });

  it('settle a killed run, which a plan only reads', async () => {
    const backend = await backendOf();
    await withKilledRun(backend, RUN);
    const before = await backend.saved();
    expect(generationOf(await settled(backend, one, true))).toBe(2);
    expect([await backend.saved(), (await backend.runs.read(RUN))?.ended]).toEqual([before, false]);
    expect(generationOf(await settled(backend, two))).toBe(2);
    expect((await backend.runs.read(RUN))?.ended).toBe(true);
  });

  it('read the state again if another shard began its run', async () => {
    const backend = await backendOf();
    await backend.save({ ...emptyState(server), serial: 1 });
    const { boot } = currentProcess();
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const alive = { ...currentProcess(), pid: process.ppid, started: `${boot} ${start}` };
    let isFirst = true;
    const list = async () => {
      if (isFirst) {
        isFirst = false;
        const { state } = await settled(backend, two);
        const line = { ...elsewhere(`${RUN}.2-of-3`, state), ...alive };
        await (await backend.runs.create(line)).close();
      }
      return await backend.runs.list();
    };
    const first = await settled({ ...backend, runs: { ...backend.runs, list } }, one);
    expect(first.state).toEqual(await backend.saved());
    expect(first.state.serial).toBe(2);
  });

  describe('if one of them is killed before it ended the journals that it settled', () => {
    const both = [RUN, '20260131T130000Z-aaaaaa'];
    const killed = async (): Promise<StateBackend> => {
      const backend = await backendOf();
      await withKilledRun(backend, ...both);
      const runs = { ...backend.runs, reopen: () => Promise.reject(new Error('killed')) };
      await expect(settled({ ...backend, runs }, one)).rejects.toThrow('killed');
      return backend;
    };
    const ended = async (backend: StateBackend): Promise<unknown[]> =>
      await Promise.all(both.map(async (run) => (await backend.runs.read(run))?.ended));

    it.each([
      ['it is repeated', one],
      ['a run of the whole state follows', undefined],
      ['another split follows', { index: 1, count: 2 }],
    ])('end these journals once %s, and lose nothing', async (_, next) => {
      const backend = await killed();
      // The other shards ignore it.
      const sibling = await settled(backend, two);
      expect([generationOf(sibling), sibling.notes]).toEqual([2, []]);
      expect(await ended(backend)).toEqual([false, false]);
      const again = await settled(backend, next);
      expect(generationOf(again)).toBe(2);
      expect(await ended(backend)).toEqual([true, true]);
      const calm = await settled(backend, next);
      expect(calm.notes).toEqual([]);
      expect(JSON.stringify(await backend.saved())).not.toContain('to_end');
    });
  });

  it('settle everything that another split left', async () => {
    const backend = await backendOf();
    const part = `${RUN}.2-of-4`;
    const state: State = {
      ...emptyState(server),
      serial: 7,
      last_run: '20260130T120000Z-aaaaaa',
      shards: { count: 4, parts: { 1: { last_run: `${RUN}.1-of-4` }, 2: { open_run: part } } },
      resources: { [key]: record(1), 'Client/other': record(5) },
    };
    await backend.save(state);
    const journal = await backend.runs.create(elsewhere(part, state));
    for (const line of regenerated) await journal.write(line);
    await journal.close();
    for (const shard of [{ index: 1, count: 2 }, { index: 2, count: 2 }, undefined]) {
      const held = await settled(backend, shard);
      expect(generationOf(held)).toBe(2);
      expect(held.state.resources['Client/other']?.did_generation).toBe(5);
      expect(held.state.last_run).toBe(part);
      expect(held.state.shards?.count).toBe(shard?.count);
    }
    expect((await backend.runs.read(part))?.ended).toBe(true);
  });
});
