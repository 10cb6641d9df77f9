import { describe, expect, test } from 'vitest';
import { type Asking, ids, start, type Told } from './asking.js';

const boruta = { profile: 'boruta' } as const;

const patch = ({ ask }: Asking, user: unknown): Promise<Told> =>
  ask('PATCH', `/api/users/${ids.ada}`, { user });

/** What changes nothing of Ada. */
const whole = {
  metadata: {
    department: { value: 'finance', status: 'valid' },
    phone: { value: '+44 20 7946 0018', status: 'valid' },
  },
  group: 'staff finance',
  authorized_scopes: [{ id: ids.billingRead }, { id: ids.billingWrite }],
  organizations: [{ id: ids.acme, roles: [{ id: ids.member }] }, { id: ids.globex }],
  roles: [{ id: ids.member }],
};

const lists = ['authorized_scopes', 'organizations', 'roles'] as const;

function without(field: keyof typeof whole): Record<string, unknown> {
  const rest: Record<string, unknown> = { ...whole };
  delete rest[field];
  return rest;
}

describe('reading', () => {
  test('GET /api/users/:id carries roles beside the documented fields, and no blocked', async () => {
    const { ask } = await start(boruta);
    const told = await ask('GET', `/api/users/${ids.ada}`);
    expect(told.status).toBe(200);
    expect(Object.keys(told.body.data ?? {}).sort()).toEqual([
      ...'authorized_scopes backend federated_metadata group id metadata organizations roles'.split(' '),
      ...'totp_registered_at uid username'.split(' '),
    ]);
    expect(told.body.data?.roles).toEqual([{ id: ids.member, name: 'member', scopes: [expect.any(Object)] }]);
    expect(told.body.data?.organizations?.[0]).toEqual({ id: ids.acme, name: 'acme', label: 'ACME Corp' });
    expect(told.body.data?.backend).toMatchObject({ id: ids.backend });
  });

  test('authorized_scopes elements come as id, name and public, without label', async () => {
    const { ask } = await start(boruta);
    const told = await ask('GET', `/api/users/${ids.grace}`);
    expect(told.body.data?.authorized_scopes).toEqual([
      { id: ids.reportsRead, name: 'reports:read', public: null },
    ]);
  });

  test('GET /api/users lists, 12 a page', async () => {
    const { ask, sandbox, user } = await start(boruta);
    const ada = user(ids.ada);
    for (let number = 3; number <= 15; number += 1) {
      sandbox.data.users.push({ ...ada, id: `u${number}`, username: `user${number}@acme.example` });
    }
    const first = await ask('GET', '/api/users');
    expect(first.body).toMatchObject({ page_number: 1, page_size: 12, total_pages: 2, total_entries: 15 });
    expect(first.body.data).toHaveLength(12);
    expect((await ask('GET', '/api/users?page=2')).body.data).toHaveLength(3);
  });

  test('q works on GET /api/users', async () => {
    const { ask } = await start(boruta);
    const told = await ask('GET', '/api/users?q=grace');
    expect(told.body).toMatchObject({ data: [{ id: ids.grace }], total_entries: 1 });
  });
});

