import { expect, test } from 'vitest';
import { ids, start } from './asking.js';

const latency = 60;

test.each([
  ['documented', 'GET', '/api/organizations', undefined, 200],
  ['documented', 'PATCH', `/api/users/${ids.ada}`, { user: { group: 'new' } }, 200],
  ['documented', 'GET', '/api/nothing', undefined, 404],
  ['boruta', 'GET', '/api/organizations', undefined, 200],
  ['boruta', 'GET', `/api/users/${ids.ada}`, undefined, 200],
  ['boruta', 'PATCH', `/api/organizations/${ids.acme}`, { organization: { name: 'new' } }, 200],
  ['boruta', 'PATCH', `/api/organizations/${ids.acme}`, { organization: {} }, 422],
  ['boruta', 'GET', '/api/nothing', undefined, 406],
] as const)('every answer waits: %s %s %s', async (profile, method, path, body, status) => {
  const { ask } = await start({ profile, latency });
  const before = performance.now();
  expect((await ask(method, path, body)).status).toBe(status);
  // Timers may fire a millisecond early.
  expect(performance.now() - before).toBeGreaterThan(latency - 2);
});

test('an answer of a fault waits too', async () => {
  const { ask } = await start({ latency, intercept: () => ({ kind: 'answer', status: 503 }) });
  const before = performance.now();
  expect((await ask('GET', '/api/organizations')).status).toBe(503);
  expect(performance.now() - before).toBeGreaterThan(latency - 2);
});

test('the answer shows what was read, whatever changes while it waits', async () => {
  const { ask, sandbox } = await start({ profile: 'boruta', latency });
  let name = 'when it was read';
  const [first = {}] = sandbox.data.organizations;
  const get = (): string => {
    // Half of the latency is left then.
    setImmediate(() => {
      name = 'later';
    });
    return name;
  };
  Object.defineProperty(first, 'name', { enumerable: true, get });
  const { body } = await ask('GET', '/api/organizations');
  expect([body.data?.[0]?.name, name]).toEqual(['when it was read', 'later']);
});
