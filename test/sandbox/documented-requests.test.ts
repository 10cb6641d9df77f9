import { describe, expect, test } from 'vitest';
import { allScopes, type Scope } from '../../src/sandbox/options.js';
import { ids, start, templatePath } from './asking.js';

interface OperationCase {
  method: string;
  path: string;
  scope: Scope;
  /** The same with an id that nothing has. */
  missing?: string;
}

const changes = [
  {
    method: 'PATCH',
    path: `/api/users/${ids.ada}`,
    scope: 'users:manage:all',
    wrapper: 'user',
    missing: `/api/users/${ids.nobody}`,
  },
  {
    method: 'PATCH',
    path: templatePath('tx_code'),
    scope: 'identity-providers:manage:all',
    wrapper: 'template',
    missing: templatePath('tx_code', ids.nobody),
  },
  {
    method: 'PATCH',
    path: `/api/key-pairs/${ids.secondKey}`,
    scope: 'clients:manage:all',
    wrapper: 'key_pair',
    missing: `/api/key-pairs/${ids.nobody}`,
  },
  {
    method: 'PATCH',
    path: `/api/organizations/${ids.acme}`,
    scope: 'users:manage:all',
    wrapper: 'organization',
    missing: `/api/organizations/${ids.nobody}`,
  },
] satisfies (OperationCase & { wrapper: string })[];

const others: OperationCase[] = [
  {
    method: 'POST',
    path: `/api/clients/${ids.portal}/regenerate_did`,
    scope: 'clients:manage:all',
    missing: `/api/clients/${ids.nobody}/regenerate_did`,
  },
  {
    method: 'DELETE',
    path: templatePath('tx_code'),
    scope: 'identity-providers:manage:all',
    missing: templatePath('tx_code', ids.nobody),
  },
  {
    method: 'GET',
    path: templatePath('tx_code'),
    scope: 'identity-providers:manage:all',
    missing: templatePath('tx_code', ids.nobody),
  },
  { method: 'GET', path: '/api/organizations', scope: 'users:manage:all' },
];

const operations = [
  ...others.map((operation) => ({ ...operation, body: undefined })),
  ...changes.map((operation) => ({ ...operation, body: { [operation.wrapper]: {} } })),
];

