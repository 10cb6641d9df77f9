import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.js';
import { allScopes } from '../../src/sandbox/options.js';
import { ids, start, templatePath } from './asking.js';

const unknown = { x_sandbox_unknown: expect.any(Object) };

test('listens on the loopback interface, on a free port', async () => {
  const { sandbox } = await start();
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test('a taken port is an error', async () => {
  const { sandbox } = await start();
  const port = Number(new URL(sandbox.url).port);
  await expect(startSandbox({ port })).rejects.toThrow('EADDRINUSE');
});

test('close ends connections that are kept alive, and may be called twice', async () => {
  const { sandbox, ask } = await start();
  await ask('GET', '/api/organizations');
  await sandbox.close();
  await sandbox.close();
  await expect(ask('GET', '/api/organizations')).rejects.toThrow();
});

test('every sandbox has a token and data of its own', async () => {
  const one = await start();
  const other = await start();
  expect(one.sandbox.token).not.toBe(other.sandbox.token);
  one.sandbox.data.organizations.length = 0;
  expect(other.sandbox.data.organizations).toHaveLength(4);
});

test('token is the first of the tokens', async () => {
  const { sandbox } = await start({ tokens: { first: allScopes, second: [] } });
  expect(sandbox.token).toBe('first');
});

test('the empty seed has nothing', async () => {
  const { sandbox, ask } = await start({ seed: 'empty' });
  expect(Object.values(sandbox.data).flat()).toEqual([]);
  expect((await ask('GET', '/api/organizations')).body.data).toEqual([]);
});

test('a snapshot is a copy, and a sandbox that starts with it has copied it too', async () => {
  const first = await start();
  await first.ask('PATCH', `/api/organizations/${ids.acme}`, { organization: { label: 'Saved' } });
  const seed = first.sandbox.snapshot();
  const second = await start({ seed });
  expect(second.sandbox.data).toEqual(first.sandbox.data);
  second.sandbox.data.organizations.length = 0;
  expect(seed.organizations[0]?.label).toBe('Saved');
  expect(first.sandbox.data.organizations).toHaveLength(4);
});

test('what is written to data is what the server answers', async () => {
  const { sandbox, ask } = await start();
  sandbox.data.organizations = [{ id: 'x', name: 'written', label: null }];
  expect((await ask('GET', '/api/organizations')).body.data).toEqual([
    { id: 'x', name: 'written', label: null },
  ]);
});

test('no part of the demo data is another part of it', async () => {
  const { sandbox } = await start();
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    expect(seen.has(value)).toBe(false);
    seen.add(value);
    Object.values(value).forEach(visit);
  };
  visit(sandbox.data);
});

test('the log has each request with its status, and no credentials', async () => {
  const { sandbox, ask } = await start();
  await ask('GET', '/api/organizations?page=1&q=a%20b');
  await ask('PATCH', `/api/users/${ids.nobody}`, { user: { group: 'x' } });
  await ask('PATCH', `/api/users/${ids.ada}`, undefined, { raw: '{"user"' });
  expect(sandbox.requests).toMatchObject([
    { number: 1, method: 'GET', path: '/api/organizations?page=1&q=a%20b', body: undefined, status: 200 },
    {
      number: 2,
      method: 'PATCH',
      path: `/api/users/${ids.nobody}`,
      body: { user: { group: 'x' } },
      status: 404,
    },
    { number: 3, method: 'PATCH', path: `/api/users/${ids.ada}`, body: '{"user"', status: 400 },
  ]);
  expect(sandbox.requests[1]?.headers).toMatchObject({ 'content-type': 'application/json' });
  expect(JSON.stringify(sandbox.requests)).not.toContain(sandbox.token);
});

test('the log keeps a body as it was sent, whatever becomes of the data', async () => {
  const { sandbox, ask, user } = await start();
  await ask('PATCH', `/api/users/${ids.ada}`, { user: { metadata: { a: 1 } } });
  user(ids.ada).metadata.a = 2;
  expect(sandbox.requests[0]?.body).toEqual({ user: { metadata: { a: 1 } } });
});

test('emptying the log does not start the numbers anew', async () => {
  const { sandbox, ask } = await start();
  await ask('GET', '/api/organizations');
  sandbox.requests.length = 0;
  await ask('GET', '/api/organizations');
  expect(sandbox.requests).toMatchObject([{ number: 2 }]);
});

test('omitOptionalFields leaves empty objects inside of data', async () => {
  const { ask } = await start({ omitOptionalFields: true });
  expect((await ask('GET', '/api/organizations')).body).toEqual({ data: [{}, {}, {}, {}] });
  expect((await ask('GET', templatePath('tx_code'))).body).toEqual({ data: {} });
  expect((await ask('PATCH', `/api/users/${ids.ada}`, { user: {} })).body).toEqual({ data: {} });
});

test('omitOptionalFields leaves errors as they are', async () => {
  const { ask } = await start({ omitOptionalFields: true });
  expect((await ask('GET', templatePath('nothing'))).body).toHaveProperty('code');
});

test('addUnknownFields adds one to every object whose fields are documented', async () => {
  const { ask } = await start({ addUnknownFields: true });
  expect((await ask('GET', '/api/organizations')).body).toMatchObject({
    ...unknown,
    data: [unknown, unknown, unknown, unknown],
  });
  const told = await ask('PATCH', `/api/users/${ids.ada}`, { user: {} });
  expect(told.body).toMatchObject({
    ...unknown,
    data: {
      ...unknown,
      authorized_scopes: [unknown, unknown],
      organizations: [{ ...unknown, roles: [{ ...unknown, scopes: [unknown] }, unknown] }, unknown],
      backend: { ...unknown, roles: [unknown] },
    },
  });
  expect((await ask('GET', templatePath('nothing'))).body).toMatchObject({ ...unknown, code: 'NOT_FOUND' });
});

test('addUnknownFields adds nothing to what is data', async () => {
  const { ask, user } = await start({ addUnknownFields: true });
  const told = await ask('PATCH', `/api/users/${ids.ada}`, { user: {} });
  expect(told.body.data?.metadata).toEqual(user(ids.ada).metadata);
});

test('unknown fields can come where the optional ones are left out', async () => {
  const { ask } = await start({ addUnknownFields: true, omitOptionalFields: true });
  expect((await ask('GET', templatePath('tx_code'))).body).toEqual({ ...unknown, data: unknown });
});
