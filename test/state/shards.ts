import { describe, expect, test } from 'vitest';
import { error, ProblemsError } from '../../src/base/problems.js';
import { parseShard, type Shard } from '../../src/base/shard.js';
import type { Lock, Merge, StateBackend } from '../../src/state/backend.js';
import { emptyState, type ResourceRecord, type State, type StateHead } from '../../src/state/state.js';
import { type BackendPlace, codeOf, gone } from './backend-place.js';
import { server } from './journal-lines.js';
import { recordOf as record } from './postgres/lines.js';

const DAY = 24 * 3_600_000;

function shard(text: string): Shard {
  const found = parseShard(text);
  if (found === undefined) throw new TypeError(`${text} is no shard`);
  return found;
}

function stateWith(ids: readonly string[]): State {
  const resources = Object.fromEntries(ids.map((id) => [`User/${id}`, record(id)]));
  return { ...emptyState(server), serial: 1, shards: { count: 4, parts: {} }, resources };
}

const next = (head: StateHead): StateHead => ({ ...head, serial: head.serial + 1 });

/** Puts records, and removes those that are null. */
function put(changes: { readonly [id: string]: ResourceRecord['fields'] | null }): Merge {
  const records = Object.entries(changes).map(
    ([id, fields]) => [`User/${id}`, fields === null ? null : record(id, fields)] as const,
  );
  return { records: new Map(records), head: next };
}

async function lock(here: BackendPlace, of?: string, command = 'apply'): Promise<Lock> {
  return await (await here.open('a')).lock(command, new Date(), of === undefined ? undefined : shard(of));
}

async function shown(here: BackendPlace): Promise<(string | null)[][]> {
  return (await (await here.open('a')).lockStatuses()).map(({ shard: of, holder, fate }) => [
    of === undefined ? 'all' : `${of.index}/${of.count}`,
    /^(.+) by /.exec(holder)?.[1] ?? null,
    fate,
  ]);
}

