import { expect, test } from 'vitest';
import { allScopes } from '../../src/sandbox/options.js';
import { ids } from '../demo-ids.js';
import { boruta, templatePath } from './api.js';

const [code, message] = [expect.any(String), expect.any(String)];
const bare = { code, message };
const ofResource = { ...bare, errors: { resource: [expect.any(String)] } };
/** An error of the database layer, which reveals internals. */
const raw = { code, message: expect.stringMatching(/^\*\* \(\w+/) };
/** An error that reveals the token of the request. */
const leaking = { code: 'BAD_REQUEST', message: expect.stringContaining('Bearer') };

const organization = `/api/organizations/${ids.acme}`;
const ada = `/api/users/${ids.ada}`;
const key = `/api/key-pairs/${ids.firstKey}`;
const template = templatePath('tx_code');

test.each([
  ['a user that is not there', 'GET', `/api/users/${ids.nobody}`, undefined, 404, ofResource],
  ['a type of templates that is not there', 'GET', templatePath('nothing'), undefined, 404, raw],
  ['NUL in a text', 'PATCH', organization, { organization: { name: 'a\0' } }, 400, raw],
  ['NUL in a filter', 'GET', '/api/users?q=%00', undefined, 400, raw],
  ['no name', 'PATCH', organization, { organization: {} }, 422, { ...bare, errors: { name: [message] } }],
  ['a path that is not there', 'PATCH', '/api/nothing', {}, 404, { ...bare, code: 'NOT_FOUND' }],
  ['another one', 'POST', '/api/users/x/y', {}, 404, { ...bare, code: 'NOT_FOUND' }],
  ['DELETE of a list', 'DELETE', '/api/organizations', {}, 404, { ...bare, code: 'NOT_FOUND' }],
  ['OPTIONS', 'OPTIONS', '/api/users', {}, 404, { ...bare, code: 'NOT_FOUND' }],
  ['PUT of a template', 'PUT', template, {}, 404, { ...bare, code: 'NOT_FOUND' }],
])('an error over %s: %s %s', async (_, method, path, body, status, expected) => {
  const { ask } = await boruta();
  const answer = await ask(method, path, body);
  expect([answer.status, answer.body]).toEqual([status, expected]);
});

test('Accept: text/html gives 406', async () => {
  const { ask } = await boruta();
  const answer = await ask('GET', '/api/organizations', undefined, { headers: { accept: 'text/html' } });
  expect([answer.status, answer.body]).toEqual([406, bare]);
});

test('413 is a bare JSON string, for bodies over about 8 MB, before authentication', async () => {
  const { ask } = await boruta();
  const body = (length: number) => ({ template: { txt_content: 'x'.repeat(length) } });
  for (const manner of [{ token: null }, { token: 'wrong' }, {}]) {
    const answer = await ask('PATCH', template, body(8_000_000), manner);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([413, expect.any(String)]);
  }
  expect((await ask('PATCH', template, body(7_900_000))).status).toBe(200);
});

test('414 is empty', async () => {
  const { ask } = await boruta();
  const answer = await ask('GET', `/api/users?q=${'x'.repeat(20_000)}`);
  expect([answer.status, answer.text]).toEqual([414, '']);
});

test("an error message can contain the request's bearer token", async () => {
  const { ask, sandbox } = await boruta({ expiredTokens: ['expired-token'] });
  const refused = await ask('GET', '/api/users', undefined, { token: 'expired-token' });
  expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining('expired-token')]);
  const crashed = await ask('GET', '/api/organizations?q=a');
  expect([crashed.status, crashed.body]).toEqual([
    500,
    { code, message: expect.stringMatching(/Plug\.Conn/) },
  ]);
  expect(crashed.body.message).toContain(sandbox.token);
});

