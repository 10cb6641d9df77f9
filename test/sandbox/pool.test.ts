import { setImmediate as yieldOnce } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Dropped, Pool } from '../../src/sandbox/pool.js';
import { type Asking, ids, start, type Told } from './asking.js';

const pooled = { profile: 'boruta', faults: { pool: 2 } } as const;
const never = (): AbortSignal => new AbortController().signal;
const dropped = /connection not available and request was dropped from queue after \d+ms/;

/** So many requests in flight at once, until all of them were asked. */
async function inFlight(count: number, total: number, ask: () => Promise<Told>): Promise<Told[]> {
  const told: Told[] = [];
  let asked = 0;
  const worker = async (): Promise<void> => {
    while (asked < total) {
      asked += 1;
      told.push(await ask());
    }
  };
  await Promise.all(Array.from({ length: count }, worker));
  return told;
}

const patch = ({ ask }: Asking): Promise<Told> =>
  ask('PATCH', `/api/users/${ids.ada}`, {
    user: {
      group: 'new',
      authorized_scopes: [{ id: ids.reportsRead }],
      organizations: [{ id: ids.acme }],
      roles: [{ id: ids.member }],
    },
  });

test('with a pool of 2, 100 reads in flight go well', async () => {
  const { ask } = await start(pooled);
  const told = await inFlight(100, 250, () => ask('GET', `/api/users/${ids.ada}`));
  expect(told.filter(({ status }) => status !== 200)).toEqual([]);
});

test('with a pool of 2, 200 reads in flight give 500 to some', async () => {
  const { ask } = await start(pooled);
  const told = await inFlight(200, 400, () => ask('GET', `/api/users/${ids.ada}`));
  const failed = told.filter(({ status }) => status === 500);
  expect(failed.length).toBeGreaterThan(0);
  expect(failed.length).toBeLessThan(400);
  for (const { body } of failed) {
    expect(body).toEqual({ code: expect.any(String), message: expect.stringMatching(dropped) });
  }
});

test('with a pool of 2, 100 PATCHes in flight go well', async () => {
  const asking = await start(pooled);
  const told = await inFlight(100, 100, () => patch(asking));
  expect(told.filter(({ status }) => status !== 200)).toEqual([]);
});

test('with a pool of 2, 200 PATCHes in flight give 500 at any step', async () => {
  const asking = await start(pooled);
  const told = await inFlight(200, 300, () => patch(asking));
  expect(told.some(({ status }) => status === 500)).toBe(true);
  expect(told.some(({ status }) => status === 200)).toBe(true);
});

test('the documented profile has a pool too', async () => {
  const { ask } = await start({ faults: { pool: 2 } });
  const told = await inFlight(200, 400, () => ask('GET', '/api/organizations'));
  expect(new Set(told.map(({ status }) => status))).toEqual(new Set([200, 500]));
});

test('who waits gets a connection in the order of asking', async () => {
  const pool = new Pool(1);
  const give = await pool.take(never());
  const order: string[] = [];
  const first = pool.take(never()).then((giveFirst) => {
    order.push('first');
    giveFirst();
  });
  const second = pool.take(never()).then(() => order.push('second'));
  await yieldOnce();
  expect(order).toEqual([]);
  give();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
});

test('a line that grows too long loses who waited longest', async () => {
  const pool = new Pool(1);
  const give = await pool.take(never());
  const oldest = pool.take(never());
  const others = Array.from({ length: 60 }, () => pool.take(never()));
  await expect(oldest).rejects.toBeInstanceOf(Dropped);
  give();
  await expect(others[0]).resolves.toEqual(expect.any(Function));
});

test('who goes away leaves the line', async () => {
  const pool = new Pool(1);
  const give = await pool.take(never());
  const controller = new AbortController();
  const leaving = pool.take(controller.signal);
  const staying = pool.take(never());
  controller.abort();
  await expect(leaving).rejects.toThrow();
  give();
  await expect(staying).resolves.toEqual(expect.any(Function));
});
