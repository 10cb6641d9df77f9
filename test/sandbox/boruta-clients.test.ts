import { describe, expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const chosen = 'aaaaaaaa-0000-4000-8000-000000000001';
const provider = '90000000-0000-4000-8000-000000000001';
const identity_provider = { id: provider };
const path = `/api/clients/${ids.portal}`;

const post = ({ ask }: SandboxApi, client: object): Promise<Answer> =>
  ask('POST', '/api/clients', { client });
const patch = ({ ask }: SandboxApi, client: object): Promise<Answer> => ask('PATCH', path, { client });
const get = async ({ ask }: SandboxApi, at = path) => (await ask('GET', at)).body.data;

test('POST needs an identity provider, takes an id once, and fills in the rest', async () => {
  const api = await boruta();
  const answer = await post(api, { id: chosen, identity_provider });
  expect([answer.status, answer.headers.get('location')]).toEqual([201, `/api/clients/${chosen}`]);
  expect(answer.body.data).toEqual({
    id: chosen,
    name: null,
    public_client_id: null,
    check_public_client_id: false,
    secret: expect.stringMatching(/^.{40,}$/),
    confidential: false,
    redirect_uris: [],
    public_refresh_token: false,
    public_revoke: false,
    authorize_scope: false,
    enforce_dpop: false,
    enforce_tx_code: false,
    access_token_ttl: 86_400,
    authorization_code_ttl: 600,
    authorization_request_ttl: 300,
    refresh_token_ttl: 2_592_000,
    id_token_ttl: 86_400,
    pkce: false,
    public_key: expect.stringContaining('BEGIN RSA PUBLIC KEY'),
    key_pair_type: { type: 'rsa', modulus_size: '2048', exponent_size: '65537' },
    signatures_adapter: 'Elixir.Boruta.Internal.Signatures',
    did: null,
    identity_provider: { id: provider, name: 'Company accounts' },
    authorized_scopes: [],
    supported_grant_types: ['client_credentials', 'authorization_code'],
    id_token_signature_alg: 'RS512',
    userinfo_signed_response_alg: null,
    token_endpoint_jwt_auth_alg: 'HS256',
    token_endpoint_auth_methods: ['client_secret_basic', 'client_secret_post'],
    jwt_public_key: null,
    response_mode: 'direct_post',
    trusted_authorities: '',
    trusted_hosts: [],
  });
  expect((await get(api, `/api/clients/${chosen}`))?.secret).toBe(answer.body.data?.secret);
  const again = await post(api, { id: chosen, identity_provider });
  expect([again.status, again.body.errors]).toEqual([422, { id: ['has already been taken'] }]);
});

test.each([
  ['no provider', {}, 422, 'identity_provider_id'],
  ['null as provider', { identity_provider: null }, 422, 'identity_provider_id'],
  ['an unknown provider', { identity_provider: { id: ids.nobody } }, 422, 'identity_provider_id'],
  ['a provider that is no UUID', { identity_provider: { id: 'x' } }, 422, 'identity_provider_id'],
  ['an unknown key pair', { identity_provider, key_pair_id: ids.nobody }, 404, undefined],
  ['an id that is no UUID', { identity_provider, id: 'x' }, 422, 'id'],
  [
    '301 s for a request',
    { identity_provider, authorization_request_ttl: 301 },
    422,
    'authorization_request_ttl',
  ],
  ['null as URIs', { identity_provider, redirect_uris: null }, 422, 'redirect_uris'],
  ['the curve P-512', { identity_provider, key_pair_type: { type: 'ec', curve: 'P-512' } }, 500, undefined],
])('POST with %s keeps nothing, not even a new scope', async (_, client, status, field) => {
  const api = await boruta();
  const answer = await post(api, { ...client, authorized_scopes: [{ name: 'new' }] });
  expect(answer.status).toBe(status);
  if (field !== undefined) expect(answer.body.errors).toHaveProperty(field);
  expect([api.sandbox.data.clients.length, api.sandbox.data.scopes.length]).toEqual([2, 3]);
});

test('null as a lifetime or the secret is the default in POST', async () => {
  const lifetimes = [
    'access_token',
    'id_token',
    'authorization_code',
    'authorization_request',
    'refresh_token',
  ];
  const fields = [...lifetimes.map((name) => `${name}_ttl`), 'secret'];
  const nulls = Object.fromEntries(fields.map((field) => [field, null]));
  const { body } = await post(await boruta(), { identity_provider, ...nulls });
  for (const field of fields) expect(body.data?.[field], field).not.toBeNull();
});

const rsa = { type: 'rsa', modulus_size: '2048', exponent_size: '65537' };
const rs256 = { id_token_signature_alg: 'RS256', key_pair_type: rsa };
const unset = { pkce: null, authorize_scope: null, enforce_dpop: null };

test.each([
  [{ name: null, public_client_id: ' ' }, 200, { name: null, public_client_id: null }],
  [{ name: 'x'.repeat(256) }, 500, null],
  [{ secret: '' }, 200, { secret: null }],
  [{ secret: null }, 200, { secret: null }],
  [{ redirect_uris: ['app://a', '', 'https://b/c?d'] }, 200, { redirect_uris: ['app://a', 'https://b/c?d'] }],
  [{ redirect_uris: ['/a'] }, 422, null],
  [{ redirect_uris: ['app:a'] }, 422, null],
  [{ redirect_uris: ['https://a/#b'] }, 422, null],
  [{ redirect_uris: null }, 500, null],
  [{ redirect_uris: [`https://${'a'.repeat(255)}`] }, 500, null],
  [{ supported_grant_types: null }, 200, { supported_grant_types: null }],
  [{ supported_grant_types: ['password', 'password'] }, 422, null],
  [{ supported_grant_types: ['other'] }, 422, null],
  [{ access_token_ttl: '25' }, 200, { access_token_ttl: 25 }],
  [{ access_token_ttl: 86_401 }, 422, null],
  [{ access_token_ttl: 0 }, 422, null],
  [{ access_token_ttl: null }, 422, null],
  [{ authorization_code_ttl: 601 }, 422, null],
  [{ authorization_request_ttl: 4000 }, 200, { authorization_request_ttl: 4000 }],
  [{ authorization_request_ttl: null }, 200, { authorization_request_ttl: null }],
  [{ refresh_token_ttl: 2_592_001 }, 422, null],
  [{ agent_token_ttl: 2_592_001 }, 422, null],
  [{ agent_token_ttl: 60, logo_uri: 'u', jwks_uri: 'u', id_token_kid: 'k', metadata: { a: 1 } }, 200, {}],
  [{ metadata: 5 }, 422, null],
  [{ authorized_resources: ['urn:x:y'] }, 200, {}],
  [{ authorized_resources: ['api'] }, 422, null],
  [{ authorized_resources: null }, 500, null],
  [{ key_pair_type: null }, 422, null],
  [{ key_pair_type: { type: 'rsa' } }, 422, null],
  [{ key_pair_type: { type: 'other' } }, 422, null],
  [{ key_pair_type: rsa }, 200, { key_pair_type: rsa }],
  [{ ...rs256, key_pair_type: undefined }, 422, null],
  [rs256, 200, rs256],
  [{ id_token_signature_alg: null }, 200, { id_token_signature_alg: null }],
  [{ userinfo_signed_response_alg: 'ES384' }, 200, { userinfo_signed_response_alg: 'ES384' }],
  [{ access_token_ttl: 300 }, 200, { access_token_ttl: 300 }],
  // The limit is that of authorization_request_ttl.
  [{ access_token_ttl: 301 }, 422, null],
  [{ token_endpoint_auth_methods: ['other'] }, 422, null],
  [{ token_endpoint_auth_methods: null }, 500, null],
  [{ token_endpoint_jwt_auth_alg: 'ES256' }, 422, null],
  [{ response_mode: null }, 200, { response_mode: null }],
  [{ response_mode: 'other' }, 422, null],
  [{ signatures_adapter: 'other' }, 422, null],
  [{ trusted_authorities: '' }, 200, { trusted_authorities: '' }],
  [{ trusted_authorities: null }, 422, null],
  [{ trusted_hosts: null }, 422, null],
  [{ confidential: null }, 500, null],
  [unset, 200, unset],
  [{ id: chosen, did: 'd', public_key: 'k' }, 200, { id: ids.portal }],
])('PATCH of %j gives %s', async (client, status, wanted) => {
  const api = await boruta();
  const before = await get(api);
  const authorized_scopes = [{ id: ids.reportsRead }];
  expect((await patch(api, { authorized_scopes, ...client })).status).toBe(status);
  expect(await get(api)).toEqual({ ...before, ...wanted });
});

describe('authorized_scopes', () => {
  test.each<[string, unknown, string[]]>([
    ['left out', undefined, []],
    ['null', null, []],
    [
      'known ones',
      [{ id: ids.billingRead, name: 'x' }, { name: 'reports:read' }],
      ['billing:read', 'reports:read'],
    ],
    ['an unknown name', [{ name: 'new' }], ['new']],
    ['a name with a space, an unknown id', [{ name: 'a b' }, { id: ids.nobody }, { id: 'x' }], []],
    ['an unknown id with a name', [{ id: ids.nobody, name: 'new' }], []],
  ])('%s', async (_, authorized_scopes, names) => {
    const api = await boruta();
    expect((await patch(api, { authorized_scopes })).status).toBe(200);
    expect((await get(api))?.authorized_scopes).toMatchObject(names.map((name) => ({ name })));
    const made = api.sandbox.data.scopes.slice(3);
    expect(made).toMatchObject(names.includes('new') ? [{ name: 'new', label: null, public: false }] : []);
  });

  test.each([
    ['a list of texts', ['reports:read'], 400],
    ['a text', 'reports:read', 500],
  ])('%s changes nothing', async (_, authorized_scopes, status) => {
    const api = await boruta();
    expect((await patch(api, { name: 'new', authorized_scopes })).status).toBe(status);
    expect(await get(api)).toMatchObject({
      name: 'Customer portal',
      authorized_scopes: [{ name: 'reports:read' }],
    });
  });
});

test.each([
  ['an unknown identity provider', { identity_provider: { id: ids.nobody } }, 422],
  ['an unknown key pair', { key_pair_id: ids.nobody }, 404],
])('%s is refused after everything else was written', async (_, reference, status) => {
  const api = await boruta();
  expect((await patch(api, { name: 'new', ...reference })).status).toBe(status);
  expect(await get(api)).toMatchObject({
    name: 'new',
    authorized_scopes: [],
    identity_provider: { id: provider },
  });
});

test.each([null, undefined, {}])(
  '%j as identity_provider keeps it, and its id shows its present name',
  async (none) => {
    const api = await boruta();
    const renamed = { identity_provider: { name: 'renamed' } };
    await api.ask('PATCH', `/api/identity-providers/${provider}`, renamed);
    await patch(api, { identity_provider: none });
    expect((await get(api))?.identity_provider).toEqual({ id: provider, name: 'Company accounts' });
    await patch(api, { identity_provider });
    expect((await get(api))?.identity_provider).toEqual({ id: provider, name: 'renamed' });
  },
);

test('a PATCH that is cut off before its last write keeps the old identity provider', async () => {
  const cut = { kind: 'cut', step: 1 } as const;
  const api = await boruta({ intercept: ({ method }) => (method === 'PATCH' ? cut : undefined) });
  await expect(patch(api, { name: 'new', identity_provider: { id: ids.nobody } })).rejects.toThrow();
  expect(await get(api)).toMatchObject({ name: 'new', identity_provider: { id: provider } });
});

test('a new type of key keeps the key, a new key keeps the DID, and the DID can be regenerated', async () => {
  const api = await boruta();
  const before = await get(api);
  await patch(api, { key_pair_type: rsa });
  expect((await get(api))?.public_key).toBe(before?.public_key);
  const answer = await api.ask('POST', `${path}/regenerate_key_pair`);
  expect([answer.status, answer.body.data?.did]).toEqual([200, before?.did]);
  expect(answer.body.data?.public_key).toContain('BEGIN RSA PUBLIC KEY');
  expect((await api.ask('POST', `${path}/regenerate_did`)).body.data?.did).not.toBe(before?.did);
});

test('jwt_public_key is filled from jwk', async () => {
  const api = await boruta();
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  };
  expect((await patch(api, { jwk })).body.data?.jwt_public_key).toContain('BEGIN PUBLIC KEY');
  expect((await patch(api, { jwk: { kty: 'x' } })).status).toBe(500);
});

