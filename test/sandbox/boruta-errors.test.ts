import { expect, test } from 'vitest';
import { allScopes } from '../../src/sandbox/options.js';
import { ids, start, templatePath } from './asking.js';

const boruta = { profile: 'boruta' } as const;
const resourceError = {
  code: expect.any(String),
  message: expect.any(String),
  errors: { resource: [expect.any(String)] },
};

test('400, 401, 403 and 404 carry a code, a message and errors of the resource', async () => {
  const { ask } = await start({ ...boruta, tokens: { all: allScopes, few: ['clients:manage:all'] } });
  const answers = [
    await ask('PATCH', `/api/users/${ids.ada}`, {}),
    await ask('GET', '/api/users', undefined, { token: null }),
    await ask('GET', '/api/users', undefined, { token: 'few' }),
    await ask('GET', `/api/users/${ids.nobody}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 401, 403, 404]);
  for (const { body } of answers) expect(body).toEqual(resourceError);
});

const rawError = { code: expect.any(String), message: expect.stringMatching(/^\*\* \(\w+/) };

test('a 404 or 400 of the database layer carries only a code and a message, which is raw internals', async () => {
  const { ask } = await start(boruta);
  const answers = [
    await ask('PATCH', `/api/organizations/${ids.acme}`, { organization: { name: 'a\0' } }),
    await ask('GET', '/api/users?q=%00'),
    await ask('GET', `/api/clients/${ids.nobody}`),
    await ask('GET', templatePath('nothing')),
    await ask('GET', templatePath('tx_code', ids.nobody)),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 404, 404, 404]);
  for (const { body } of answers) expect(body).toEqual(rawError);
});

test('422 carries errors by field beside a code and a message', async () => {
  const { ask } = await start(boruta);
  const told = await ask('PATCH', `/api/organizations/${ids.acme}`, { organization: {} });
  expect([told.status, told.body]).toEqual([
    422,
    { code: expect.any(String), message: expect.any(String), errors: { name: [expect.any(String)] } },
  ]);
});

test.each([
  ['other errors', '/api/organizations?q=a', {}, 500, /Plug\.Conn/],
  ['Accept: text/html', '/api/organizations', { accept: 'text/html' }, 406, /./],
])('%s: an answer has only a code and a message', async (_, path, headers, status, message) => {
  const { ask } = await start(boruta);
  const told = await ask('GET', path, undefined, { headers });
  const body = { code: expect.any(String), message: expect.stringMatching(message) };
  expect([told.status, told.body]).toEqual([status, body]);
});

test('413 is a bare JSON string, for bodies over about 8 MB, before authentication', async () => {
  const { ask } = await start(boruta);
  const body = { template: { txt_content: 'x'.repeat(8_000_000) } };
  for (const token of [null, 'wrong', undefined]) {
    const told = await ask('PATCH', templatePath('tx_code'), body, token === undefined ? {} : { token });
    expect(told.status).toBe(413);
    expect(JSON.parse(told.text)).toEqual(expect.any(String));
  }
});

test('a body under 8 MB is taken', async () => {
  const { ask } = await start(boruta);
  const template = { txt_content: 'x'.repeat(7_900_000) };
  expect((await ask('PATCH', templatePath('tx_code'), { template })).status).toBe(200);
});

test('414 is empty', async () => {
  const { ask } = await start(boruta);
  const told = await ask('GET', `/api/users?q=${'x'.repeat(20_000)}`);
  expect(told.status).toBe(414);
  expect(told.text).toBe('');
});

test("an error message can contain the request's bearer token", async () => {
  const { ask, sandbox } = await start({ ...boruta, expiredTokens: ['expired-token'] });
  const refused = await ask('GET', '/api/users', undefined, { token: 'expired-token' });
  expect(refused.status).toBe(401);
  expect(refused.body.message).toContain('expired-token');
  const crashed = await ask('GET', '/api/organizations?q=a');
  expect(crashed.status).toBe(500);
  expect(crashed.body.message).toContain(sandbox.token);
});

test('unknown GET paths give 406', async () => {
  const { ask } = await start(boruta);
  for (const path of ['/', '/api/nothing', '/api/roles/none/scopes']) {
    expect((await ask('GET', path)).status).toBe(406);
  }
});

test('unknown paths give 404 to other methods, without errors', async () => {
  const { ask } = await start(boruta);
  const unknown = [
    ['PATCH', '/api/nothing'],
    ['POST', '/api/users/x/y'],
    ['DELETE', '/api/organizations'],
    ['OPTIONS', '/api/users'],
    ['PUT', templatePath('tx_code')],
  ] as const;
  for (const [method, path] of unknown) {
    const told = await ask(method, path, {});
    expect(told.status).toBe(404);
    expect(told.body).toEqual({ code: 'NOT_FOUND', message: expect.any(String) });
  }
});

test('empty segments of a path do not count', async () => {
  const { ask } = await start(boruta);
  for (const path of ['/api/users/', '//api//users', `/api/users/${ids.ada}//`]) {
    expect((await ask('GET', path)).status).toBe(200);
  }
});

test('HEAD answers as GET does, without a body', async () => {
  const { ask } = await start(boruta);
  for (const [path, status] of [
    ['/api/users', 200],
    [`/api/users/${ids.nobody}`, 404],
    ['/api/no', 406],
  ] as const) {
    const told = await ask('HEAD', path);
    expect([told.status, told.text]).toEqual([status, '']);
  }
});

test('PUT does what PATCH does', async () => {
  const { ask, sandbox, user } = await start(boruta);
  const put = (path: string, body: unknown) => ask('PUT', path, body);
  expect((await put(`/api/organizations/${ids.acme}`, { organization: { name: 'a' } })).status).toBe(200);
  expect(sandbox.data.organizations.at(-1)).toEqual({ id: ids.acme, name: 'a', label: null });
  expect((await put(`/api/key-pairs/${ids.secondKey}`, { key_pair: { is_default: true } })).status).toBe(200);
  expect(sandbox.data.keyPairs.map(({ is_default }) => is_default)).toEqual([false, true, false]);
  expect((await put(`/api/users/${ids.ada}`, { user: {} })).status).toBe(500);
  expect(user(ids.ada)).toMatchObject({ metadata: {}, group: null, authorized_scopes: [] });
});

test('malformed JSON gives 400 even without a token', async () => {
  const { ask } = await start(boruta);
  const path = `/api/organizations/${ids.acme}`;
  for (const manner of [{}, { token: null }]) {
    const told = await ask('PATCH', path, undefined, { raw: '{"organization":', ...manner });
    expect(told.status).toBe(400);
    expect(told.body).toEqual(resourceError);
  }
});

test.each([
  [`/api/organizations/${ids.acme}`, resourceError],
  [`/api/users/${ids.ada}`, resourceError],
  [`/api/key-pairs/${ids.firstKey}`, { code: 'BAD_REQUEST', message: expect.stringContaining('Bearer') }],
  [templatePath('tx_code'), { code: 'BAD_REQUEST', message: expect.stringContaining('Bearer') }],
])('a body without its wrapper gives 400: %s', async (path, error) => {
  const { ask } = await start(boruta);
  for (const body of [undefined, {}, [], null, { organisation: {} }]) {
    const told = await ask('PATCH', path, body);
    expect([told.status, told.body]).toEqual([400, error]);
  }
});

test.each([
  [`/api/organizations/${ids.acme}`, 'organization', { null: 422, other: 500 }],
  [`/api/users/${ids.ada}`, 'user', { null: 500, other: 500 }],
  [`/api/key-pairs/${ids.firstKey}`, 'key_pair', { null: 400, other: 400 }],
  [templatePath('tx_code'), 'template', { null: 400, other: 400 }],
])('a wrapper of %s that holds no object', async (path, wrapper, expected) => {
  const { ask, user } = await start(boruta);
  for (const resource of [[], 'text', 5, true]) {
    expect((await ask('PATCH', path, { [wrapper]: resource })).status).toBe(expected.other);
  }
  expect(user(ids.ada).metadata).not.toEqual({});
  expect((await ask('PATCH', path, { [wrapper]: null })).status).toBe(expected.null);
});

test.each([
  ['missing', null, {}],
  ['wrong', 'wrong-token', {}],
  ['expired', 'expired-token', {}],
  ['`bearer` in lower case', null, { authorization: 'bearer known' }],
])('401: a token that is %s', async (_, token, headers) => {
  const options = { tokens: { known: allScopes }, expiredTokens: ['expired-token'] };
  const { ask } = await start({ ...boruta, ...options });
  const told = await ask('GET', '/api/organizations', undefined, { token, headers });
  expect(told.status).toBe(401);
  expect(told.body).toEqual(resourceError);
});

test.each([
  ['GET', '/api/users/ID', undefined],
  ['PATCH', '/api/users/ID', { user: {} }],
  ['GET', '/api/clients/ID', undefined],
  ['POST', '/api/clients/ID/regenerate_did', undefined],
  ['GET', '/api/key-pairs/ID', undefined],
  ['PATCH', '/api/key-pairs/ID', { key_pair: {} }],
  ['GET', templatePath('tx_code', 'ID'), undefined],
  ['PATCH', templatePath('tx_code', 'ID'), { template: {} }],
  ['DELETE', templatePath('tx_code', 'ID'), undefined],
])('an id that is no UUID gives 400, one that nothing has 404: %s %s', async (method, path, body) => {
  const { ask } = await start(boruta);
  const told = await ask(method, path.replace('ID', 'no-uuid'), body);
  expect([told.status, told.body]).toEqual([400, rawError]);
  expect((await ask(method, path.replace('ID', ids.nobody), body)).status).toBe(404);
});

test.each(['acme', ids.nobody])('an organization id that is no UUID gives 404 as well: %s', async (id) => {
  const { ask } = await start(boruta);
  const told = await ask('PATCH', `/api/organizations/${id}`, { organization: { name: 'a' } });
  expect(told.status).toBe(404);
});

test('each operation needs its scope: 403 without it', async () => {
  const { ask } = await start({ ...boruta, tokens: { none: [] } });
  const requests = [
    ['GET', '/api/organizations'],
    ['GET', '/api/users'],
    ['GET', `/api/users/${ids.ada}`],
    ['GET', '/api/key-pairs'],
    ['GET', `/api/clients/${ids.portal}`],
    ['GET', templatePath('tx_code')],
  ] as const;
  for (const [method, path] of requests) expect((await ask(method, path)).status).toBe(403);
});
