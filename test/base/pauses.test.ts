import { describe, expect, it } from 'vitest';
import { Pauses } from '../../src/base/pauses.js';

describe('long work', () => {
  it('lets what waits have its turn', async () => {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await new Pauses(undefined).pause();
    expect(turned).toBe(true);
  });

  it('goes no further once it is interrupted', async () => {
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
