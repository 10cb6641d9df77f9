import { beforeEach, expect, test, vi } from 'vitest';
import { ids } from '../demo-ids.js';
import { start } from './api.js';

/** In milliseconds; too long for a test to wait. */
const latency = 2 ** 30;
const waits = vi.hoisted(() => [] as number[]);

vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: async (ms: number) => void waits.push(ms),
}));
beforeEach(() => void waits.splice(0));

test.each([
  ['documented', 'GET', '/api/organizations', undefined, 200],
  ['documented', 'PATCH', `/api/users/${ids.ada}`, { user: { group: 'new' } }, 200],
  ['documented', 'GET', '/api/nothing', undefined, 404],
  ['boruta', 'GET', '/api/organizations', undefined, 200],
  ['boruta', 'GET', `/api/users/${ids.ada}`, undefined, 200],
  ['boruta', 'PATCH', `/api/organizations/${ids.acme}`, { organization: { name: 'new' } }, 200],
  ['boruta', 'PATCH', `/api/organizations/${ids.acme}`, { organization: {} }, 422],
  ['boruta', 'GET', '/api/nothing', undefined, 406],
] as const)('every answer waits for what is left: %s %s %s', async (profile, method, path, body, status) => {
  const { ask } = await start({ profile, latency });
  expect((await ask(method, path, body)).status).toBe(status);
  // The mocked timer ends every wait immediately.
  expect(waits.at(-1)).toBeGreaterThan(latency - 1_000_000);
});

test('a response of a fault waits too', async () => {
  const { ask } = await start({ latency, intercept: () => ({ kind: 'answer', status: 503 }) });
  expect((await ask('GET', '/api/organizations')).status).toBe(503);
  expect(waits).toEqual([expect.toSatisfy((ms: number) => ms > latency - 1_000_000)]);
});

test('the response shows what was read, whatever changes while it waits', async () => {
  const { ask, sandbox } = await start({ profile: 'boruta', latency });
  const [first = {}] = sandbox.data.organizations;
  let name = 'when it was read';
  const get = (): string => {
    const read = name;
    name = 'later';
    return read;
  };
  Object.defineProperty(first, 'name', { enumerable: true, get });
  const { body } = await ask('GET', '/api/organizations');
  expect([body.data?.[0]?.name, name]).toEqual(['when it was read', 'later']);
});
