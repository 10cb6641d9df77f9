import { describe, expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const patch = ({ ask }: SandboxApi, user: unknown): Promise<Answer> =>
  ask('PATCH', `/api/users/${ids.ada}`, { user });

/** The present fields of Ada, so that a PATCH with them changes nothing. */
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

describe('reading', () => {
  test('GET /api/users/:id has roles in addition to the documented fields, and no blocked', async () => {
    const { ask } = await boruta();
    const { data } = (await ask('GET', `/api/users/${ids.ada}`)).body;
    expect(Object.keys(data ?? {}).sort()).toEqual([
      ...'authorized_scopes backend federated_metadata group id metadata organizations roles'.split(' '),
      ...'totp_registered_at uid username'.split(' '),
    ]);
    expect(data?.roles).toEqual([{ id: ids.member, name: 'member', scopes: [expect.any(Object)] }]);
    expect(data?.organizations?.[0]).toEqual({ id: ids.acme, name: 'acme', label: 'ACME Corp' });
    expect(data?.backend).toMatchObject({ id: ids.backend });
    const grace = await ask('GET', `/api/users/${ids.grace}`);
    expect(grace.body.data?.authorized_scopes).toEqual([
      { id: ids.reportsRead, name: 'reports:read', public: null },
    ]);
  });

  test('GET /api/users lists, 12 a page', async () => {
    const { ask, sandbox, user } = await boruta();
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
    const { body } = await (await boruta()).ask('GET', '/api/users?q=grace');
    expect(body).toMatchObject({ data: [{ id: ids.grace }], total_entries: 1 });
  });
});

describe('PATCH', () => {
  test('metadata and group are written first, and stay when scopes fail', async () => {
    const api = await boruta();
    const answer = await patch(api, {
      ...whole,
      group: 'new',
      metadata: {},
      authorized_scopes: [{ name: 'no id' }],
    });
    expect(answer.status).toBe(422);
    expect(api.user(ids.ada)).toMatchObject({ group: 'new', metadata: {}, authorized_scopes: [] });
    expect(api.user(ids.ada).organizations).toHaveLength(2);
    expect(api.user(ids.ada).roles).toHaveLength(1);
  });

  test.each([
    ['omitted metadata becomes {}', { metadata: undefined }, { metadata: {} }],
    ['null as metadata becomes {}', { metadata: null }, { metadata: {} }],
    ['an omitted group becomes null', { group: undefined }, { group: null }],
    ['an empty group becomes null', { group: '' }, { group: null }],
  ])('%s', async (_, fields, wanted) => {
    const api = await boruta();
    expect((await patch(api, { ...whole, ...fields })).status).toBe(200);
    expect(api.user(ids.ada)).toMatchObject(wanted);
  });

  test.each(lists)("an omitted list gives 500 and is emptied, unless it's empty: %s", async (list) => {
    const api = await boruta();
    const left = { ...whole, [list]: undefined };
    expect((await patch(api, left)).status).toBe(500);
    expect(api.user(ids.ada)[list]).toEqual([]);
    expect((await patch(api, left)).status).toBe(200);
  });

  test('an unknown scope id is accepted and never shown again', async () => {
    const api = await boruta();
    const scopes = [{ id: ids.nobody, name: 'x', label: 'X' }, { id: ids.billingRead }];
    expect((await patch(api, { ...whole, authorized_scopes: scopes })).status).toBe(200);
    const shown = await api.ask('GET', `/api/users/${ids.ada}`);
    expect(shown.body.data?.authorized_scopes).toEqual([
      { id: ids.billingRead, name: 'billing:read', public: null },
    ]);
    // The row of the scope still exists, so an update without the list fails.
    expect((await patch(api, { roles: [], organizations: [] })).status).toBe(500);
  });

  test.each([
    ['blocked', true],
    ['username', 'new@acme.example'],
    ['uid', 'new'],
    ['backend', { id: ids.nobody, smtp_password: 'new' }],
    ['federated_metadata', { any: 'thing' }],
  ])('%s is ignored with 200', async (field, value) => {
    const { withoutEffect } = await boruta();
    await withoutEffect(200, 'PATCH', `/api/users/${ids.ada}`, { user: { ...whole, [field]: value } });
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
      const { withoutEffect } = await boruta();
      const answer = await withoutEffect(422, 'PATCH', `/api/users/${ids.ada}`, {
        user: { ...whole, metadata },
      });
      expect(answer.body.errors).toHaveProperty('metadata');
    },
  );

  test('a role of several scopes that the backend grants too is listed twice', async () => {
    const api = await boruta();
    const [member] = api.sandbox.data.roles.filter(({ id }) => id === ids.member);
    const [backend] = api.sandbox.data.backends;
    if (member === undefined || backend === undefined) throw new Error('no role or backend');
    backend.roles = [member];
    expect((await patch(api, whole)).body.data?.roles).toHaveLength(1);
    member.scopes = [ids.billingRead, ids.reportsRead].map((id) => ({ id, name: id, public: false }));
    const { roles = [] } = (await patch(api, whole)).body.data ?? {};
    const scopes = [
      [ids.billingRead, ids.reportsRead],
      [ids.reportsRead, ids.billingRead],
    ];
    expect(roles).toMatchObject(scopes.map((of) => ({ id: ids.member, scopes: of.map((id) => ({ id })) })));
  });
});
