import { describe, expect, it } from 'vitest';
import { atOnce, Pauses, type Steps } from '../../src/base/pauses.js';

function* counted(upTo: number, seen: (step: number) => void = () => {}): Steps<number> {
  for (let step = 0; step < upTo; step += 1) {
    seen(step);
    yield;
  }
  return upTo;
}

describe('long work', () => {
  it('is done to its end, with a pause or without', async () => {
    expect(atOnce(counted(5))).toBe(5);
    expect(await new Pauses(undefined).during(counted(5))).toBe(5);
  });

  it('lets what waits have its turn', async () => {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const until = (function* (): Steps<void> {
      while (!turned) yield;
    })();
    await new Pauses(undefined).during(until);
    expect(turned).toBe(true);
  });

  it('goes no further once it is interrupted, even where no pause is due', async () => {
    const controller = new AbortController();
    const seen: number[] = [];
    const work = counted(10, (step) => {
      seen.push(step);
      if (step === 3) controller.abort();
    });
    const pauses = new Pauses(controller.signal);
    await expect(pauses.during(work)).rejects.toMatchObject({
      problems: [{ code: 'interrupted', message: 'interrupted: nothing more was read' }],
    });
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(pauses.due).toBe(true);
    await expect(pauses.pause()).rejects.toMatchObject({ problems: [{ code: 'interrupted' }] });
  });
});