test.each([
  ['GET', '/', 406],
  ['GET', '/api/nothing', 406],
  ['GET', '/api/roles/none/scopes', 406],
  // Empty segments of a path are ignored.
  ['GET', '/api/users/', 200],
  ['GET', '//api//users', 200],
  ['GET', `${ada}//`, 200],
  ['HEAD', '/api/users', 200],
  ['HEAD', `/api/users/${ids.nobody}`, 404],
  ['HEAD', '/api/no', 406],
])('%s %s gives %i', async (method, path, status) => {
  const { ask } = await boruta();
  const answer = await ask(method, path);
  expect(answer.status).toBe(status);
  expect(answer.text === '').toBe(method === 'HEAD');
});

test('PUT does what PATCH does', async () => {
  const { ask, sandbox, user } = await boruta();
  expect((await ask('PUT', organization, { organization: { name: 'a' } })).status).toBe(200);
  expect(sandbox.data.organizations.at(-1)).toEqual({ id: ids.acme, name: 'a', label: null });
  const second = `/api/key-pairs/${ids.secondKey}`;
  expect((await ask('PUT', second, { key_pair: { is_default: true } })).status).toBe(200);
  expect(sandbox.data.keyPairs.map(({ is_default }) => is_default)).toEqual([false, true, false]);
  expect((await ask('PUT', ada, { user: {} })).status).toBe(500);
  expect(user(ids.ada)).toMatchObject({ metadata: {}, group: null, authorized_scopes: [] });
});

test('malformed JSON gives 400 even without a token', async () => {
  const { ask } = await boruta();
  for (const manner of [{}, { token: null }]) {
    const answer = await ask('PATCH', organization, undefined, { raw: '{"organization":', ...manner });
    expect([answer.status, answer.body]).toEqual([400, ofResource]);
  }
});

test.each([
  [organization, ofResource],
  [ada, ofResource],
  [key, leaking],
  [template, leaking],
])('a body without its wrapper gives 400: %s', async (path, error) => {
  const { ask } = await boruta();
  for (const body of [undefined, {}, [], null, { organisation: {} }]) {
    const answer = await ask('PATCH', path, body);
    expect([answer.status, answer.body]).toEqual([400, error]);
  }
});

test.each([
  [organization, 'organization', { null: 422, other: 500 }],
  [ada, 'user', { null: 500, other: 500 }],
  [key, 'key_pair', { null: 400, other: 400 }],
  [template, 'template', { null: 400, other: 400 }],
])('a wrapper of %s that contains no object', async (path, wrapper, expected) => {
  const { ask, user } = await boruta();
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
  const { ask } = await boruta({ tokens: { known: allScopes }, expiredTokens: ['expired-token'] });
  const answer = await ask('GET', '/api/organizations', undefined, { token, headers });
  expect([answer.status, answer.body]).toEqual([401, ofResource]);
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
])("an id that isn't a UUID gives 400, an unknown one 404: %s %s", async (method, path, body) => {
  const { ask } = await boruta();
  const answer = await ask(method, path.replace('ID', 'no-uuid'), body);
  expect([answer.status, answer.body]).toEqual([400, raw]);
  const unknown = await ask(method, path.replace('ID', ids.nobody), body);
  expect([unknown.status, unknown.body]).toEqual([404, path.includes('users') ? ofResource : raw]);
});

test.each(['acme', ids.nobody])("an organization id that isn't a UUID gives 404 too: %s", async (id) => {
  const { ask } = await boruta();
  expect((await ask('PATCH', `/api/organizations/${id}`, { organization: { name: 'a' } })).status).toBe(404);
});

test.each([
  '/api/organizations',
  '/api/users',
  ada,
  '/api/key-pairs',
  `/api/clients/${ids.portal}`,
  template,
])('each operation needs its scope: 403 without it: %s', async (path) => {
  const { ask } = await boruta({ tokens: { none: [] } });
  const answer = await ask('GET', path);
  expect([answer.status, answer.body]).toEqual([403, ofResource]);
});
