import { describe, expect, test } from 'vitest';
import type { SandboxBackend, SandboxOptions } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const internal = 'aaaaaaaa-0000-4000-8000-000000000001';
const lists = {
  authorized_scopes: [{ id: ids.billingRead }],
  organizations: [{ id: ids.acme }],
  roles: [{ id: ids.member }],
};
const good = { username: 'new@acme.example', password: 'long enough 12' };

/** A sandbox with a second backend, which has internal users. */
async function started(
  fields: Partial<SandboxBackend> = {},
  options: SandboxOptions = {},
): Promise<SandboxApi> {
  const api = await boruta(options);
  const [demo] = api.sandbox.data.backends;
  if (demo === undefined) throw new Error('no backend');
  const type = 'Elixir.BorutaIdentity.Accounts.Internal';
  api.sandbox.data.backends.push({ ...demo, id: internal, type, is_default: false, ...fields });
  return api;
}

const post = ({ ask }: SandboxApi, user: unknown, backend_id: unknown = internal): Promise<Answer> =>
  ask('POST', '/api/users', { backend_id, user });
const created = ({ sandbox }: SandboxApi) =>
  sandbox.data.users.filter(({ backend_id }) => backend_id === internal);

test('POST of a user answers 200 with the user, whose id it chooses', async () => {
  const api = await started();
  const answer = await post(api, { ...good, id: internal, group: 'a b', ...lists });
  expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
  expect(answer.body.data).toMatchObject({
    username: good.username,
    group: 'a b',
    backend: { id: internal },
    authorized_scopes: [{ name: 'billing:read' }],
    organizations: [{ name: 'acme' }],
    roles: [{ name: 'member' }],
  });
  expect(answer.body.data?.id).not.toBe(internal);
  expect(answer.text).not.toContain(good.password);
});

const taken = { email: ['has already been taken'] };

test.each([
  ['no username', { password: good.password }, 422, { email: ["can't be blank"] }],
  ['no password', { username: good.username }, 422, { password: ["can't be blank"] }],
  ['null', null, 422, { email: ["can't be blank"], password: ["can't be blank"] }],
  ['a list', [], 500, undefined],
  ['no @', { ...good, username: 'new' }, 422, { email: [expect.any(String)] }],
  ['a space', { ...good, username: 'a b@c' }, 422, { email: [expect.any(String)] }],
  ['161 characters', { ...good, username: `${'a'.repeat(159)}@b` }, 422, { email: [expect.any(String)] }],
  ['a short password', { ...good, password: 'x'.repeat(11) }, 422, { password: [expect.any(String)] }],
  ['a long password', { ...good, password: 'x'.repeat(81) }, 422, { password: [expect.any(String)] }],
  ['a word twice in the group', { ...good, group: 'a a' }, 500, undefined],
  ['metadata of a wrong shape', { ...good, metadata: { phone: 1 } }, 500, undefined],
])('POST of a user with %s keeps nothing', async (_, user, status, errors) => {
  const api = await started();
  const answer = await post(api, user);
  expect([answer.status, answer.body.errors]).toEqual([status, errors]);
  expect(created(api)).toEqual([]);
});

test.each([
  ['unknown', ids.nobody, 422],
  ['no UUID', 'x', 422],
  ['null', null, 422],
  ['of the type Ldap', ids.backend, 422],
  ['missing', undefined, 400],
])('a backend that is %s', async (_, backend_id, status) => {
  const { ask } = await started();
  expect((await ask('POST', '/api/users', { backend_id, user: good })).status).toBe(status);
});

test('a username is unique in its backend, in any case', async () => {
  const api = await started();
  expect((await post(api, { ...good, username: 'ADA@acme.example' })).status).toBe(200);
  const answer = await post(api, { ...good, username: 'ada@ACME.example' });
  expect([answer.status, answer.body.errors]).toEqual([422, taken]);
});

test('metadata without a field of the backend is dropped, and null gives the default value', async () => {
  const value = { value: 'v', status: 'valid' };
  const api = await started({
    metadata_fields: [
      { attribute_name: 'a', default_value: value },
      { attribute_name: 'b' },
      { attribute_name: 'c', default_value: value },
    ],
  });
  await post(api, { ...good, metadata: { a: null, b: value, x: value } });
  expect(created(api)).toMatchObject([{ metadata: { a: value, b: value } }]);
});

describe('lists are written after the user', () => {
  test.each([
    ['an unknown role', { ...lists, organizations: [], roles: [{ id: ids.nobody }] }, 500, 1],
    ['a scope without an id', { authorized_scopes: [{ name: 'billing:read' }] }, 422, 0],
    ['an unknown organization', { organizations: [{ id: ids.nobody }] }, 500, 0],
  ])('%s leaves the user, and a second POST is refused', async (_, lists, status, scopes) => {
    const api = await started();
    expect((await post(api, { ...good, ...lists })).status).toBe(status);
    expect(created(api)).toMatchObject([{ organizations: [], roles: [] }]);
    expect(created(api)[0]?.authorized_scopes).toHaveLength(scopes);
    expect((await post(api, { ...good, ...lists })).body.errors).toEqual(taken);
  });

  test.each([
    [0, []],
    [1, [0, 0, 0]],
    [3, [1, 0, 0]],
    [5, [1, 1, 0]],
    [7, [1, 1, 1]],
  ])('a cut after write %s', async (step, wanted) => {
    const api = await started({}, { intercept: () => ({ kind: 'cut', step }) });
    await expect(post(api, { ...good, ...lists })).rejects.toThrow();
    const found = created(api).flatMap(({ authorized_scopes, organizations, roles }) =>
      [authorized_scopes, organizations, roles].map(({ length }) => length),
    );
    expect(found).toEqual(wanted);
  });
});

describe('create_default_organization', () => {
  test('adds an organization, which a DELETE of the user leaves', async () => {
    const api = await started({ create_default_organization: true });
    const { body } = await post(api, good);
    const wanted = { name: `default_${body.data?.uid}`, label: 'Default' };
    expect(body.data?.organizations).toMatchObject([wanted]);
    expect((await api.ask('DELETE', `/api/users/${body.data?.id}`)).status).toBe(204);
    expect((await api.ask('DELETE', `/api/users/${body.data?.id}`)).status).toBe(404);
    expect(api.sandbox.data.organizations.at(-1)).toMatchObject(wanted);
  });

  test('gives 500 with organizations in the POST, and the user is in none', async () => {
    const api = await started({ create_default_organization: true });
    expect((await post(api, { ...good, organizations: [{ id: ids.acme }] })).status).toBe(500);
    expect(created(api)).toMatchObject([{ organizations: [] }]);
  });
});

const capital = 'A0000000-0000-4000-8000-000000000001';
test.each([
  ['of the type Ldap', {}, ids.ada, 422],
  ["of the token's own user", { ownUser: ids.ada }, ids.ada, 403],
  ["of the token's own user in upper case, without Ldap", { ownUser: capital }, capital, 204],
])('DELETE %s', async (_, options, id, status) => {
  const api = await started({}, options);
  if (status === 204) Object.assign(api.user(ids.ada), { id: id.toLowerCase(), backend_id: internal });
  expect((await api.ask('DELETE', `/api/users/${id}`)).status).toBe(status);
});
