import { describe, expect, it } from 'vitest';
import { client as kind } from '../../src/kinds/client.js';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { boruta, config, failed, project, succeeded, type TestProject } from '../e2e/running.js';

const fresh = '60000000-0000-4000-8000-0000000000aa';
const secret = 'a-secret-of-the-manifest';
const env = { IDOPS_SHOP_SECRET: secret };

/** A project with one document about a client. */
async function about(
  document: string,
  { id = ids.portal, options = {} }: { id?: string; options?: SandboxOptions } = {},
) {
  const text = (fields: string): string => `kind: Client\nid: ${id}\n${fields}`;
  const files = { 'idops.yaml': boruta, 'manifests/clients.yaml': text(document) };
  const at = await project(files, { profile: 'boruta', ...options });
  return {
    ...at,
    row: () => at.sandbox.data.clients.find((one) => one.id === id),
    declare: (fields: string) => at.write({ 'manifests/clients.yaml': text(fields) }),
    run: (args: string) => at.idops(args, { env }),
  };
}

/** The changes of a plan. */
async function changes(at: Pick<TestProject, 'idops'>) {
  return JSON.parse((await at.idops('plan --format json', { env })).stdout).changes;
}

const idle = (at: Pick<TestProject, 'idops'>) =>
  expect(at.idops('plan --detailed-exitcode', { env })).resolves.toMatchObject({ code: 0 });

