import { describe, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const second = 'aaaaaaaa-0000-4000-8000-000000000001';
const third = 'aaaaaaaa-0000-4000-8000-000000000002';
const ldap = 'Elixir.BorutaIdentity.Accounts.Ldap';

const post = ({ ask }: SandboxApi, backend: object): Promise<Answer> =>
  ask('POST', '/api/backends', { backend });
const patch = ({ ask }: SandboxApi, id: string, backend: object): Promise<Answer> =>
  ask('PATCH', `/api/backends/${id}`, { backend });
const get = async ({ ask }: SandboxApi, id: string) => (await ask('GET', `/api/backends/${id}`)).body.data;

/** A sandbox with a second backend; the backend of the demo data stays the default. */
async function started(options: SandboxOptions = {}): Promise<SandboxApi> {
  let isReady = false;
  const { intercept } = options;
  const api = await boruta({
    ...options,
    intercept: (request) => (isReady ? intercept?.(request) : undefined),
  });
  await post(api, { id: second, name: 'second', roles: [{ id: ids.member }] });
  isReady = true;
  return api;
}

const defaults = ({ sandbox }: SandboxApi): string[] =>
  sandbox.data.backends.filter(({ is_default }) => is_default === true).map(({ id }) => id);

test('POST needs a name, takes an id once, and fills in the rest', async () => {
  const api = await boruta();
  const answer = await post(api, { id: second, name: 'second', smtp_port: '25', smtp_tls: 'always' });
  expect([answer.status, answer.headers.get('location')]).toEqual([201, `/api/backends/${second}`]);
  expect(answer.body.data).toEqual({
    id: second,
    name: 'second',
    type: 'Elixir.BorutaIdentity.Accounts.Internal',
    is_default: false,
    create_default_organization: false,
    roles: [],
    metadata_fields: [],
    federated_servers: [],
    verifiable_credentials: [],
    verifiable_presentations: [],
    password_hashing_alg: 'argon2',
    password_hashing_opts: {},
    ldap_pool_size: 5,
    ldap_host: null,
    ldap_user_rdn_attribute: null,
    ldap_base_dn: null,
    ldap_ou: null,
    ldap_master_dn: null,
    ldap_master_password: null,
    smtp_from: null,
    smtp_relay: null,
    smtp_username: null,
    smtp_password: null,
    smtp_ssl: null,
    smtp_tls: 'always',
    smtp_port: 25,
    features: expect.arrayContaining(['registrable']),
  });
  expect((await post(api, { id: second, name: 'a' })).body.errors).toEqual({
    id: ['has already been taken'],
  });
  expect((await post(api, { name: 'second' })).status).toBe(201);
});

const identified = { credential_identifier: 'c', version: '13' };
const credential = { ...identified, format: 'jwt_vc', types: 'VC', claims: [], display: {} };
const presentation = { presentation_identifier: 'p', presentation_definition: '{}' };
const directory = { type: ldap, ldap_host: 'h', ldap_user_rdn_attribute: 'uid', ldap_base_dn: 'dc=x' };
const server = { name: 'g', client_id: 'i', client_secret: 's', base_url: 'u' };

test.each([
  [{ name: null }, 422, 'name'],
  [{ type: 'other' }, 422, 'type'],
  [{ type: null }, 500, undefined],
  [{ type: '' }, 500, undefined],
  [{ is_default: false, create_default_organization: null }, 500, undefined],
  [{ smtp_tls: true }, 422, 'smtp_tls'],
  [{ smtp_tls: '', smtp_ssl: null }, 200, undefined],
  [{ smtp_port: 'x' }, 422, 'smtp_port'],
  [{ smtp_port: 2 ** 31 }, 500, undefined],
  [{ smtp_from: 'x'.repeat(256) }, 500, undefined],
  [{ smtp_password: 'a\0' }, 400, undefined],
  [{ password_hashing_alg: 'md5' }, 500, undefined],
  [{ password_hashing_alg: null }, 422, 'password_hashing_alg'],
  [{ password_hashing_alg: 'bcrypt' }, 200, undefined],
  [{ password_hashing_opts: { t_cost: 8 } }, 200, undefined],
  [{ password_hashing_opts: { t_cost: '8' } }, 422, 'password_hashing_opts'],
  [{ password_hashing_opts: { log_rounds: 8 } }, 422, 'password_hashing_opts'],
  [{ password_hashing_alg: 'bcrypt', password_hashing_opts: { log_rounds: 8 } }, 200, undefined],
  [{ password_hashing_opts: null }, 422, 'password_hashing_opts'],
  [{ metadata_fields: [{ attribute_name: 'a', user_editable: true, scopes: ['s'] }] }, 200, undefined],
  [{ metadata_fields: [{ user_editable: true }] }, 422, 'metadata_fields'],
  [{ metadata_fields: [{ attribute_name: 'a', color: 'red' }] }, 422, 'metadata_fields'],
  [{ metadata_fields: null }, 422, 'metadata_fields'],
  [{ metadata_fields: {} }, 422, 'metadata_fields'],
  [{ federated_servers: [server] }, 200, undefined],
  [{ federated_servers: [{ ...server, name: 'a b' }] }, 422, 'federated_servers'],
  [{ federated_servers: null }, 500, undefined],
  [{ verifiable_credentials: [credential] }, 200, undefined],
  [{ verifiable_credentials: [{ ...credential, format: 'x' }] }, 422, 'verifiable_credentials'],
  [{ verifiable_presentations: [presentation] }, 200, undefined],
  [
    { verifiable_presentations: [{ ...presentation, presentation_definition: {} }] },
    422,
    'verifiable_presentations',
  ],
  [{ type: ldap }, 422, 'ldap_host'],
  [directory, 200, undefined],
  [{ ...directory, ldap_pool_size: 51 }, 422, 'ldap_pool_size'],
])('PATCH of %j gives %s', async (body, status, field) => {
  const api = await started();
  const before = await get(api, second);
  const answer = await patch(api, second, { roles: [{ id: ids.member }], ...body });
  expect(answer.status).toBe(status);
  if (field !== undefined) expect(answer.body.errors).toHaveProperty(field);
  const after = await get(api, second);
  if (status === 200) expect(after).toMatchObject({ name: 'second', roles: [{ name: 'member' }] });
  else expect(after).toEqual(before);
});

test('a password that is changed later must fit the present hash', async () => {
  const api = await started();
  await patch(api, second, { password_hashing_opts: { t_cost: 8 } });
  const answer = await patch(api, second, { password_hashing_alg: 'bcrypt' });
  expect([answer.status, answer.body.errors]).toEqual([422, { password_hashing_opts: [expect.any(String)] }]);
});

test.each([
  ['left out', undefined, 200],
  ['null', null, 200],
  ['an unknown id', [{ id: ids.nobody }], 500],
  ['an id twice', [{ id: ids.member }, { id: ids.member }], 500],
  ['no UUID', [{ id: 'x' }], 500],
  ['no id', [{ name: 'member' }], 422],
  ['a text', 'text', 500],
])('roles are written last, separately: %s empties them', async (_, roles, status) => {
  const api = await started();
  expect((await patch(api, second, { name: 'changed', roles })).status).toBe(status);
  expect(await get(api, second)).toMatchObject({ name: 'changed', roles: [] });
  const answer = await post(api, { id: third, name: 'third', roles });
  expect(answer.status).toBe(status === 200 ? 201 : status);
  expect(await get(api, third)).toMatchObject({ name: 'third', roles: [] });
});

test.each([
  [0, [ids.backend], 'second', 1],
  [1, [], 'second', 1],
  [2, [second], 'changed', 1],
  [3, [second], 'changed', 0],
  [4, [second], 'changed', 1],
])('a PATCH that is cut off after write %s', async (step, wanted, name, roles) => {
  const api = await started({ intercept: () => ({ kind: 'cut', step }) });
  const body = { name: 'changed', is_default: true, roles: [{ id: ids.accountant }] };
  await expect(patch(api, second, body)).rejects.toThrow();
  const found = api.sandbox.data.backends.find(({ id }) => id === second);
  expect([defaults(api), found?.name, found?.roles.length]).toEqual([wanted, name, roles]);
});

test('a POST that is cut off may leave the backend without its roles', async () => {
  const api = await started({ intercept: () => ({ kind: 'cut', step: 2 }) });
  await expect(post(api, { id: third, name: 'third', roles: [{ id: ids.member }] })).rejects.toThrow();
  expect(api.sandbox.data.backends.at(-1)).toMatchObject({ id: third, roles: [] });
});

describe('the default', () => {
  test('moves to another', async () => {
    const api = await started();
    expect((await patch(api, second, { is_default: 'true' })).body.data?.is_default).toBe(true);
    expect(defaults(api)).toEqual([second]);
  });

  test.each([
    ['a PATCH that is refused', 'PATCH', { is_default: true, smtp_tls: true }, 422],
    ['a POST that is refused', 'POST', { is_default: true }, 422],
    ['null', 'PATCH', { is_default: null }, 500],
  ])('is lost with %s, and the next true repairs it', async (_, method, body, status) => {
    const api = await started();
    const answer = await (method === 'POST' ? post(api, body) : patch(api, second, body));
    expect([answer.status, defaults(api)]).toEqual([status, []]);
    await patch(api, ids.backend, { is_default: true });
    expect(defaults(api)).toEqual([ids.backend]);
  });

  test('can be neither given up nor deleted', async () => {
    const api = await started();
    const deleted = await api.ask('DELETE', `/api/backends/${ids.backend}`);
    for (const { body } of [await patch(api, ids.backend, { is_default: false }), deleted])
      expect(body.errors).toHaveProperty('is_default');
    expect(defaults(api)).toEqual([ids.backend]);
  });

  test('shared by several backends fails every other true, and DELETE', async () => {
    const api = await started();
    for (const backend of api.sandbox.data.backends) backend.is_default = true;
    await post(api, { id: third, name: 'third' });
    expect((await patch(api, third, { is_default: true })).status).toBe(500);
    expect((await api.ask('DELETE', `/api/backends/${third}`)).status).toBe(500);
  });

  test('is cached by a GET: after another backend took it, the first PATCH changes nothing', async () => {
    const api = await started();
    await get(api, ids.backend);
    await patch(api, second, { is_default: true });
    expect((await get(api, ids.backend))?.is_default).toBe(true);
    const { body } = await api.ask('GET', '/api/backends');
    expect(body.data).toContainEqual(expect.objectContaining({ id: ids.backend, is_default: false }));
    const answer = await patch(api, ids.backend, { is_default: true });
    expect([answer.status, answer.body.data?.is_default, defaults(api)]).toEqual([200, false, [second]]);
    await patch(api, ids.backend, { is_default: true });
    expect(defaults(api)).toEqual([ids.backend]);
  });
});

describe('DELETE', () => {
  test('deletes email templates too', async () => {
    const api = await started();
    await api.ask('PATCH', `/api/backends/${second}/email-templates/tx_code`, {
      template: { txt_content: 'a' },
    });
    expect((await api.ask('DELETE', `/api/backends/${second}`)).status).toBe(204);
    expect((await api.ask('DELETE', `/api/backends/${second}`)).status).toBe(404);
    expect(api.sandbox.data.templates.every(({ backend_id }) => backend_id === ids.backend)).toBe(true);
  });

  test.each(['identity_provider', 'user'])('is refused if there is a %s', async (field) => {
    const api = await started();
    const { identityProviders, users } = api.sandbox.data;
    for (const row of field === 'user' ? users : identityProviders) row.backend_id = second;
    const answer = await api.ask('DELETE', `/api/backends/${second}`);
    expect([answer.status, answer.body.errors]).toEqual([422, { [field]: [expect.any(String)] }]);
    expect((await patch(api, second, { id: third })).status).toBe(500);
  });
});

test.each([{}, { backend: null }, { backend: [] }, { backend: 'text' }])(
  'a body of %j gives 400, without the token',
  async (body) => {
    const { withoutEffect, sandbox } = await boruta();
    expect((await withoutEffect(400, 'POST', '/api/backends', body)).text).not.toContain(sandbox.token);
  },
);

test("an id that isn't a UUID gives 404", async () => {
  const { ask } = await boruta();
  expect((await ask('PATCH', '/api/backends/x', { backend: {} })).status).toBe(404);
  expect((await ask('DELETE', '/api/backends/x')).status).toBe(404);
});
