import { describe, expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { gate } from '../e2e/gate.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const defaults = ({ sandbox }: SandboxApi) => sandbox.data.keyPairs.map(({ is_default }) => is_default);

describe('key pairs', () => {
  const patch = ({ ask }: SandboxApi, id: string, keyPair: unknown): Promise<Answer> =>
    ask('PATCH', `/api/key-pairs/${id}`, { key_pair: keyPair });

  test('false on the default leaves none, and the next true creates an extra key pair', async () => {
    const api = await boruta();
    expect((await patch(api, ids.firstKey, { is_default: false })).status).toBe(200);
    expect(defaults(api)).toEqual([false, false, false]);
    expect((await patch(api, ids.secondKey, { is_default: true })).status).toBe(200);
    expect(defaults(api)).toEqual([false, true, false, false]);
    const known: string[] = [ids.firstKey, ids.secondKey, ids.thirdKey];
    expect(known).not.toContain(api.sandbox.data.keyPairs[3]?.id);
  });

  test('two true at once leave two defaults, and a further one gives 500', async () => {
    const both = gate(2);
    const api = await boruta({ intercept: both.intercept });
    void both.arrived.then(both.open);
    const answer = await Promise.all(
      [ids.secondKey, ids.thirdKey].map((id) => patch(api, id, { is_default: true })),
    );
    expect(answer.map(({ status }) => status)).toEqual([200, 200]);
    expect(defaults(api)).toEqual([false, true, true]);
    expect((await patch(api, ids.firstKey, { is_default: true })).status).toBe(500);
    // Setting the present default changes nothing.
    expect((await patch(api, ids.secondKey, { is_default: true })).status).toBe(200);
    expect(defaults(api)).toEqual([false, true, true]);
    expect((await patch(api, ids.secondKey, { is_default: false })).status).toBe(200);
    expect((await patch(api, ids.firstKey, { is_default: true })).status).toBe(200);
    expect(defaults(api)).toEqual([true, false, false]);
  });

  test('is_default may be null', async () => {
    const api = await boruta();
    expect((await patch(api, ids.firstKey, { is_default: null })).body.data?.is_default).toBeNull();
  });

  test('public_key is ignored with 200', async () => {
    const { withoutEffect } = await boruta();
    await withoutEffect(200, 'PATCH', `/api/key-pairs/${ids.firstKey}`, {
      key_pair: { public_key: 'other' },
    });
  });
});

describe('clients', () => {
  const path = `/api/clients/${ids.portal}`;

  test.each([
    ['GET', path],
    ['POST', `${path}/regenerate_did`],
  ])('%s %s answers with the whole client, its secret in clear', async (method, asked) => {
    const { ask, sandbox } = await boruta();
    const answer = await ask(method, asked);
    const further = { trusted_authorities: '', trusted_hosts: [] };
    expect(answer.body).toEqual({ data: { ...further, ...sandbox.data.clients[0] } });
    expect(answer.body.data?.secret).toBe('demo-client-secret-portal');
  });

  test('the DID is derived from the key of the client', async () => {
    const { ask, sandbox } = await boruta();
    const [client] = sandbox.data.clients;
    const before = client?.did;
    if (client !== undefined) client.public_key = 'another key';
    const first = await ask('POST', `${path}/regenerate_did`);
    const second = await ask('POST', `${path}/regenerate_did`);
    expect(first.body.data?.did).not.toBe(before);
    expect(second.body.data?.did).toBe(first.body.data?.did);
  });
});

test.each([
  [{}, 201, [true, false, false, null]],
  [{ id: ids.nobody, is_default: false }, 201, [true, false, false, false]],
  [{ is_default: 'true' }, 201, [false, false, false, true]],
  [{ is_default: 'x' }, 422, [true, false, false]],
])('POST of %j makes a separate key pair', async (key_pair, status, wanted) => {
  const api = await boruta();
  const answer = await api.ask('POST', '/api/key-pairs', { key_pair });
  expect([answer.status, defaults(api)]).toEqual([status, wanted]);
  if (status !== 201) return;
  expect(answer.body.data?.id).not.toBe(ids.nobody);
  expect(answer.body.data?.public_key).toContain('BEGIN RSA PUBLIC KEY');
  expect(answer.headers.get('location')).toBe(`/api/key-pairs/${answer.body.data?.id}`);
});

test('POST of a default makes an extra key pair if there was none', async () => {
  const api = await boruta({ seed: 'empty' });
  await api.ask('POST', '/api/key-pairs', { key_pair: { is_default: true } });
  expect(defaults(api)).toEqual([false, true]);
});

test('DELETE removes any but the default', async () => {
  const api = await boruta();
  expect((await api.ask('DELETE', `/api/key-pairs/${ids.firstKey}`)).status).toBe(422);
  expect((await api.ask('DELETE', `/api/key-pairs/${ids.secondKey}`)).status).toBe(204);
  expect((await api.ask('DELETE', `/api/key-pairs/${ids.secondKey}`)).status).toBe(404);
});

test('a client that has the key of a pair gets another key by an update with that pair', async () => {
  const { ask, sandbox } = await boruta();
  const held = async () => {
    const client = { key_pair_id: ids.secondKey };
    const { data } = (await ask('PATCH', `/api/clients/${ids.portal}`, { client })).body;
    return data?.public_key === sandbox.data.keyPairs[1]?.public_key;
  };
  expect([await held(), await held(), await held()]).toEqual([true, false, true]);
});

test('rotation makes a new key under the same id, for the clients with the old one too', async () => {
  const { ask, sandbox } = await boruta();
  await ask('PATCH', `/api/clients/${ids.portal}`, { client: { key_pair_id: ids.secondKey } });
  const before = sandbox.snapshot();
  const answer = await ask('POST', `/api/key-pairs/${ids.secondKey}/rotate`);
  expect(answer.body.data).toMatchObject({ id: ids.secondKey, is_default: false });
  const client = (await ask('GET', `/api/clients/${ids.portal}`)).body.data;
  expect(client?.public_key).toBe(answer.body.data?.public_key);
  expect(before.keyPairs[1]?.public_key).not.toBe(answer.body.data?.public_key);
  expect(sandbox.data.clients.find(({ id }) => id === ids.wallet)).toEqual(
    before.clients.find(({ id }) => id === ids.wallet),
  );
});
