import { expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { boruta, start } from './api.js';

const usersOnly = { tokens: { some: ['users:manage:all'] } } as const;

test('GET /api/roles exists, and users:manage:all is enough for it', async () => {
  const { ask } = await boruta(usersOnly);
  expect((await ask('GET', '/api/roles')).body).toEqual({
    data: [
      {
        id: ids.member,
        name: 'member',
        scopes: [{ id: ids.reportsRead, name: 'reports:read', public: true }],
      },
      {
        id: ids.accountant,
        name: 'accountant',
        scopes: [
          { id: ids.billingRead, name: 'billing:read', public: false },
          { id: ids.billingWrite, name: 'billing:write', public: false },
        ],
      },
    ],
  });
});

test('GET /api/scopes exists, with labels, and users:manage:all is enough for it', async () => {
  const { ask } = await boruta(usersOnly);
  expect((await ask('GET', '/api/scopes')).body).toEqual({
    data: [
      { id: ids.billingRead, name: 'billing:read', label: 'Read invoices', public: false },
      { id: ids.billingWrite, name: 'billing:write', label: 'Issue invoices', public: false },
      { id: ids.reportsRead, name: 'reports:read', label: 'Read reports', public: true },
    ],
  });
});

test.each([
  ['scopes', ids.billingRead, 400],
  ['roles', ids.member, 400],
  ['backends', ids.backend, 404],
  ['clients', ids.portal, 400],
  ['key-pairs', ids.firstKey, 400],
  ['identity-providers', '90000000-0000-4000-8000-000000000001', 404],
])('%s are listed, and shown one by one', async (name, id, noUuid) => {
  const { ask } = await boruta();
  const list = await ask('GET', `/api/${name}?page=2&q=nothing`);
  expect(list.status).toBe(200);
  const one = await ask('GET', `/api/${name}/${id.toUpperCase()}`);
  expect(one.status).toBe(200);
  expect(list.body.data).toContainEqual(one.body.data);
  expect((await ask('GET', `/api/${name}/${ids.nobody}`)).status).toBe(404);
  expect((await ask('GET', `/api/${name}/none`)).status).toBe(noUuid);
});

test('a backend is shown with its passwords, and its roles without the public flag of their scopes', async () => {
  const { ask } = await boruta();
  const shown = {
    smtp_password: 'demo-smtp-password',
    roles: [{ name: 'member', scopes: [{ name: 'reports:read', public: null }] }],
  };
  expect((await ask('GET', `/api/backends/${ids.backend}`)).body.data).toMatchObject(shown);
  expect((await ask('GET', `/api/users/${ids.ada}`)).body.data?.backend).toMatchObject(shown);
});

test('GET /api/configuration exists', async () => {
  const { ask } = await boruta();
  expect((await ask('GET', '/api/configuration')).body).toEqual({ data: [] });
});

test('each list needs its scope', async () => {
  const { ask } = await boruta({ tokens: { keys: ['clients:manage:all'] } });
  for (const path of ['/api/backends', `/api/organizations/${ids.acme}`, `/api/roles/${ids.member}`]) {
    expect((await ask('GET', path)).status).toBe(403);
  }
  for (const path of ['/api/roles', '/api/scopes', `/api/scopes/${ids.billingRead}`]) {
    expect((await ask('GET', path)).status).toBe(200);
  }
  const users = await boruta(usersOnly);
  expect((await users.ask('GET', '/api/backends')).status).toBe(403);
});

test('GET /api/organizations/:id exists', async () => {
  const { ask } = await boruta();
  const answer = await ask('GET', `/api/organizations/${ids.acme}`);
  expect(answer.body).toEqual({ data: { id: ids.acme, name: 'acme', label: 'ACME Corp' } });
  expect((await ask('GET', `/api/organizations/${ids.nobody}`)).status).toBe(404);
  expect((await ask('GET', '/api/organizations/acme')).status).toBe(404);
});

test('the documented profile has none of them', async () => {
  const { ask } = await start();
  for (const path of ['/api/roles', '/api/scopes', '/api/backends', `/api/organizations/${ids.acme}`]) {
    expect([404, 405]).toContain((await ask('GET', path)).status);
  }
});

/** A sandbox in which a user has a scope that was added after the start, and the user's GET. */
async function withLateScope(staleScopes: boolean) {
  const api = await boruta({ faults: { staleScopes } });
  const late = { id: 'late', name: 'late', label: 'Made on another node', public: false };
  api.sandbox.data.scopes.push(late);
  api.user(ids.grace).authorized_scopes.push(late);
  return { ...api, read: await api.ask('GET', `/api/users/${ids.grace}`) };
}

test("nodes that aren't clustered hide a later scope in users, and a PATCH of what was read drops it", async () => {
  const { ask, user, read } = await withLateScope(true);
  expect(read.body.data?.authorized_scopes).toMatchObject([{ id: ids.reportsRead }]);
  expect(user(ids.grace).authorized_scopes).toHaveLength(2);
  await ask('PATCH', `/api/users/${ids.grace}`, { user: read.body.data });
  expect(user(ids.grace).authorized_scopes).toMatchObject([{ id: ids.reportsRead }]);
});

test('clustered nodes show a later scope', async () => {
  const { read } = await withLateScope(false);
  expect(read.body.data?.authorized_scopes).toHaveLength(2);
});
