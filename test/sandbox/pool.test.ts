import { setImmediate as yieldOnce } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Pool, PoolExhausted } from '../../src/sandbox/pool.js';
import { ids } from '../demo-ids.js';
import { gate } from '../e2e/gate.js';
import { start } from './api.js';

const never = (): AbortSignal => new AbortController().signal;

test.each([
  ['documented', '/api/organizations'],
  ['boruta', `/api/users/${ids.ada}`],
] as const)('a server whose pool runs out answers with 500 (%s)', async (profile, path) => {
  const held = gate(70);
  const { ask } = await start({ profile, faults: { pool: 1 }, intercept: held.intercept });
  const asked = Array.from({ length: 70 }, () => ask('GET', path));
  await held.arrived;
  held.open();
  const answer = await Promise.all(asked);
  expect(new Set(answer.map(({ status }) => status))).toEqual(new Set([200, 500]));
  for (const { body } of answer.filter(({ status }) => status === 500)) {
    expect(body).toEqual({
      code: expect.any(String),
      message: expect.stringMatching(
        /connection not available and request was dropped from queue after \d+ms/,
      ),
    });
  }
});

test('waiting requests get a connection in order', async () => {
  const pool = new Pool(1);
  const give = await pool.acquire(never());
  const order: string[] = [];
  const first = pool.acquire(never()).then((giveFirst) => {
    order.push('first');
    giveFirst();
  });
  const second = pool.acquire(never()).then(() => order.push('second'));
  await yieldOnce();
  expect(order).toEqual([]);
  give();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
});

test('a queue that grows too long drops the longest wait', async () => {
  const pool = new Pool(1);
  const give = await pool.acquire(never());
  const oldest = pool.acquire(never());
  const others = Array.from({ length: 60 }, () => pool.acquire(never()));
  await expect(oldest).rejects.toBeInstanceOf(PoolExhausted);
  give();
  await expect(others[0]).resolves.toEqual(expect.any(Function));
});

test('a client that disconnects leaves the queue', async () => {
  const pool = new Pool(1);
  const give = await pool.acquire(never());
  const controller = new AbortController();
  const leaving = pool.acquire(controller.signal);
  const staying = pool.acquire(never());
  controller.abort();
  await expect(leaving).rejects.toThrow();
  give();
  await expect(staying).resolves.toEqual(expect.any(Function));
});
