import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { allSettled, allSettledEach, Pauses } from '../../src/base/concurrency.js';

describe('work on each of many things', () => {
  it('returns the results in order, and starts in order', async () => {
    const things = Array.from({ length: 3500 }, (_, index) => index);
    const begun: number[] = [];
    let underWay = 0;
    let most = 0;
    const results = await allSettledEach(things, async (thing) => {
      begun.push(thing);
      underWay += 1;
      most = Math.max(most, underWay);
      for (let turns = thing % 3; turns >= 0; turns -= 1) await setImmediate();
      underWay -= 1;
      return thing * 2;
    });
    expect(results).toEqual(things.map((thing) => thing * 2));
    expect(begun).toEqual(things);
    expect(most).toBe(1000);
    expect(await allSettledEach([], async () => 1)).toEqual([]);
  });

  it('does the rest if some fail, and reports each failure once', async () => {
    const [one, other] = [new Error('one'), new Error('other')];
    const done: number[] = [];
    const work = async (thing: number): Promise<number> => {
      await setImmediate();
      if (thing === 1500) throw new AggregateError([one, other]);
      if (thing % 1000 === 7) throw one;
      done.push(thing);
      return thing;
    };
    const things = Array.from({ length: 2500 }, (_, index) => index);
    const failure = await allSettledEach(things, work).catch((thrown: unknown) => thrown);
    expect((failure as AggregateError).errors).toEqual([one, other]);
    expect(done).toHaveLength(2500 - 4);
    const all = await allSettled(things.map(work)).catch((thrown: unknown) => thrown);
    expect((all as AggregateError).errors).toEqual([one, other]);
  });
});

describe('long work', () => {
  it('lets waiting work run', async () => {
    let turned = false;
    globalThis.setImmediate(() => {
      turned = true;
    });
    await new Pauses(undefined).pause();
    expect(turned).toBe(true);
  });

  it('stops once it is interrupted', async () => {
    const controller = new AbortController();
    const pauses = new Pauses(controller.signal);
    await pauses.pause();
    controller.abort();
    expect(pauses.due).toBe(true);
    await expect(pauses.pause()).rejects.toMatchObject({
      problems: [{ code: 'interrupted', message: 'interrupted: nothing more was read' }],
    });
  });
});