/** What every state backend must do with locks of shards and with merges. */
export function keepsShards(kind: string, place: () => Promise<BackendPlace>): void {
  describe(`${kind}: the locks of shards`, () => {
    test('are held together if they belong to the same split', async () => {
      const here = await place();
      const held = await Promise.all(['1/4', '2/4', '4/4'].map((of) => lock(here, of, `apply ${of}`)));
      expect(await codeOf(lock(here, '2/4'))).toBe('locked');
      expect((await shown(here)).sort()).toEqual([
        ['1/4', 'apply 1/4', 'alive'],
        ['2/4', 'apply 2/4', 'alive'],
        ['4/4', 'apply 4/4', 'alive'],
      ]);
      expect(await (await here.open('a')).holder()).toContain('apply');
      for (const one of held) {
        expect(one.takenOver).toBeNull();
        await one.confirm();
        await one.release();
      }
      expect(await shown(here)).toEqual([]);
      expect(await (await here.open('a')).holder()).toBeNull();
      expect(await shown(here)).toEqual([]);
    });

    test("don't lock another state", async () => {
      const here = await place();
      const held = await lock(here, '1/4');
      await (await (await here.open('b')).lock('apply', new Date())).release();
      expect(await (await here.open('b')).lockStatuses()).toEqual([]);
      await held.release();
    });

    test('exclude those of another split, and the lock of the whole state', async () => {
      const here = await place();
      const held = await lock(here, '1/4');
      for (const other of ['1/4', '1/2', '2/3', undefined])
        expect(await codeOf(lock(here, other))).toBe('locked');
      // A refused attempt blocks nobody.
      expect(await shown(here)).toEqual([['1/4', 'apply', 'alive']]);
      await held.confirm();
      const sibling = await lock(here, '2/4');
      await sibling.release();
      await held.release();
      for (const other of ['1/2', '2/3', undefined]) await (await lock(here, other)).release();
    });

    test('are refused while the whole state is locked', async () => {
      const here = await place();
      const held = await lock(here, undefined, 'undo');
      for (const other of ['1/4', '1/2']) expect(await codeOf(lock(here, other))).toBe('locked');
      expect(await shown(here)).toEqual([['all', 'undo', 'alive']]);
      await held.confirm();
      await held.release();
      await (await lock(here, '1/4')).release();
    });

    test('are held by a backend one at a time', async () => {
      const here = await place();
      const backend = await here.open('a');
      const held = await backend.lock('apply', new Date(), shard('1/4'));
      expect(await codeOf(backend.lock('apply', new Date()))).toBe('locked');
      await held.confirm();
      await held.release();
      const whole = await backend.lock('apply', new Date());
      await whole.confirm();
      await whole.release();
      expect(await shown(here)).toEqual([]);
    });

    test.each(['1/4', undefined])('of a dead process are taken over by the next (%s)', async (of) => {
      const here = await place();
      await here.leave('a', new Date(), { shard: shard('1/4'), by: gone() });
      expect(await shown(here)).toEqual([['1/4', 'apply', 'gone']]);
      expect(await (await here.open('a')).holder()).toBeNull();
      const taken = await lock(here, of);
      expect(taken.takenOver).toMatch(/^took over the lock of apply by grace on .+, which is gone$/);
      expect(await shown(here)).toEqual([[of ?? 'all', 'apply', 'alive']]);
      await taken.release();
      expect(await shown(here)).toEqual([]);
    });

    test('are all taken at the same time over a dead lock of the whole state', async () => {
      const here = await place();
      await here.leave('a', new Date(), { by: gone() });
      const held = await Promise.all(['1/4', '2/4', '3/4', '4/4'].map((of) => lock(here, of)));
      expect(held.some(({ takenOver }) => takenOver !== null)).toBe(true);
      for (const one of held) await one.release();
      expect(await shown(here)).toEqual([]);
    });

    test("replace dead locks that would conflict, and expired ones if the backend's locks expire", async () => {
      const here = await place();
      await here.leave('a', new Date(), { by: gone() });
      await here.leave('a', new Date(), { shard: shard('2/3'), by: gone() });
      await here.leave('a', new Date(), { shard: shard('2/4'), by: gone() });
      const taken = await lock(here, '1/4');
      expect(taken.takenOver?.split('; ')).toHaveLength(2);
      expect((await shown(here)).sort()).toEqual([
        ['1/4', 'apply', 'alive'],
        ['2/4', 'apply', 'gone'],
      ]);
      await taken.release();
      await (await (await here.open('a')).removable())?.remove();

      await here.leave('a', new Date(Date.now() - DAY), { shard: shard('2/3') });
      if (!here.ends) {
        expect(await codeOf(lock(here))).toBe('locked');
        return;
      }
      const whole = await lock(here);
      expect(whole.takenOver).toContain('grace on another-machine');
      expect(await shown(here)).toEqual([['all', 'apply', 'alive']]);
      await whole.release();
    });

    test('of another machine block others until all locks are removed', async () => {
      const here = await place();
      expect(await (await here.open('a')).removable()).toBeNull();
      await here.leave('a', new Date(), { shard: shard('1/4') });
      await here.leave('a', new Date(), { shard: shard('2/4'), by: gone() });
      expect(await codeOf(lock(here))).toBe('locked');
      expect(await codeOf(lock(here, '1/2'))).toBe('locked');
      expect(await codeOf(lock(here, '1/4'))).toBe('locked');
      await (await lock(here, '3/4')).release();
      const removable = await (await here.open('a')).removable();
      expect(removable?.holder).toContain('grace on another-machine');
      await removable?.remove();
      expect(await shown(here)).toEqual([]);
      await (await lock(here)).release();
    });

    test('are lost if they are removed, and the next holder keeps its own', async () => {
      const here = await place();
      const [first, second] = [await lock(here, '1/4'), await lock(here, '2/4')];
      await (await (await here.open('a')).removable())?.remove();
      expect(await codeOf(first.confirm())).toBe('locked');
      const third = await lock(here, '1/4');
      expect(await codeOf(second.confirm())).toBe('locked');
      await first.release();
      await third.confirm();
      await third.release();
      await second.release();
    });
  });

  describe(`${kind}: a merge`, () => {
    const saved = async (here: BackendPlace): Promise<State | undefined> =>
      await (await here.open('a')).saved();

    test('changes the given records and nothing else', async () => {
      const here = await place();
      const state = stateWith(['1', '2', '3']);
      await (await here.open('a')).save(state);
      const backend = await here.open('a');
      const seen: StateHead[] = [];
      const head = await backend.merge({
        records: put({ 2: { name: 'x\0' }, 3: null, 4: {}, 'not there': null }).records,
        head: (now) => {
          seen.push(now);
          return { ...next(now), last_run: 'one' };
        },
      });
      const { resources, ...before } = state;
      expect(seen).toEqual([before]);
      expect(head).toEqual({ ...before, serial: 2, last_run: 'one' });
      const { 'User/1': kept } = resources;
      expect(await saved(here)).toEqual({
        ...head,
        resources: { 'User/1': kept, 'User/2': record('2', { name: 'x\0' }), 'User/4': record('4') },
      });
      expect(await backend.saved()).toEqual(await saved(here));
      expect(await backend.merge({ records: new Map(), head: next })).toEqual({ ...head, serial: 3 });
    });

    test('keeps the changes of other backends that were opened earlier', async () => {
      const here = await place();
      await (await here.open('a')).save(stateWith(['0', '1', 'kept']));
      const shards = await Promise.all([here.open('a'), here.open('a')]);
      const serials: number[] = [];
      for (const round of [0, 1])
        for (const [index, backend] of shards.entries())
          serials.push((await backend.merge(put({ [index]: null, [`all-${index}`]: { round } }))).serial);
      expect(serials).toEqual([2, 3, 4, 5]);
      const found = await saved(here);
      expect(Object.keys(found?.resources ?? {}).sort()).toEqual(['User/all-0', 'User/all-1', 'User/kept']);
      for (const index of [0, 1]) expect(found?.resources[`User/all-${index}`]?.fields).toEqual({ round: 1 });
    });

    test("is refused if the state doesn't exist", async () => {
      const here = await place();
      const refused = {
        problems: [{ code: 'state-unreadable', message: expect.stringMatching(/^the state .* is missing$/) }],
      };
      await expect((await here.open('a')).merge(put({ 1: {} }))).rejects.toMatchObject(refused);
      expect(await saved(here)).toBeUndefined();
      const backend = await here.open('a');
      await backend.save(stateWith(['1']));
      await (await here.open('b')).save(stateWith(['2']));
      await here.drop('a');
      await expect(backend.merge(put({ 1: {} }))).rejects.toMatchObject(refused);
      expect(await saved(here)).toBeUndefined();
    });

    test('begins with the given state if none exists, also if several backends merge first', async () => {
      const here = await place();
      const shards = ['1', '2', '3'];
      const heads = await Promise.all(
        shards.map(async (id) => {
          const backend = await here.open('a');
          return await backend.merge({ ...put({ [id]: {} }), absent: stateWith(['given', id]) });
        }),
      );
      expect(new Set(heads.map(({ lineage }) => lineage)).size).toBe(1);
      const found = await saved(here);
      expect(found?.serial).toBe(4);
      expect(Object.keys(found?.resources ?? {}).sort()).toEqual(
        [...shards, 'given'].map((id) => `User/${id}`),
      );
    });

    test.each([
      ['garbage', 'state-unreadable'],
      ['newer', 'state-newer'],
      ['moved', 'state-moved'],
    ] as const)('is refused if the state is broken (%s)', async (how, code) => {
      const here = await place();
      const backend = await here.open('a');
      await backend.save(stateWith(['1']));
      await here.spoil('a', how);
      const change: Merge = { ...put({ 1: {} }), head: () => expect.unreachable() };
      expect(await codeOf(backend.merge(change))).toBe(code);
      expect(await codeOf((await here.open('a')).merge(change))).toBe(code);
    });

    test('changes nothing if its caller refuses', async () => {
      const here = await place();
      const state = stateWith(['1']);
      const backend = await here.open('a');
      await backend.save(state);
      const refused = new ProblemsError([error('locked', 'not this one')]);
      const change: Merge = {
        ...put({ 1: null, 2: {} }),
        head: () => {
          throw refused;
        },
      };
      await expect(backend.merge(change)).rejects.toBe(refused);
      expect(await saved(here)).toEqual(state);
      expect((await backend.merge(put({ 2: {} }))).serial).toBe(2);
    });

    test('is refused without the lock, if the backend checks the lock at each write', async () => {
      const here = await place();
      const state = stateWith(['1']);
      await (await here.open('a')).save(state);
      const losing = async (): Promise<[StateBackend, Lock]> => {
        const backend = await here.open('a');
        const held = await backend.lock('apply', new Date(), shard('1/4'));
        await (await (await here.open('a')).removable())?.remove();
        return [backend, held];
      };
      const [backend, held] = await losing();
      if (held.fenced) {
        expect(await codeOf(backend.merge(put({ 1: { lost: true } })))).toBe('locked');
        const [other, late] = await losing();
        const taken = await (await here.open('a')).lock('apply', new Date(), shard('1/4'));
        expect(await codeOf(other.merge(put({ 1: { lost: true } })))).toBe('locked');
        await late.release();
        await taken.confirm();
        await taken.release();
      }
      expect(await saved(here)).toEqual(state);
      await held.release();
    });

    test('between two saves of the whole state is overwritten completely', async () => {
      const here = await place();
      const state = stateWith(['1', '2', '3']);
      const [one, other] = [await here.open('a'), await here.open('a')];
      await one.save(state);
      await other.merge(put({ 1: { name: 'x' }, 2: null, 4: {} }));
      await other.merge(put({ 5: {} }));
      await one.save({ ...state, serial: 9 });
      expect(await saved(here)).toEqual({ ...state, serial: 9 });
      await other.save({ ...stateWith(['2', '3']), lineage: state.lineage, salt: state.salt });
      expect(Object.keys((await saved(here))?.resources ?? {}).sort()).toEqual(['User/2', 'User/3']);
      await one.merge(put({ 3: { name: 'y' }, 6: {} }));
      await one.save({ ...state, serial: 10 });
      expect(await saved(here)).toEqual({ ...state, serial: 10 });
    });

    test('is seen by the next holder of the lock of the whole state', async () => {
      const here = await place();
      const whole = await here.open('a');
      await whole.save(stateWith(['1']));
      const part = await here.open('a');
      const held = await part.lock('apply', new Date(), shard('2/4'));
      await whole.saved();
      await part.merge(put({ 2: {} }));
      await held.release();
      const all = await whole.lock('apply', new Date());
      expect(Object.keys((await whole.load(server)).resources).sort()).toEqual(['User/1', 'User/2']);
      await all.release();
    });
  });
}

