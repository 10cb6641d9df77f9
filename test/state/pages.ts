import { describe, expect, test } from 'vitest';
import type { SharedPages, SharedReading } from '../../src/state/pages.js';
import type { BackendPlace } from './backend-place.js';

async function pagesOf(here: BackendPlace, name = 'a'): Promise<SharedPages> {
  const { pages } = await here.open(name);
  if (pages === undefined) throw new TypeError('there is no place for pages');
  return pages;
}

/** What sharing the pages of a list has to do where shards can, whatever it is kept in; a lock makes the place for it. */
export function sharesPages(kind: string, place: () => Promise<BackendPlace>): void {
  const made = async (): Promise<BackendPlace> => {
    const here = await place();
    await (await (await here.open('a')).lock('apply', new Date())).release();
    return here;
  };
  const join = async (here: BackendPlace, index: number, count = 3, list = 'l'): Promise<SharedReading> => {
    const reading = await (await pagesOf(here)).join(list, { index, count });
    if (reading === null) throw new TypeError('there is no place for readings');
    return reading;
  };
  const LATER = 20;
  const later = (): Promise<void> => new Promise((done) => setTimeout(done, LATER));

  describe(`${kind}: pages that shards share`, () => {
    test('are claimed by one each, and given to all who read', async () => {
      const here = await made();
      const [one, two] = [await join(here, 2), await join(here, 1)];
      expect(await one.readers()).toEqual([1, 2]);
      expect(await one.claim([2, 3, 4])).toEqual([2, 3, 4]);
      expect(await two.claim([3, 4, 5])).toEqual([5]);
      expect(await two.found([2, 3, 4, 5])).toEqual(new Map());
      await one.put(3, 'three "ü\ud83d\ude00');
      await two.put(5, 'five');
      // What it didn't claim it doesn't give.
      await two.put(4, 'no');
      expect(await two.found([2, 3, 4, 5])).toEqual(
        new Map([
          [3, 'three "ü😀'],
          [5, 'five'],
        ]),
      );
      expect(await one.found([5])).toEqual(new Map([[5, 'five']]));
    });

    test('are not those that were asked for before a shard joined', async () => {
      const here = await made();
      const early = await join(here, 1);
      expect(await early.claim([2, 3])).toEqual([2, 3]);
      await early.put(2, 'old');
      await later();
      const late = await join(here, 2);
      expect(await late.found([2, 3])).toEqual(new Map());
      expect(await late.claim([2, 3])).toEqual([2, 3]);
      // It comes for what somebody asked for anew.
      await early.put(3, 'old');
      await late.put(3, 'new');
      expect(await early.found([2, 3])).toEqual(new Map([[3, 'new']]));
      expect(await late.found([2, 3])).toEqual(new Map([[3, 'new']]));
    });

    test('are those of one list, split alike, of one state', async () => {
      const here = await made();
      const one = await join(here, 1);
      const others = [await join(here, 2, 4), await join(here, 2, 3, 'm')];
      const beside = await (await pagesOf(here, 'b')).join('l', { index: 2, count: 3 });
      await one.claim([2]);
      await one.put(2, 'two');
      for (const other of [...others, ...(beside === null ? [] : [beside])]) {
        expect(await other.readers()).toEqual([2]);
        expect(await other.found([2])).toEqual(new Map());
        expect(await other.claim([2])).toEqual([2]);
      }
    });

    test('are gone once the last one has left', async () => {
      const here = await made();
      const [one, two] = [await join(here, 1), await join(here, 2)];
      await one.claim([2]);
      await one.put(2, 'two');
      await one.leave();
      expect(await two.readers()).toEqual([2]);
      expect(await two.found([2])).toEqual(new Map([[2, 'two']]));
      await two.leave();
      const third = await join(here, 3);
      expect(await third.readers()).toEqual([3]);
      expect(await third.claim([2])).toEqual([2]);
    });

    test('are those of who joined last where a shard is begun again', async () => {
      const here = await made();
      const before = await join(here, 1);
      await before.claim([2]);
      await later();
      const again = await join(here, 1);
      expect(await again.readers()).toEqual([1]);
      expect(await again.claim([2])).toEqual([2]);
      await before.leave();
      expect(await again.readers()).toEqual([1]);
    });
  });
}
