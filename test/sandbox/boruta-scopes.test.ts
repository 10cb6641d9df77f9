import { describe, expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const chosen = 'aaaaaaaa-0000-4000-8000-000000000001';
const wide = 'x'.repeat(256);
const wrong = ['is invalid'];

const scope = (api: SandboxApi, id: string, body: object): Promise<Answer> =>
  api.ask('PATCH', `/api/scopes/${id}`, { scope: body });
const role = (api: SandboxApi, body: object): Promise<Answer> =>
  api.ask('PATCH', `/api/roles/${ids.accountant}`, { role: body });

test.each([
  ['scope', 'name', 422],
  ['role', 'name', 500],
])('a %s is created once with a chosen id, and its name is unique', async (kind, field, again) => {
  const { ask } = await boruta();
  const post = (body: object) => ask('POST', `/api/${kind}s`, { [kind]: body });
  const made = await post({ id: chosen.toUpperCase(), name: 'new' });
  expect(made.status).toBe(201);
  expect(made.headers.get('location')).toBe(`/api/${kind}s/${chosen}`);
  expect((await ask('GET', `/api/${kind}s/${chosen}`)).body).toEqual(made.body);
  const twice = await post({ id: chosen, name: 'other' });
  expect([twice.status, twice.body.errors]).toEqual([422, { id: ['has already been taken'] }]);
  expect((await post({ name: 'new' })).status).toBe(again);
  expect((await post({ [field]: 'Other' })).status).toBe(201);
});

test.each([
  ['defaults', { name: 'a' }, 201, { name: 'a', label: null, public: false }],
  ['true as text, unknown members', { name: 'a', public: 'true', color: 'red' }, 201, { public: true }],
  ['an empty text for a boolean', { name: 'a', public: '' }, 201, { public: false }],
  ['white space inside', { name: ' a' }, 422, { name: ['must not contain whitespace'] }],
  ['white space alone', { name: '\u00a0', label: ' ' }, 422, { name: ["can't be blank"] }],
  ['no name', {}, 422, { name: ["can't be blank"] }],
  ['other types', { name: 5, label: 7, public: 'yes' }, 422, { name: wrong, label: wrong, public: wrong }],
  ['null for a boolean', { name: 'a', public: null }, 422, { public: ['must not be null'] }],
  ['an id that is no UUID', { id: 'x', name: 'a' }, 422, { id: wrong }],
  ['256 characters', { name: wide }, 500, undefined],
  ['a NUL', { name: 'a', label: '\0' }, 400, undefined],
])('POST of a scope: %s', async (_, body, status, wanted) => {
  const { ask, sandbox } = await boruta();
  const answer = await ask('POST', '/api/scopes', { scope: body });
  expect(answer.status).toBe(status);
  if (wanted !== undefined)
    expect(status === 201 ? answer.body.data : answer.body.errors).toMatchObject(wanted);
  expect(sandbox.data.scopes).toHaveLength(status === 201 ? 4 : 3);
});

test.each(['scope', 'role'])(
  'a body without the wrapper of a %s shows the token; another type is 400',
  async (kind) => {
    const { ask, sandbox } = await boruta();
    const answer = await ask('POST', `/api/${kind}s`, {});
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(sandbox.token);
    for (const body of [null, 'text', []])
      expect((await ask('POST', `/api/${kind}s`, { [kind]: body })).status).toBe(400);
  },
);

test('writing needs scopes:manage:all', async () => {
  const { ask } = await boruta({ tokens: { some: ['users:manage:all', 'clients:manage:all'] } });
  for (const path of ['/api/scopes', '/api/roles']) expect((await ask('POST', path, {})).status).toBe(403);
});

describe('a scope', () => {
  test('keeps what a PATCH leaves out, and its row moves to the end', async () => {
    const api = await boruta();
    const answer = await scope(api, ids.billingRead, { label: 'L' });
    expect(answer.body.data).toEqual({
      id: ids.billingRead,
      name: 'billing:read',
      label: 'L',
      public: false,
    });
    await scope(api, ids.billingWrite, {});
    const { body } = await api.ask('GET', '/api/scopes');
    expect(body.data).toMatchObject([{ name: 'billing:write' }, { name: 'reports:read' }, { label: 'L' }]);
  });

  test('is renamed in roles, users and clients', async () => {
    const api = await boruta();
    await scope(api, ids.reportsRead, { name: 'r' });
    const { member, ada, grace, portal } = ids;
    for (const path of [`roles/${member}`, `users/${ada}`, `users/${grace}`, `clients/${portal}`]) {
      const { text } = await api.ask('GET', `/api/${path}`);
      expect(text).toContain('"name":"r"');
      expect(text).not.toContain('reports:read');
    }
    expect((await scope(api, ids.reportsRead, { name: 'billing:read' })).status).toBe(422);
  });

  test('is write-protected if the server itself uses it', async () => {
    const api = await boruta();
    await api.ask('POST', '/api/scopes', { scope: { id: chosen, name: 'users:manage:all' } });
    await api.ask('POST', '/api/scopes', { scope: { id: ids.nobody, name: 'logs:read:all' } });
    expect((await scope(api, chosen, { label: 'L' })).status).toBe(403);
    expect((await api.ask('DELETE', `/api/scopes/${chosen}`)).status).toBe(403);
    expect((await scope(api, ids.nobody, { label: 'L' })).status).toBe(200);
  });

  test('that is deleted stays in roles, and a later one with its id is in them again', async () => {
    const api = await boruta();
    const shown = async (path: string) => (await api.ask('GET', `/api/${path}`)).body.data;
    const gone = await api.ask('DELETE', `/api/scopes/${ids.billingRead}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await api.ask('DELETE', `/api/scopes/${ids.billingRead}`)).status).toBe(404);
    expect(await shown(`roles/${ids.accountant}`)).toMatchObject({ scopes: [{ name: 'billing:write' }] });
    expect(await shown(`users/${ids.ada}`)).toMatchObject({ authorized_scopes: [{ name: 'billing:write' }] });
    await api.ask('POST', '/api/scopes', { scope: { id: ids.billingRead, name: 'later' } });
    expect(await shown(`roles/${ids.accountant}`)).toMatchObject({
      scopes: [{ name: 'billing:write' }, { name: 'later' }],
    });
    expect(await shown(`users/${ids.ada}`)).toMatchObject({ authorized_scopes: [{ name: 'billing:write' }] });
  });

  test('can change its id, but not if a client has it', async () => {
    const api = await boruta();
    expect((await scope(api, ids.billingRead, { id: chosen })).body.data?.id).toBe(chosen);
    expect((await scope(api, ids.reportsRead, { id: ids.nobody })).status).toBe(500);
    const { body } = await api.ask('GET', `/api/roles/${ids.accountant}`);
    expect(body.data).toMatchObject({ scopes: [{ name: 'billing:write' }] });
  });
});

describe('a role', () => {
  const reports = { id: ids.reportsRead };
  test.each([
    ['without scopes', {}, 200, []],
    ['with null', { scopes: null }, 200, []],
    ['with scopes', { scopes: [{ ...reports, name: 'ignored' }] }, 200, ['reports:read']],
    ['with elements without an id', { scopes: ['text', { name: 'billing:read' }] }, 200, []],
    ['with an unknown id', { scopes: [{ id: ids.nobody }, reports] }, 200, ['reports:read']],
    ['with equal elements', { scopes: [reports, reports] }, 200, ['reports:read']],
    ['with unequal elements', { scopes: [reports, { ...reports, name: 'n' }] }, 500, null],
    ['with an id that is no UUID', { scopes: [{ id: 'x' }] }, 500, null],
    ['with null as id', { scopes: [{ id: null }] }, 500, null],
    ['with a text as scopes', { scopes: 'text' }, 500, null],
    ['with the name of another', { name: 'member' }, 500, null],
    ['with an empty name', { name: '' }, 422, null],
    ['with a new id', { id: chosen }, 500, null],
  ])('%s: a PATCH keeps the name and writes all scopes or nothing', async (_, body, status, wanted) => {
    const api = await boruta();
    expect((await role(api, body)).status).toBe(status);
    const { data } = (await api.ask('GET', `/api/roles/${ids.accountant}`)).body;
    const names = wanted ?? ['billing:read', 'billing:write'];
    expect(data).toEqual({
      id: ids.accountant,
      name: 'accountant',
      scopes: names.map((name) => expect.objectContaining({ name })),
    });
  });

  test('has the hidden id in it when the scope comes', async () => {
    const api = await boruta();
    await role(api, { scopes: [{ id: chosen }] });
    await api.ask('POST', '/api/scopes', { scope: { id: chosen, name: 'later', public: true } });
    const { body } = await api.ask('GET', `/api/roles/${ids.accountant}`);
    expect(body.data?.scopes).toEqual([{ id: chosen, name: 'later', public: true }]);
  });

  test.each([0, 1])('cut off after write %s of a PATCH has all of it or nothing', async (step) => {
    const api = await boruta({ intercept: () => ({ kind: 'cut', step }) });
    await expect(role(api, { name: 'new', scopes: [] })).rejects.toThrow();
    const found = api.sandbox.data.roles.find(({ id }) => id === ids.accountant);
    expect([found?.name, found?.scopes.length]).toEqual(step === 0 ? ['accountant', 2] : ['new', 0]);
  });

  test('that is deleted leaves users and backends', async () => {
    const api = await boruta();
    expect((await api.ask('DELETE', `/api/roles/${ids.member}`)).status).toBe(204);
    const { body } = await api.ask('GET', `/api/users/${ids.ada}`);
    expect(body.data).toMatchObject({ roles: [], backend: { roles: [] } });
  });

  test('shows its present name and scopes in users and backends', async () => {
    const api = await boruta();
    const changed = { name: 'm', scopes: [{ id: ids.billingRead }] };
    await api.ask('PATCH', `/api/roles/${ids.member}`, { role: changed });
    const { body } = await api.ask('GET', `/api/users/${ids.ada}`);
    const shown = { name: 'm', scopes: [{ name: 'billing:read', public: null }] };
    expect(body.data).toMatchObject({ roles: [shown], backend: { roles: [shown] } });
  });
});

describe('an organization', () => {
  test('is created without a chosen id, and twice under one name', async () => {
    const { ask, sandbox } = await boruta();
    for (const _ of [1, 2]) {
      const answer = await ask('POST', '/api/organizations', { organization: { id: chosen, name: 'new' } });
      expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
      expect(answer.body.data).toEqual({ id: expect.not.stringMatching(chosen), name: 'new', label: null });
    }
    expect(sandbox.data.organizations).toHaveLength(6);
  });

  test.each([
    [{ organization: null }, 422],
    [{ organization: [] }, 500],
    [{ organization: { name: ' ' } }, 422],
    [{ organization: { name: wide } }, 500],
    [{}, 400],
  ])('is not created from %j', async (body, status) => {
    const { ask, sandbox } = await boruta();
    expect((await ask('POST', '/api/organizations', body)).status).toBe(status);
    expect(sandbox.data.organizations).toHaveLength(4);
  });

  test('that is deleted has no members', async () => {
    const { ask, user } = await boruta();
    expect((await ask('DELETE', `/api/organizations/${ids.globex}`)).status).toBe(204);
    expect((await ask('DELETE', `/api/organizations/${ids.globex}`)).status).toBe(404);
    expect([user(ids.ada), user(ids.grace)].map((one) => one.organizations.length)).toEqual([1, 0]);
  });
});

test('a POST whose answer is lost is done, and is refused when it is repeated', async () => {
  const fault = { kind: 'reset', when: 'after' } as const;
  const { ask } = await boruta({ intercept: ({ number }) => (number === 1 ? fault : undefined) });
  const post = () => ask('POST', '/api/scopes', { scope: { id: chosen, name: 'new' } });
  await expect(post()).rejects.toThrow();
  expect((await post()).body.errors).toEqual({ id: ['has already been taken'] });
});
