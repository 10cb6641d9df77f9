import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Clock, realClock, repeat } from '../../../src/session/watch/repeat.js';

/** A clock that advances only while something waits, or when a test advances it. */
function clock() {
  let now = 1000;
  const waits: number[] = [];
  const made: Clock = {
    now: () => now,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
    },
  };
  return {
    made,
    waits,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

describe('turns', () => {
  it('begin one interval after the previous began, the first immediately', async () => {
    const { made, waits, pass } = clock();
    const began: number[] = [];
    const stop = new AbortController();
    const work = async (number: number): Promise<boolean> => {
      began.push(made.now());
      pass(30);
      if (number === 4) stop.abort();
      return true;
    };
    expect(await repeat(work, 100, stop.signal, made)).toBe(4);
    expect(began).toEqual([1000, 1100, 1200, 1300]);
    expect(waits).toEqual([70, 70, 70]);
  });

  it('begin immediately after one that took longer, but never overlap', async () => {
    const { made, waits, pass } = clock();
    const stop = new AbortController();
    const took = [250, 100, 10];
    const began: number[] = [];
    let underWay = 0;
    const work = async (number: number): Promise<boolean> => {
      underWay += 1;
      expect(underWay).toBe(1);
      began.push(made.now());
      await Promise.resolve();
      pass(took[number - 1] ?? 0);
      underWay -= 1;
      return number < 4;
    };
    await repeat(work, 100, stop.signal, made);
    expect(began).toEqual([1000, 1250, 1350, 1450]);
    expect(waits).toEqual([90]);
  });

  it('end if the signal aborts between turns', async () => {
    const stop = new AbortController();
    const work = async (): Promise<boolean> => {
      setImmediate(() => stop.abort());
      return true;
    };
    expect(await repeat(work, 86_400_000, stop.signal, realClock)).toBe(1);
  });

  it("don't begin if the signal has aborted", async () => {
    expect(await repeat(async () => true, 100, AbortSignal.abort())).toBe(0);
  });

  it('have their own signal, which the outer one aborts, and leave no listeners', async () => {
    const stop = new AbortController();
    const signals = new Set<AbortSignal>();
    const listening = (): number => getEventListeners(stop.signal, 'abort').length;
    const most = new Set<number>();
    await repeat(
      async (number, ending) => {
        signals.add(ending);
        most.add(listening());
        expect(ending.aborted).toBe(false);
        if (number === 200) stop.abort();
        expect(ending.aborted).toBe(number === 200);
        return true;
      },
      0.01,
      stop.signal,
    );
    expect(signals.size).toBe(200);
    expect([...most]).toEqual([1]);
    expect(listening()).toBe(0);
  });

  it('wait only until the signal aborts', async () => {
    const stop = new AbortController();
    const waiting = realClock.wait(86_400_000, stop.signal);
    stop.abort();
    await waiting;
    await realClock.wait(86_400_000, stop.signal);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});
