import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../src/base/values.js';
import { readListing } from '../../src/kinds/listing.js';
import type { Page } from '../../src/server/answers.js';

const size = 2;

/** Waits for `count` turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}

function pageOf(number: number, pages: number): Page<Fields> {
  const rows = [0, 1].map((index) => ({ id: `${number}-${index}` }));
  return { rows, pageSize: size, totalPages: pages, totalEntries: pages * size };
}

describe('a list of several pages', () => {
  it('is read in parallel once the number of pages is known, each page once, in order', async () => {
    const asked: number[] = [];
    const held: (() => void)[] = [];
    const rows = await readListing('things', async (number) => {
      asked.push(number);
      // The answers after the first arrive once all pages are requested, in reverse order.
      if (number > 1) {
        await new Promise<void>((answer) => {
          held.push(answer);
          if (held.length === 8) for (const next of held.reverse()) next();
        });
      }
      return pageOf(number, 9);
    });
    expect(asked).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(rows.map(({ id }) => id)).toEqual(asked.flatMap((number) => [`${number}-0`, `${number}-1`]));
  });

  it('is read a few pages at a time, and only as many as its entries fill', async () => {
    let open = 0;
    let most = 0;
    const asked: number[] = [];
    await readListing('things', async (number) => {
      asked.push(number);
      open += 1;
      most = Math.max(most, open);
      await new Promise((next) => setImmediate(next));
      open -= 1;
      return { ...pageOf(number, 50), totalPages: 1000 };
    });
    expect(asked).toHaveLength(50);
    expect(most).toBe(20);
  });

  it('fails like its first failed page, after all requests have ended', async () => {
    let open = 0;
    const reading = readListing('things', async (number) => {
      open += 1;
      await turns(number);
      open -= 1;
      if (number > 3) throw new Error(`page ${number}`);
      return pageOf(number, 9);
    });
    await expect(reading).rejects.toThrow('page 4');
    expect(open).toBe(0);
  });

  it('reads no pages after a failed one, but still those before it', async () => {
    const asked = new Map<number, () => boolean>();
    const reading = readListing('things', async (number, wanted) => {
      asked.set(number, wanted);
      if (number === 1) return pageOf(number, 9);
      if (number === 5) throw new Error('page 5');
      // The other answers arrive after the failure.
      await turns(10);
      if (!wanted()) throw new Error('unwanted');
      return pageOf(number, 9);
    });
    await turn();
    expect([...asked].filter(([, wanted]) => wanted()).map(([number]) => number)).toEqual([1, 2, 3, 4, 5]);
    await expect(reading).rejects.toThrow('page 5');
  });

  it('is read again if it has more rows than entries, and refused if it still has', async () => {
    let reads = 0;
    const grows = (total: () => number) =>
      readListing('things', async () => {
        reads += 1;
        return { ...pageOf(1, 1), totalEntries: total() };
      });
    expect(await grows(() => reads)).toHaveLength(2);
    expect(reads).toBe(2);
    await expect(grows(() => 1)).rejects.toMatchObject({ problems: [{ code: 'unstable-list' }] });
  });

  it('is not read further if it is complete', async () => {
    const unwanted: number[] = [];
    const rows = await readListing('things', async (number, wanted) => {
      if (number > 2) {
        await turns(10);
        if (!wanted()) unwanted.push(number);
      }
      // The first page is shorter than the others, so more pages are requested than exist.
      const ids = number === 1 ? [0] : Array.from({ length: 9 }, (_, index) => index + 1);
      return { ...pageOf(number, 10), totalEntries: 10, rows: ids.map((id) => ({ id: `${id}` })) };
    });
    expect(rows).toHaveLength(10);
    expect(unwanted).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
