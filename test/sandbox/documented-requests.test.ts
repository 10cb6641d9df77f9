import { describe, expect, test } from 'vitest';
import { allScopes } from '../../src/sandbox/options.js';
import { ids } from '../demo-ids.js';
import { start, templatePath } from './api.js';

const users = 'users:manage:all';
const clients = 'clients:manage:all';
const backends = 'identity-providers:manage:all';

const changes = [
  { method: 'PATCH', path: `/api/users/${ids.ada}`, scope: users, wrapper: 'user' },
  { method: 'PATCH', path: templatePath('tx_code'), scope: backends, wrapper: 'template' },
  { method: 'PATCH', path: `/api/key-pairs/${ids.secondKey}`, scope: clients, wrapper: 'key_pair' },
  { method: 'PATCH', path: `/api/organizations/${ids.acme}`, scope: users, wrapper: 'organization' },
] as const;

const others = [
  { method: 'POST', path: `/api/clients/${ids.portal}/regenerate_did`, scope: clients },
  { method: 'DELETE', path: templatePath('tx_code'), scope: backends },
  { method: 'GET', path: templatePath('tx_code'), scope: backends },
  { method: 'GET', path: '/api/organizations', scope: users },
] as const;

const operations = [
  ...others.map((operation) => ({ ...operation, body: undefined })),
  ...changes.map((operation) => ({ ...operation, body: { [operation.wrapper]: {} } })),
];

describe.each(operations)('$method $path', ({ method, path, scope, body }) => {
  test('answers 200 with data, as JSON', async () => {
    const { ask } = await start();
    const answer = await ask(method, path, body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.body).toHaveProperty('data');
  });

  test.each([
    ['no credentials', null, {}],
    ['an unknown token', 'nonsense', {}],
    ['another scheme', null, { authorization: 'Basic YTpi' }],
    ['a token and no scheme', null, { authorization: 'known' }],
  ])('answers 401 with code and message to %s', async (_, token, headers) => {
    const { withoutEffect } = await start({ tokens: { known: allScopes } });
    const answer = await withoutEffect(401, method, path, body, { token, headers });
    expect(answer.body).toEqual({ code: expect.any(String), message: expect.any(String) });
  });

  test(`needs only ${scope}: 403 with code and message without it`, async () => {
    const rest = allScopes.filter((other) => other !== scope);
    const { ask, withoutEffect } = await start({ tokens: { right: [scope], wrong: rest } });
    const answer = await withoutEffect(403, method, path, body, { token: 'wrong' });
    expect(answer.body).toEqual({ code: expect.any(String), message: expect.any(String) });
    expect((await ask(method, path, body, { token: 'right' })).status).toBe(200);
  });
});

test.each(operations.filter(({ path }) => path !== '/api/organizations'))(
  'an unknown id is 404 with code and message: $method $path',
  async ({ method, path, body }) => {
    const { ask } = await start();
    const answer = await ask(method, path.replace(/[\da-f-]{36}/, ids.nobody), body);
    expect([answer.status, answer.body]).toEqual([
      404,
      { code: expect.any(String), message: expect.any(String) },
    ]);
  },
);

describe.each(changes)('the body of $method $path', ({ method, path, wrapper }) => {
  test.each([
    ['no body', undefined, undefined],
    ['a body that is no object', [], undefined],
    ['a body without the wrapper', { other: {} }, undefined],
    ['a wrapper that is no object', { [wrapper]: 'text' }, undefined],
    ['malformed JSON', undefined, '{"a":'],
  ])('answers 400 with errors to %s', async (_, sent, raw) => {
    const { withoutEffect } = await start();
    const answer = await withoutEffect(400, method, path, sent, raw === undefined ? {} : { raw });
    expect(answer.body).toEqual({ errors: expect.any(Object) });
  });

  test('changes neither the id nor unknown members', async () => {
    const { withoutEffect } = await start();
    const resource = { id: ids.nobody, unheard_of: 1 };
    const { body } = await withoutEffect(200, method, path, { [wrapper]: resource, more: 2 });
    expect(body.data).not.toHaveProperty('unheard_of');
    expect(body.data?.id).not.toBe(ids.nobody);
  });
});

test.each([
  ['GET', `/api/users/${ids.ada}`, 405],
  ['GET', '/api/users', 404],
  ['GET', `/api/clients/${ids.portal}`, 404],
  ['GET', '/api/key-pairs', 404],
  ['GET', `/api/key-pairs/${ids.firstKey}`, 405],
  ['GET', `/api/organizations/${ids.acme}`, 405],
  ['POST', '/api/organizations', 405],
  ['PUT', templatePath('tx_code'), 405],
])('there are only eight operations: %s %s', async (method, path, status) => {
  const { ask } = await start();
  expect((await ask(method, path)).status).toBe(status);
});

test('path segments are percent-decoded, so an id may be any string', async () => {
  const { ask, sandbox } = await start();
  const id = 'a/b c?d#é%';
  sandbox.data.organizations.push({ id, name: 'odd', label: null });
  const answer = await ask('PATCH', `/api/organizations/${encodeURIComponent(id)}`, {
    organization: { label: 'Odd' },
  });
  expect(answer.body.data).toEqual({ id, name: 'odd', label: 'Odd' });
});