describe.each(operations)('$method $path', ({ method, path, scope, body }) => {
  test('answers 200 with data, as JSON', async () => {
    const { ask } = await start();
    const told = await ask(method, path, body);
    expect(told.status).toBe(200);
    expect(told.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(told.body).toHaveProperty('data');
  });

  test.each([
    ['no credentials', null, {}],
    ['an unknown token', 'nonsense', {}],
    ['another scheme', null, { authorization: 'Basic YTpi' }],
    ['a token and no scheme', null, { authorization: 'known' }],
  ])('answers 401 with code and message to %s', async (_, token, headers) => {
    const { ask, sandbox } = await start({ tokens: { known: allScopes } });
    const before = sandbox.snapshot();
    const told = await ask(method, path, body, { token, headers });
    expect(told.status).toBe(401);
    expect(told.body).toEqual({ code: expect.any(String), message: expect.any(String) });
    expect(sandbox.snapshot()).toEqual(before);
  });

  test(`needs ${scope} alone: 403 with code and message without it`, async () => {
    const rest = allScopes.filter((other) => other !== scope);
    const { ask, sandbox } = await start({ tokens: { right: [scope], wrong: rest } });
    const before = sandbox.snapshot();
    const told = await ask(method, path, body, { token: 'wrong' });
    expect(told.status).toBe(403);
    expect(told.body).toEqual({ code: expect.any(String), message: expect.any(String) });
    expect(sandbox.snapshot()).toEqual(before);
    expect((await ask(method, path, body, { token: 'right' })).status).toBe(200);
  });
});

test.each(operations.filter(({ missing }) => missing !== undefined))(
  'an unknown id is 404 with code and message: $method $missing',
  async ({ method, missing = '', body }) => {
    const { ask } = await start();
    const told = await ask(method, missing, body);
    expect(told.status).toBe(404);
    expect(told.body).toEqual({ code: expect.any(String), message: expect.any(String) });
  },
);

describe.each(changes)('the body of $method $path', ({ method, path, wrapper }) => {
  test.each([
    ['no body', undefined, undefined],
    ['a body that is no object', [], undefined],
    ['a body without the wrapper', { other: {} }, undefined],
    ['a wrapper that is no object', { [wrapper]: 'text' }, undefined],
    ['a wrapper that is an array', { [wrapper]: [] }, undefined],
    ['a wrapper that is null', { [wrapper]: null }, undefined],
    ['malformed JSON', undefined, '{"a":'],
    ['text that is not UTF-8 JSON', undefined, '\ufeff{}'],
  ])('answers 400 with errors to %s', async (_, sent, raw) => {
    const { ask, sandbox } = await start();
    const before = sandbox.snapshot();
    const told = await ask(method, path, sent, raw === undefined ? {} : { raw });
    expect(told.status).toBe(400);
    expect(told.body).toEqual({ errors: expect.any(Object) });
    expect(sandbox.snapshot()).toEqual(before);
  });

  test('answers 400 to JSON under another content type', async () => {
    const { ask } = await start();
    const told = await ask(method, path, { [wrapper]: {} }, { headers: { 'content-type': 'text/plain' } });
    expect(told.status).toBe(400);
  });

  test('ignores unknown members', async () => {
    const { ask, sandbox } = await start();
    const before = sandbox.snapshot();
    const told = await ask(method, path, { [wrapper]: { unheard_of: 1 }, more: 2 });
    expect(told.status).toBe(200);
    expect(told.body.data).not.toHaveProperty('unheard_of');
    expect(sandbox.snapshot()).toEqual(before);
  });

  test('never changes the id', async () => {
    const { ask, sandbox } = await start();
    const before = sandbox.snapshot();
    const told = await ask(method, path, { [wrapper]: { id: ids.nobody } });
    expect(told.status).toBe(200);
    expect(told.body.data?.id).not.toBe(ids.nobody);
    expect(sandbox.snapshot()).toEqual(before);
  });
});

test.each([
  ['GET', '/'],
  ['GET', '/api'],
  ['GET', '/api/nothing'],
  ['GET', '/api/organizations/'],
  ['PATCH', '/api/organizations//'],
  ['GET', `/api/users/${ids.ada}/more`],
])('an unknown path is 404: %s %s', async (method, path) => {
  const { ask } = await start();
  const told = await ask(method, path);
  expect(told.status).toBe(404);
  expect(told.body).toEqual({ code: expect.any(String), message: expect.any(String) });
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
])('there are eight operations and no more: %s %s', async (method, path, status) => {
  const { ask } = await start();
  expect((await ask(method, path)).status).toBe(status);
});

test('path segments are percent-decoded, so an id may be any string', async () => {
  const { ask, sandbox } = await start();
  const id = 'a/b c?d#é%';
  sandbox.data.organizations.push({ id, name: 'odd', label: null });
  const told = await ask('PATCH', `/api/organizations/${encodeURIComponent(id)}`, {
    organization: { label: 'Odd' },
  });
  expect(told.body.data).toEqual({ id, name: 'odd', label: 'Odd' });
});

test('a path that is not percent-encoded properly is 400', async () => {
  const { ask } = await start();
  expect((await ask('PATCH', '/api/organizations/%E0%A4%A', { organization: {} })).status).toBe(400);
});

test('a body of some megabytes is taken', async () => {
  const { ask } = await start();
  const html = 'x'.repeat(12 * 1024 * 1024);
  const told = await ask('PATCH', templatePath('tx_code'), { template: { html_content: html } });
  expect(told.status).toBe(200);
  expect(told.body.data?.html_content).toBe(html);
});

test('a body over 32 megabytes is 413 with errors', async () => {
  const { ask } = await start();
  const told = await ask('PATCH', templatePath('tx_code'), {
    template: { html_content: 'x'.repeat(2 ** 25) },
  });
  expect(told.status).toBe(413);
  expect(told.body).toEqual({ errors: expect.any(Object) });
});
