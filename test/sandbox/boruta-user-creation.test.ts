import { describe, expect, test } from 'vitest';
import type { SandboxBackend, SandboxOptions } from '../../src/sandbox/index.js';
import { type Asking, boruta, ids, type Told } from './asking.js';

const internal = 'aaaaaaaa-0000-4000-8000-000000000001';
const lists = {
  authorized_scopes: [{ id: ids.billingRead }],
  organizations: [{ id: ids.acme }],
  roles: [{ id: ids.member }],
};
const good = { username: 'new@acme.example', password: 'long enough 12' };

/** A sandbox with a second backend, which keeps its users itself. */
async function started(fields: Partial<SandboxBackend> = {}, options: SandboxOptions = {}): Promise<Asking> {
  const asking = await boruta(options);
  const [demo] = asking.sandbox.data.backends;
  if (demo === undefined) throw new Error('no backend');
  const type = 'Elixir.BorutaIdentity.Accounts.Internal';
  asking.sandbox.data.backends.push({ ...demo, id: internal, type, is_default: false, ...fields });
  return asking;
}

const post = ({ ask }: Asking, user: unknown, backend_id: unknown = internal): Promise<Told> =>
  ask('POST', '/api/users', { backend_id, user });
const created = ({ sandbox }: Asking) =>
  sandbox.data.users.filter(({ backend_id }) => backend_id === internal);

test('POST of a user answers 200 with the user, whose id it chooses', async () => {
  const asking = await started();
  const told = await post(asking, { ...good, id: internal, group: 'a b', ...lists });
  expect([told.status, told.headers.get('location')]).toEqual([200, null]);
  expect(told.body.data).toMatchObject({
    username: good.username,
    group: 'a b',
    backend: { id: internal },
    authorized_scopes: [{ name: 'billing:read' }],
    organizations: [{ name: 'acme' }],
    roles: [{ name: 'member' }],
  });
  expect(told.body.data?.id).not.toBe(internal);
  expect(told.text).not.toContain(good.password);
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
  const asking = await started();
  const told = await post(asking, user);
  expect([told.status, told.body.errors]).toEqual([status, errors]);
  expect(created(asking)).toEqual([]);
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
  const asking = await started();
  expect((await post(asking, { ...good, username: 'ADA@acme.example' })).status).toBe(200);
  const told = await post(asking, { ...good, username: 'ada@ACME.example' });
  expect([told.status, told.body.errors]).toEqual([422, taken]);
});

test('metadata without a field of the backend is dropped, and null gives the default value', async () => {
  const value = { value: 'v', status: 'valid' };
  const asking = await started({
    metadata_fields: [
      { attribute_name: 'a', default_value: value },
      { attribute_name: 'b' },
      { attribute_name: 'c', default_value: value },
    ],
  });
  await post(asking, { ...good, metadata: { a: null, b: value, x: value } });
  expect(created(asking)).toMatchObject([{ metadata: { a: value, b: value } }]);
});

describe('lists are written after the user', () => {
  test.each([
    ['an unknown role', { ...lists, organizations: [], roles: [{ id: ids.nobody }] }, 500, 1],
    ['a scope without an id', { authorized_scopes: [{ name: 'billing:read' }] }, 422, 0],
    ['an unknown organization', { organizations: [{ id: ids.nobody }] }, 500, 0],
  ])('%s leaves the user, and a second POST is refused', async (_, lists, status, scopes) => {
    const asking = await started();
    expect((await post(asking, { ...good, ...lists })).status).toBe(status);
    expect(created(asking)).toMatchObject([{ organizations: [], roles: [] }]);
    expect(created(asking)[0]?.authorized_scopes).toHaveLength(scopes);
    expect((await post(asking, { ...good, ...lists })).body.errors).toEqual(taken);
  });

  test.each([
    [0, []],
    [1, [0, 0, 0]],
    [3, [1, 0, 0]],
    [5, [1, 1, 0]],
    [7, [1, 1, 1]],
  ])('a cut after write %s', async (step, wanted) => {
    const asking = await started({}, { intercept: () => ({ kind: 'cut', step }) });
    await expect(post(asking, { ...good, ...lists })).rejects.toThrow();
    const found = created(asking).flatMap(({ authorized_scopes, organizations, roles }) =>
      [authorized_scopes, organizations, roles].map(({ length }) => length),
    );
    expect(found).toEqual(wanted);
  });
});

describe('create_default_organization', () => {
  test('adds an organization, which a DELETE of the user leaves', async () => {
    const asking = await started({ create_default_organization: true });
    const { body } = await post(asking, good);
    const wanted = { name: `default_${body.data?.uid}`, label: 'Default' };
    expect(body.data?.organizations).toMatchObject([wanted]);
    expect((await asking.ask('DELETE', `/api/users/${body.data?.id}`)).status).toBe(204);
    expect((await asking.ask('DELETE', `/api/users/${body.data?.id}`)).status).toBe(404);
    expect(asking.sandbox.data.organizations.at(-1)).toMatchObject(wanted);
  });

  test('gives 500 with organizations in the POST, and the user is in none', async () => {
    const asking = await started({ create_default_organization: true });
    expect((await post(asking, { ...good, organizations: [{ id: ids.acme }] })).status).toBe(500);
    expect(created(asking)).toMatchObject([{ organizations: [] }]);
  });
});

const capital = 'A0000000-0000-4000-8000-000000000001';
test.each([
  ['of the type Ldap', {}, ids.ada, 422],
  ["of the token's own user", { ownUser: ids.ada }, ids.ada, 403],
  ["of the token's own user in upper case, without Ldap", { ownUser: capital }, capital, 204],
])('DELETE %s', async (_, options, id, status) => {
  const asking = await started({}, options);
  if (status === 204) Object.assign(asking.user(ids.ada), { id: id.toLowerCase(), backend_id: internal });
  expect((await asking.ask('DELETE', `/api/users/${id}`)).status).toBe(status);
});