/** What they must do if several processes use them at the same time. */
export function racesOfShards(kind: string, place: () => Promise<BackendPlace>): void {
  describe(`${kind}: shards at the same time`, () => {
    test('get locks of one split only, or one lock of the whole state', async () => {
      const here = await place();
      for (let round = 0; round < 3; round += 1) {
        const wanted = ['1/2', '2/2', '1/3', '2/3', undefined, undefined];
        const got = await Promise.allSettled(wanted.map((of) => lock(here, of)));
        const held = wanted.filter((_, index) => got[index]?.status === 'fulfilled');
        const kinds = new Set(held.map((of) => of?.split('/')[1] ?? 'all'));
        expect(kinds.size).toBeLessThan(2);
        if (kinds.has('all')) expect(held).toHaveLength(1);
        for (const one of got) if (one.status === 'fulfilled') await one.value.release();
        expect(await shown(here)).toEqual([]);
      }
    });

    test('merge at the same time, and no change is lost', async () => {
      const here = await place();
      await (await here.open('a')).save(stateWith(['0', '1', '2', '3', '4', 'kept']));
      const [shards, rounds] = [4, 5];
      const heads = await Promise.all(
        Array.from({ length: shards }, async (_, index) => {
          const backend = await here.open('a');
          const held = await backend.lock('apply', new Date(), shard(`${index + 1}/${shards}`));
          const serials: number[] = [];
          for (let round = 0; round < rounds; round += 1) {
            const changes = { [index]: null, [`all-${index}`]: { round }, [`${index}-${round}`]: { round } };
            serials.push((await backend.merge(put(changes))).serial);
          }
          await held.release();
          return serials;
        }),
      );
      // Each merge saw those of the others.
      expect(heads.flat().sort((one, other) => one - other)).toEqual(
        Array.from({ length: shards * rounds }, (_, index) => index + 2),
      );
      const found = await (await here.open('a')).saved();
      expect(found?.serial).toBe(1 + shards * rounds);
      const wanted = ['4', 'kept'];
      for (let index = 0; index < shards; index += 1) {
        wanted.push(`all-${index}`);
        for (let round = 0; round < rounds; round += 1) wanted.push(`${index}-${round}`);
        expect(found?.resources[`User/all-${index}`]?.fields).toEqual({ round: rounds - 1 });
      }
      expect(Object.keys(found?.resources ?? {}).sort()).toEqual(wanted.map((id) => `User/${id}`).sort());
    });
  });
}
