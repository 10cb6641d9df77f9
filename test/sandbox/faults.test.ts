import { expect, test } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/index.js';
import { type Asking, ids, start, type Told } from './asking.js';

const acme = `/api/organizations/${ids.acme}`;
const patch = ({ ask }: Asking): Promise<Told> => ask('PATCH', acme, { organization: { label: 'New' } });

const label = ({ sandbox }: Asking): unknown => sandbox.data.organizations[0]?.label;

const startWith = (fault: Intercept): Promise<Asking> =>
  start({ intercept: ({ number }) => (number === 1 ? fault : undefined) });

test('intercept sees each request', async () => {
  const seen: SandboxRequest[] = [];
  const asking = await start({ intercept: (request) => void seen.push(request) });
  await asking.ask('GET', '/api/organizations?page=1');
  await patch(asking);
  expect(seen).toEqual([
    { method: 'GET', path: '/api/organizations?page=1', body: undefined, number: 1 },
    { method: 'PATCH', path: acme, body: { organization: { label: 'New' } }, number: 2 },
  ]);
});

test('answer responds instead of the server, with JSON', async () => {
  const headers = { 'Retry-After': '7' };
  const asking = await startWith({ kind: 'answer', status: 429, headers, body: { code: 'SLOW' } });
  const told = await patch(asking);
  expect(told.status).toBe(429);
  expect(told.headers.get('retry-after')).toBe('7');
  expect(told.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(told.body).toEqual({ code: 'SLOW' });
  expect(label(asking)).toBe('ACME Corp');
  expect((await patch(asking)).status).toBe(200);
});

test('replace does the work and responds with something else', async () => {
  const asking = await startWith({ kind: 'replace', body: 'half of' });
  const told = await patch(asking);
  expect([told.status, told.text]).toEqual([200, 'half of']);
  expect(label(asking)).toBe('New');
});

test.each([
  ['before', 'ACME Corp'],
  ['after', 'New'],
] as const)('reset breaks the connection %s the work', async (when, expected) => {
  const asking = await startWith({ kind: 'reset', when });
  await expect(patch(asking)).rejects.toThrow();
  expect(label(asking)).toBe(expected);
  expect(asking.sandbox.requests).toMatchObject([{ number: 1, status: null }]);
});

test.each([
  ['before', 'ACME Corp'],
  ['after', 'New'],
] as const)('stall never answers, %s the work, until the sandbox is closed', async (when, expected) => {
  let arrived: () => void = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const asking = await start({
    intercept: () => {
      arrived();
      return { kind: 'stall', when };
    },
  });
  const pending = expect(patch(asking)).rejects.toThrow();
  await arrival;
  await asking.sandbox.close();
  await pending;
  expect(label(asking)).toBe(expected);
});

test('an intercept that throws is reported as a failure of the sandbox', async () => {
  const asking = await start({
    intercept: () => {
      throw new Error('of the test');
    },
  });
  const told = await patch(asking);
  expect(told.status).toBe(500);
  expect(told.body).toEqual({ code: 'SANDBOX_FAILURE', message: 'Error: of the test' });
});
