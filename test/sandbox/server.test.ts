import { expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { start, templatePath } from './api.js';

const unknown = { x_sandbox_unknown: expect.any(Object) };

test('listens on the loopback interface, on a free port', async () => {
  const { sandbox } = await start();
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test('close ends idle connections, and may be called twice', async () => {
  const { sandbox, ask } = await start();
  await ask('GET', '/api/organizations');
  await sandbox.close();
  await sandbox.close();
  await expect(ask('GET', '/api/organizations')).rejects.toThrow();
});

test('every sandbox has its own token and data', async () => {
  const one = await start();
  const other = await start();
  expect(one.sandbox.token).not.toBe(other.sandbox.token);
  one.sandbox.data.organizations.length = 0;
  expect(other.sandbox.data.organizations).toHaveLength(4);
});

test('the empty seed has nothing', async () => {
  const { sandbox, ask } = await start({ seed: 'empty' });
  expect(Object.values(sandbox.data).flat()).toEqual([]);
  expect((await ask('GET', '/api/organizations')).body.data).toEqual([]);
});

test('a snapshot is a copy, and a sandbox that starts with it copies it', async () => {
  const first = await start();
  await first.ask('PATCH', `/api/organizations/${ids.acme}`, { organization: { label: 'Saved' } });
  const seed = first.sandbox.snapshot();
  const second = await start({ seed });
  expect(second.sandbox.data).toEqual(first.sandbox.data);
  second.sandbox.data.organizations.length = 0;
  expect(seed.organizations[0]?.label).toBe('Saved');
  expect(first.sandbox.data.organizations).toHaveLength(4);
});

test('the server responds with what was written to data', async () => {
  const { sandbox, ask } = await start();
  sandbox.data.organizations = [{ id: 'x', name: 'written', label: null }];
  expect((await ask('GET', '/api/organizations')).body.data).toEqual([
    { id: 'x', name: 'written', label: null },
  ]);
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

test('the log keeps a body as it was sent, whatever happens to the data', async () => {
  const { sandbox, ask, user } = await start();
  await ask('PATCH', `/api/users/${ids.ada}`, { user: { metadata: { a: 1 } } });
  user(ids.ada).metadata.a = 2;
  expect(sandbox.requests[0]?.body).toEqual({ user: { metadata: { a: 1 } } });
});

test('omitOptionalFields leaves empty objects inside data', async () => {
  const { ask } = await start({ omitOptionalFields: true });
  expect((await ask('GET', '/api/organizations')).body).toEqual({ data: [{}, {}, {}, {}] });
  expect((await ask('GET', templatePath('tx_code'))).body).toEqual({ data: {} });
  expect((await ask('PATCH', `/api/users/${ids.ada}`, { user: {} })).body).toEqual({ data: {} });
});

test('addUnknownFields adds one to every object whose fields are documented', async () => {
  const { ask } = await start({ addUnknownFields: true });
  expect((await ask('GET', '/api/organizations')).body).toMatchObject({
    ...unknown,
    data: [unknown, unknown, unknown, unknown],
  });
  const answer = await ask('PATCH', `/api/users/${ids.ada}`, { user: {} });
  expect(answer.body).toMatchObject({
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