describe('PATCH', () => {
  test('metadata, group, authorized_scopes, organizations and roles together change nothing else', async () => {
    const asking = await start(boruta);
    const before = asking.sandbox.snapshot();
    const told = await patch(asking, whole);
    expect(told.status).toBe(200);
    expect(told.body).toEqual((await asking.ask('GET', `/api/users/${ids.ada}`)).body);
    expect(asking.sandbox.snapshot()).toEqual(before);
  });

  test('metadata and group are written first, and stay when scopes fail', async () => {
    const asking = await start(boruta);
    const told = await patch(asking, {
      ...whole,
      group: 'new',
      metadata: {},
      authorized_scopes: [{ name: 'no id' }],
    });
    expect(told.status).toBe(422);
    expect(asking.user(ids.ada)).toMatchObject({ group: 'new', metadata: {}, authorized_scopes: [] });
    expect(asking.user(ids.ada).organizations).toHaveLength(2);
    expect(asking.user(ids.ada).roles).toHaveLength(1);
  });

  test('each list is replaced by the one that is sent', async () => {
    const asking = await start(boruta);
    const told = await patch(asking, {
      ...whole,
      authorized_scopes: [{ id: ids.reportsRead, name: 'made up' }],
      organizations: [],
      roles: [{ id: ids.accountant }],
    });
    expect(told.body.data).toMatchObject({
      authorized_scopes: [{ id: ids.reportsRead, name: 'reports:read' }],
      organizations: [],
      roles: [{ name: 'accountant' }],
    });
  });

  test.each([undefined, null])('omitted or null metadata becomes {}: %s', async (metadata) => {
    const asking = await start(boruta);
    const told = await patch(asking, { ...whole, metadata });
    expect(told.status).toBe(200);
    expect(asking.user(ids.ada).metadata).toEqual({});
  });

  test('omitted group becomes null', async () => {
    const asking = await start(boruta);
    expect((await patch(asking, without('group'))).status).toBe(200);
    expect(asking.user(ids.ada).group).toBeNull();
  });

  test.each(lists)("an omitted list that isn't empty gives 500 and is emptied: %s", async (list) => {
    const asking = await start(boruta);
    const told = await patch(asking, without(list));
    expect(told.status).toBe(500);
    expect(asking.user(ids.ada)[list]).toEqual([]);
  });

  test.each(lists)('an omitted list that is empty is fine: %s', async (list) => {
    const asking = await start(boruta);
    asking.user(ids.ada)[list] = [];
    expect((await patch(asking, without(list))).status).toBe(200);
  });

  test('an unknown scope id is accepted and never shown again', async () => {
    const asking = await start(boruta);
    const scopes = [{ id: ids.nobody, name: 'x', label: 'X' }, { id: ids.billingRead }];
    const told = await patch(asking, { ...whole, authorized_scopes: scopes });
    expect(told.status).toBe(200);
    const shown = await asking.ask('GET', `/api/users/${ids.ada}`);
    expect(shown.body.data?.authorized_scopes).toEqual([
      { id: ids.billingRead, name: 'billing:read', public: null },
    ]);
    // Its row is there all the same, and an update without the list fails over it.
    expect((await patch(asking, { roles: [], organizations: [] })).status).toBe(500);
  });

  test.each([
    ['blocked', true],
    ['username', 'new@acme.example'],
    ['uid', 'new'],
    ['backend', { id: ids.nobody, smtp_password: 'new' }],
    ['federated_metadata', { any: 'thing' }],
  ])('%s is ignored with 200', async (field, value) => {
    const asking = await start(boruta);
    const before = asking.sandbox.snapshot();
    expect((await patch(asking, { ...whole, [field]: value })).status).toBe(200);
    expect(asking.sandbox.snapshot()).toEqual(before);
  });

  test.each([
    [{ department: 'finance' }],
    [{ department: { value: 'finance' } }],
    [{ department: { status: 'valid' } }],
    [{ department: null }],
    [{ department: { value: 'a', status: null } }],
    [{ department: { value: 'a', status: 1 } }],
    [{ department: { value: 'a', status: ['valid'] } }],
    [{ department: { value: 'a', status: 'valid', display: 'text' } }],
    [{ department: { value: 'a', status: 'valid', display: {} } }],
    [{ department: { value: 'a', status: 'valid', display: ['text', 1] } }],
    [[]],
    ['text'],
  ])(
    'metadata must be objects with value, status as text, and display as a list of texts, if any: %j',
    async (metadata) => {
      const asking = await start(boruta);
      const before = asking.sandbox.snapshot();
      const told = await patch(asking, { ...whole, metadata });
      expect(told.status).toBe(422);
      expect(told.body.errors).toHaveProperty('metadata');
      expect(asking.sandbox.snapshot()).toEqual(before);
    },
  );

  test('"" as group becomes null', async () => {
    const asking = await start(boruta);
    expect((await patch(asking, { ...whole, group: '' })).body.data?.group).toBeNull();
  });

  test('a role of several scopes that the backend gives, too, comes twice', async () => {
    const asking = await start(boruta);
    const [member] = asking.sandbox.data.roles.filter(({ id }) => id === ids.member);
    const [backend] = asking.sandbox.data.backends;
    if (member === undefined || backend === undefined) throw new Error('no role or backend');
    backend.roles = [member];
    expect((await patch(asking, whole)).body.data?.roles).toHaveLength(1);
    member.scopes = [ids.billingRead, ids.reportsRead].map((id) => ({ id, name: id, public: false }));
    const { roles = [] } = (await patch(asking, whole)).body.data ?? {};
    const scopes = [
      [ids.billingRead, ids.reportsRead],
      [ids.reportsRead, ids.billingRead],
    ];
    expect(roles).toMatchObject(scopes.map((of) => ({ id: ids.member, scopes: of.map((id) => ({ id })) })));
  });
});
