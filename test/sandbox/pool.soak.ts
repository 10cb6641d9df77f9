import { expect, test } from 'vitest';
import { type Asking, ids, start, type Told } from './asking.js';

const pooled = { profile: 'boruta', faults: { pool: 2 } } as const;
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