describe('a client', () => {
  it('has a schema with all of its fields', () => {
    const shape = Object.keys((kind.schema() as unknown as { shape: object }).shape);
    const others = ['kind', 'id', 'did_generation', 'create', 'state'];
    expect(shape.filter((name) => !others.includes(name)).sort()).toEqual(Object.keys(kind.fields).sort());
  });

  it('is sent with the ids of all its scopes, which an update without them would remove', async () => {
    const at = await about('name: Portal\n');
    const before = at.row()?.authorized_scopes;
    await succeeded(at.run('apply --yes'));
    const patch = at.sandbox.requests.findLast(({ method }) => method === 'PATCH');
    expect(patch?.body).toEqual({ client: { name: 'Portal', authorized_scopes: [{ id: ids.reportsRead }] } });
    expect(at.row()).toMatchObject({ name: 'Portal', authorized_scopes: before });
    await idle(at);
  });

  it('is blocked if a scope or its identity provider is unknown: the server would create the one, and write all else before it refuses the other', async () => {
    const at = await about('name: x\nauthorized_scopes: {add: [no-such]}\n');
    const scopes = at.sandbox.data.scopes.length;
    await failed(at.run('apply --yes'), 'the server has no scope "no-such"');
    await at.declare('name: x\nidentity_provider: Nobody\n');
    await failed(at.run('apply --yes'), 'the server has no identity provider "Nobody"');
    await at.declare(`name: x\nidentity_provider: {id: ${fresh}}\n`);
    await failed(at.run('apply --yes'), `the server has no identity provider with the id ${fresh}`);
    expect(at.writes()).toEqual([]);
    expect(at.sandbox.data.scopes).toHaveLength(scopes);
  });

  it('is read back if the server refuses its identity provider after writing the rest', async () => {
    let meanwhile = () => {};
    const at = await about('name: Half\nidentity_provider: Partners\n', {
      options: {
        intercept({ method }) {
          if (method === 'PATCH') meanwhile();
          return undefined;
        },
      },
    });
    const { identityProviders } = at.sandbox.data;
    const [first] = identityProviders;
    if (first === undefined) throw new Error('the demo data has no identity provider');
    identityProviders.push({ ...first, id: fresh, name: 'Partners' });
    meanwhile = () => void identityProviders.pop();
    await failed(at.run('apply --yes'), 'answered 422', 'read back: identity_provider: asked');
    expect(at.row()?.name).toBe('Half');
  });

  it('marks a privileged scope', async () => {
    const at = await about('authorized_scopes: {add: ["billing:write"]}\n');
    await at.write({ 'idops.yaml': `${boruta}safety: {privileged: ["billing:*"]}\n` });
    const [change] = await changes(at);
    expect(change).toMatchObject({ action: 'update', privileged: true });
  });

  it('accepts lifetimes with units, and compares them in seconds', async () => {
    const at = await about(
      'access_token_ttl: 1d\nauthorization_code_ttl: 1m\nrefresh_token_ttl: "2592000"\n',
    );
    await idle(at);
    await at.declare('access_token_ttl: 5m\n');
    await succeeded(at.run('apply --yes'));
    expect(at.row()?.access_token_ttl).toBe(300);
    // The server uses the limit of another field.
    await at.declare('access_token_ttl: 10m\n');
    await failed(at.run('apply --yes'), 'and at most 300 in an update');
    expect(at.row()?.access_token_ttl).toBe(300);
    await at.declare('access_token_ttl: 25h\n');
    await at.refused('validate', 'must be 1 to 86400 seconds');
    await at.declare('access_token_ttl: 1 hour\n');
    await at.refused('validate', 'a number with a unit');
  });

  it('accepts a secret from a variable, shows it nowhere, and reports a change by somebody else', async () => {
    const at = await about('secret: "${IDOPS_SHOP_SECRET}"\n');
    const planned = await at.run('plan --debug');
    const applied = await succeeded(at.run('apply --yes --debug'));
    expect(at.row()?.secret).toBe(secret);
    await idle(at);
    const row = at.row();
    if (row !== undefined) row.secret = 'another-secret-of-the-server';
    const [drifted] = await changes(at);
    expect(drifted.fields).toMatchObject([{ path: 'secret', before: { sensitive: true }, sensitive: true }]);
    const pulled = await at.run('pull --force');
    const files = await at.files();
    for (const hidden of [secret, 'another-secret-of-the-server', 'demo-client-secret'])
      expect(JSON.stringify([planned, applied, drifted, pulled, files])).not.toContain(hidden);
  });

  it('refuses values that the server refuses, drops or crashes at', async () => {
    const at = await about('name: x\n');
    for (const field of [
      'redirect_uris: [/login]',
      'redirect_uris: ["https://shop.example.com/#login"]',
      'redirect_uris: [""]',
      'redirect_uris: null',
      `redirect_uris: [https://shop.example.com/${'x'.repeat(240)}]`,
      `name: ${'x'.repeat(256)}`,
      'supported_grant_types: [telepathy]',
      'supported_grant_types: [implicit, implicit]',
      'supported_grant_types: null',
      'token_endpoint_auth_methods: [none]',
      'token_endpoint_jwt_auth_alg: ES256',
      'authorization_code_ttl: 11m',
      'authorization_request_ttl: 301',
      'authorization_request_ttl: null',
      'refresh_token_ttl: 31d',
      'pkce: null',
      'identity_provider: null',
      'trusted_hosts: null',
      'key_pair_type: {type: ec, curve: P-512}',
      'key_pair_type: {type: universal}',
      'authorized_resources: [api]',
      'authorized_resources: null',
      'key_pair_id: default',
    ]) {
      await at.declare(`${field}\n`);
      const { code, stderr } = await at.run('validate');
      expect(code, field).toBe(1);
      expect(stderr, field).toContain('clients.yaml:3:');
    }
    await at.write({ 'manifests/clients.yaml': `kind: Client\nid: ${fresh.toUpperCase()}\nname: x\n` });
    await at.refused('validate', 'this server writes its ids in lower case');
  });

  it('has not converged if the server drops a scope that was deleted meanwhile', async () => {
    let meanwhile = () => {};
    const at = await about('authorized_scopes: ["billing:read", "billing:write"]\n', {
      options: {
        intercept({ method }) {
          if (method === 'PATCH') meanwhile();
          return undefined;
        },
      },
    });
    const { scopes } = at.sandbox.data;
    const gone = scopes.findIndex(({ name }) => name === 'billing:write');
    meanwhile = () => void scopes.splice(gone, 1);
    await failed(at.run('apply --yes'), 'kept another value');
    expect(at.row()?.authorized_scopes.map(({ name }) => name)).toEqual(['billing:read']);
  });

  it('refuses a scope id with the name of another scope', async () => {
    const at = await about(`authorized_scopes: [{id: ${ids.reportsRead}, name: "billing:read"}]\n`);
    await failed(at.run('apply --yes'), 'billing:read');
    expect(at.writes()).toEqual([]);
  });

  it('refuses an empty secret, which would leave the client without one', async () => {
    const at = await about('secret: ""\n');
    await at.refused('validate', '"secret" can\'t be empty');
    await at.declare('secret: null\n');
    expect((await at.run('validate')).code).toBe(1);
  });

  it('records fields that no response shows as sent, and lists them as unverified', async () => {
    const at = await about(
      'agent_token_ttl: 1h\nmetadata: {contact: a}\nlogo_uri: https://a.example/logo.svg\n',
    );
    const { stdout } = await succeeded(at.run('apply --yes --format json'));
    expect(JSON.parse(stdout).results[0].unverified.sort()).toEqual([
      'agent_token_ttl',
      'logo_uri',
      'metadata',
    ]);
    await idle(at);
    await at.declare('agent_token_ttl: 2h\nmetadata: {contact: a}\nlogo_uri: https://a.example/logo.svg\n');
    const [change] = await changes(at);
    expect(change.fields).toMatchObject([{ path: 'agent_token_ttl', before: 3600, after: 7200 }]);
  });

  it('keeps its key if only the type of key changes, with a warning', async () => {
    const at = await about('key_pair_type: {type: rsa, modulus_size: 2048, exponent_size: 65537}\n');
    const [change] = await changes(at);
    expect(change.warnings).toMatchObject([{ code: 'keeps-key' }]);
    await at.declare('key_pair_type: {type: ec, curve: P-256}\nid_token_signature_alg: RS256\n');
    await at.refused('validate', '"id_token_signature_alg" is RS256');
  });

  it('that belongs to the admin panel is protected', async () => {
    const at = await about('name: Mine\n', { options: { adminClient: ids.portal } });
    await failed(at.run('apply --yes'), 'or this client is protected');
  });
});

