import { expect, test } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { type Answer, type SandboxApi, start } from './api.js';

const acme = `/api/organizations/${ids.acme}`;
const patch = ({ ask }: SandboxApi): Promise<Answer> =>
  ask('PATCH', acme, { organization: { label: 'New' } });

const label = ({ sandbox }: SandboxApi): unknown => sandbox.data.organizations[0]?.label;

const startWith = (fault: Intercept): Promise<SandboxApi> =>
  start({ intercept: ({ number }) => (number === 1 ? fault : undefined) });

test('intercept sees each request', async () => {
  const seen: SandboxRequest[] = [];
  const api = await start({ intercept: (request) => void seen.push(request) });
  await api.ask('GET', '/api/organizations?page=1');
  await patch(api);
  expect(seen).toEqual([
    { method: 'GET', path: '/api/organizations?page=1', body: undefined, number: 1 },
    { method: 'PATCH', path: acme, body: { organization: { label: 'New' } }, number: 2 },
  ]);
});

test('answer responds instead of the server, with JSON', async () => {
  const headers = { 'Retry-After': '7' };
  const api = await startWith({ kind: 'answer', status: 429, headers, body: { code: 'SLOW' } });
  const answer = await patch(api);
  expect(answer.status).toBe(429);
  expect(answer.headers.get('retry-after')).toBe('7');
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.body).toEqual({ code: 'SLOW' });
  expect(label(api)).toBe('ACME Corp');
  expect((await patch(api)).status).toBe(200);
});

test('replace does the work and responds with something else', async () => {
  const api = await startWith({ kind: 'replace', body: 'half of' });
  const answer = await patch(api);
  expect([answer.status, answer.text]).toEqual([200, 'half of']);
  expect(label(api)).toBe('New');
});

test.each([
  ['before', 'ACME Corp'],
  ['after', 'New'],
] as const)('reset breaks the connection %s the work', async (when, expected) => {
  const api = await startWith({ kind: 'reset', when });
  await expect(patch(api)).rejects.toThrow();
  expect(label(api)).toBe(expected);
  expect(api.sandbox.requests).toMatchObject([{ number: 1, status: null }]);
});

test.each([
  ['before', 'ACME Corp'],
  ['after', 'New'],
] as const)('stall never answers, %s the work, until the sandbox is closed', async (when, expected) => {
  let arrived: () => void = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const api = await start({
    intercept: () => {
      arrived();
      return { kind: 'stall', when };
    },
  });
  const pending = expect(patch(api)).rejects.toThrow();
  await arrival;
  await api.sandbox.close();
  await pending;
  expect(label(api)).toBe(expected);
});

test('an intercept that throws is reported as a failure of the sandbox', async () => {
  const api = await start({
    intercept: () => {
      throw new Error('of the test');
    },
  });
  const answer = await patch(api);
  expect(answer.status).toBe(500);
  expect(answer.body).toEqual({ code: 'SANDBOX_FAILURE', message: 'Error: of the test' });
});