test("the admin panel's client is write-protected, except its DID, and except in upper case", async () => {
  const admin = ids.portal.replace('6', 'a');
  const api = await boruta({ adminClient: admin });
  for (const client of api.sandbox.data.clients) if (client.id === ids.portal) client.id = admin;
  const at = `/api/clients/${admin}`;
  const client = { name: 'new' };
  expect((await api.ask('PATCH', at, { client })).status).toBe(403);
  expect((await api.ask('DELETE', at)).status).toBe(403);
  expect((await api.ask('POST', `${at}/regenerate_key_pair`)).status).toBe(403);
  expect((await api.ask('POST', `${at}/regenerate_did`)).status).toBe(200);
  expect((await api.ask('PATCH', at.replace(admin, admin.toUpperCase()), { client })).status).toBe(200);
});

test('DELETE, and bodies without an object', async () => {
  const api = await boruta();
  expect((await api.ask('DELETE', path)).status).toBe(204);
  expect((await api.ask('DELETE', path)).status).toBe(404);
  expect((await api.ask('DELETE', '/api/clients/x')).status).toBe(400);
  const answer = await api.ask('POST', '/api/clients', {});
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(api.sandbox.token);
  for (const client of [null, [], 'text'])
    expect((await api.ask('POST', '/api/clients', { client })).status).toBe(400);
});