describe('a new client', () => {
  const document = 'name: Shop\nidentity_provider: Company accounts\nauthorized_scopes: ["billing:read"]\n';

  it('needs an identity provider, and gets the declared id', async () => {
    const at = await about('name: Shop\ncreate: true\n', { id: fresh });
    await failed(at.run('apply --yes'), 'a new client needs identity_provider');
    await at.declare(`${document}create: true\ndid_generation: 3\n`);
    await succeeded(at.run('apply --yes'));
    expect(at.row()).toMatchObject({ name: 'Shop', authorized_scopes: [{ name: 'billing:read' }] });
    await idle(at);
    await succeeded(at.run('undo --last --yes'));
    expect(at.row()).toBeUndefined();
  });
});

it('a new client with an EC key needs an algorithm: the server would sign with one for RSA keys', async () => {
  const ec = 'create: true\nidentity_provider: Company accounts\nkey_pair_type: {type: ec, curve: P-256}\n';
  const at = await about(ec, { id: fresh });
  await failed(at.run('apply --yes'), 'declare id_token_signature_alg');
  expect(at.writes()).toEqual([]);
  await at.declare(`${ec}id_token_signature_alg: ES256\n`);
  await succeeded(at.run('apply --yes'));
  expect(at.row()?.key_pair_type).toEqual({ type: 'ec', curve: 'P-256' });
  await idle(at);
});

it('a new client gets the key of a key pair that the server has, and no update sends the pair', async () => {
  const document = 'create: true\nidentity_provider: Company accounts\n';
  const at = await about(`${document}key_pair_id: ${fresh}\n`, { id: fresh });
  await failed(at.run('apply --yes'), `the server has no key pair with the id ${fresh}`);
  expect(at.writes()).toEqual([]);
  await at.declare(`${document}key_pair_id: ${ids.secondKey}\n`);
  await succeeded(at.run('apply --yes'));
  const key = at.sandbox.data.keyPairs.find(({ id }) => id === ids.secondKey)?.public_key;
  expect(at.row()?.public_key).toBe(key);
  await idle(at);
  await at.declare(`${document}name: x\nkey_pair_id: ${ids.firstKey}\n`);
  await succeeded(at.run('apply --yes'));
  expect(at.row()?.public_key).toBe(key);
  await idle(at);
});

describe('a client that was deleted', () => {
  it('is restored with its id, without its secret', async () => {
    const at = await about('state: absent\n');
    const before = at.row();
    await succeeded(at.run('apply --yes --allow-destructive 1'));
    expect(at.row()).toBeUndefined();
    const { stderr } = await at.run('undo --last --yes');
    expect(stderr).toContain('the old value was a secret');
    expect(at.row()).toMatchObject({
      name: before?.name,
      authorized_scopes: before?.authorized_scopes,
      identity_provider: before?.identity_provider,
    });
    expect(at.row()?.secret).not.toBe(before?.secret);
  });
});

describe('did_generation with other fields', () => {
  it('is recorded with the first update, and raised only if nothing else changes', async () => {
    const at = await about('name: One\ndid_generation: 1\n');
    const [first] = await changes(at);
    expect(first.fields.map(({ path }: { path: string }) => path)).toEqual(['name', 'did_generation']);
    await succeeded(at.run('apply --yes'));
    await idle(at);
    await at.declare('name: Two\ndid_generation: 2\n');
    await failed(at.run('apply --yes'), 'did_generation is raised while name differs too');
    await at.declare('name: Two\ndid_generation: 1\n');
    await succeeded(at.run('apply --yes'));
    await at.declare('name: Two\ndid_generation: 2\n');
    const { stdout } = await succeeded(at.run('apply --yes --format json'));
    expect(JSON.parse(stdout).results).toMatchObject([{ action: 'regenerate', status: 'applied' }]);
    await idle(at);
    expect(at.writes().map((write) => write.split(' ')[0])).toEqual(['PATCH', 'PATCH', 'POST']);
    const state = JSON.parse(await at.read('.idops/state.json'));
    expect(state.resources[`Client/${ids.portal}`]).toMatchObject({ did_generation: 2, managed: ['name'] });
  });
});

it('only the DID of a client can be declared under the profile documented', async () => {
  const at = await project({
    'idops.yaml': config,
    'manifests/clients.yaml': `kind: Client\nid: ${ids.portal}\npkce: true\ncreate: true\n`,
  });
  await at.refused('validate', ['the documented API has no "pkce" of a client', 'clients.yaml:3:1']);
  await at.refused('validate', 'has no operation that creates a client');
});
