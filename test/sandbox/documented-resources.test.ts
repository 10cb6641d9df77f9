import { describe, expect, test } from 'vitest';
import { ids, start, templatePath } from './asking.js';

describe('clients', () => {
  const path = `/api/clients/${ids.portal}/regenerate_did`;

  test('regenerating answers with the client and a new DID, each time', async () => {
    const { ask, sandbox } = await start();
    const before = sandbox.data.clients[0]?.did;
    const first = await ask('POST', path);
    const second = await ask('POST', path);
    expect(first.body.data).toMatchObject({ id: ids.portal, name: 'Customer portal' });
    expect(new Set([before, first.body.data?.did, second.body.data?.did]).size).toBe(3);
    expect(sandbox.data.clients[0]?.did).toBe(second.body.data?.did);
  });
});

describe('users', () => {
  const path = `/api/users/${ids.ada}`;

  test('the answer carries the documented fields, and no password', async () => {
    const { ask } = await start();
    const { data } = (await ask('PATCH', path, { user: {} })).body;
    expect(Object.keys(data ?? {}).sort()).toEqual([
      ...'authorized_scopes backend blocked federated_metadata group id metadata organizations'.split(' '),
      ...'totp_registered_at uid username'.split(' '),
    ]);
    expect(data?.organizations?.[0]).toMatchObject({ id: ids.acme, name: 'acme', label: 'ACME Corp' });
    expect(data?.backend).toMatchObject({ id: ids.backend, smtp_port: 587, ldap_host: 'ldap.acme.example' });
    expect(data?.backend).not.toHaveProperty('smtp_password');
    expect(data?.backend).not.toHaveProperty('ldap_master_password');
  });

  test.each([
    ['blocked', true],
    ['group', 'staff'],
    ['totp_registered_at', '2026-11-02T08:00:00.5+01:00'],
    ['metadata', { department: { value: 'board', status: 'valid' } }],
    ['federated_metadata', { any: ['thing'] }],
  ])('a member that is present is set and the others stay: %s', async (field, value) => {
    const { ask, user, sandbox } = await start();
    const expected = { ...structuredClone(user(ids.ada)), [field]: value };
    const told = await ask('PATCH', path, { user: { [field]: value } });
    expect(told.body.data?.[field]).toEqual(value);
    expect(sandbox.data.users[0]).toEqual(expected);
  });

  test.each([
    ['group', null],
    ['blocked', null],
    ['metadata', {}],
    ['authorized_scopes', []],
    ['organizations', []],
    ['backend', null],
  ])('null clears: %s', async (field, cleared) => {
    const { ask } = await start();
    const told = await ask('PATCH', path, { user: { [field]: null } });
    expect(told.body.data?.[field]).toEqual(cleared);
  });

  test.each([
    ['group', 1],
    ['blocked', 'true'],
    ['metadata', []],
    ['totp_registered_at', '2026-13-45T00:00:00Z'],
    ['authorized_scopes', [null]],
    ['authorized_scopes', [{ name: 'x' }]],
    ['authorized_scopes', [{ name: 'x', label: 1 }]],
    ['organizations', [{ id: ids.nobody }]],
    ['organizations', [{ id: ids.acme, roles: ['member'] }]],
    ['backend', []],
    ['backend', { id: ids.nobody }],
    ['backend', { smtp_port: '587' }],
    ['backend', { smtp_port: 2 ** 31 }],
    ['backend', { features: [1] }],
  ])(
    'an invalid payload is 422 with the field in errors, and nothing of it is kept: %s %j',
    async (field, value) => {
      const { withoutEffect } = await start();
      const valid = field === 'blocked' ? { group: 'new' } : { blocked: true };
      const told = await withoutEffect(422, 'PATCH', path, { user: { ...valid, [field]: value } });
      expect(told.body).toEqual({ errors: { [field]: expect.any(Array) } });
    },
  );

  test('scopes are set as given, and one without an id gets one', async () => {
    const { ask } = await start();
    const scopes = [
      { id: 'mine', name: 'custom', label: 'Custom', public: true },
      { name: 'reports:read', label: 'Reports' },
      { name: 'new', label: 'New' },
    ];
    const told = await ask('PATCH', path, { user: { authorized_scopes: scopes } });
    expect(told.body.data?.authorized_scopes).toEqual([
      scopes[0],
      { id: ids.reportsRead, name: 'reports:read', label: 'Reports', public: true },
      { id: expect.any(String), name: 'new', label: 'New', public: false },
    ]);
  });

  test('organizations are found by id, and the roles given are kept', async () => {
    const { ask } = await start();
    const roles = [{ id: 'r', name: 'owner', scopes: [{ id: 's', name: 'all', public: false }] }];
    const organizations = [{ id: ids.initech, name: 'ignored', roles }, { id: ids.umbrella }];
    const told = await ask('PATCH', path, { user: { organizations } });
    expect(told.body.data?.organizations).toEqual([
      { id: ids.initech, name: 'initech', label: 'Initech', roles },
      { id: ids.umbrella, name: 'umbrella', label: null, roles: [] },
    ]);
  });

  test('backend settings are set member by member, and a password is stored but never told', async () => {
    const { ask, sandbox } = await start();
    const before = sandbox.snapshot().backends[0];
    const backend = { smtp_password: 'new-secret', smtp_port: 25 };
    expect((await ask('PATCH', path, { user: { backend } })).text).not.toContain('new-secret');
    expect(sandbox.data.backends[0]).toEqual({ ...before, ...backend });
  });
});

describe('organizations', () => {
  const path = `/api/organizations/${ids.acme}`;

  test.each([
    [{ name: 'acme-inc' }, { name: 'acme-inc', label: 'ACME Corp' }],
    [{ label: 'ACME Inc' }, { name: 'acme', label: 'ACME Inc' }],
    [{ label: null }, { name: 'acme', label: null }],
    [
      { name: 'a', label: '' },
      { name: 'a', label: '' },
    ],
  ])('PATCH sets what is present and leaves the rest: %j', async (organization, expected) => {
    const { ask, sandbox } = await start();
    const told = await ask('PATCH', path, { organization });
    expect(told.body.data).toEqual({ id: ids.acme, ...expected });
    expect(sandbox.data.organizations[0]).toEqual({ id: ids.acme, ...expected });
  });

  const [first, last] = [['acme', 'globex', 'initech'], ['umbrella']];
  test.each([
    ['', 500, [...first, ...last], { page_number: 1, total_pages: 1, total_entries: 4 }],
    ['?page=1', 3, first, { page_number: 1, total_pages: 2, total_entries: 4 }],
    ['?page=2', 3, last, { page_number: 2, total_pages: 2, total_entries: 4 }],
    // Beyond the last one.
    ['?page=3', 3, [], { page_number: 3, total_pages: 2, total_entries: 4 }],
    // Names that have it in them.
    ['?q=l', 500, ['globex', 'umbrella'], { page_number: 1, total_pages: 1, total_entries: 2 }],
    ['?q=nothing%20like', 500, [], { page_number: 1, total_pages: 0, total_entries: 0 }],
  ])('the list%s in pages of %i', async (query, pageSize, names, members) => {
    const { ask } = await start({ pageSize });
    const { data, ...rest } = (await ask('GET', `/api/organizations${query}`)).body;
    expect(data).toMatchObject(names.map((name) => ({ name })));
    expect(rest).toEqual({ ...members, page_size: pageSize });
  });
});

describe('email templates', () => {
  const path = templatePath('reset_password_instructions');

  test('GET answers with the template', async () => {
    const { ask } = await start();
    const { data } = (await ask('GET', path)).body;
    expect(data).toEqual({
      id: ids.resetPassword,
      backend_id: ids.backend,
      type: 'reset_password_instructions',
      txt_content: expect.stringContaining('{{ url }}'),
      html_content: expect.stringContaining('{{ user.username }}'),
    });
  });

  test('DELETE answers with the deleted template, and it is gone', async () => {
    const { ask } = await start();
    const shown = await ask('GET', path);
    expect((await ask('DELETE', path)).body).toEqual(shown.body);
    expect((await ask('GET', path)).status).toBe(404);
    expect((await ask('DELETE', path)).status).toBe(404);
  });

  test.each([
    ['txt_content', 'html_content'],
    ['html_content', 'txt_content'],
  ])('PATCH of %s leaves %s', async (changed, kept) => {
    const { ask } = await start();
    const before = (await ask('GET', path)).body.data;
    const told = await ask('PATCH', path, { template: { [changed]: ' {{{ür}}}\r\n\t' } });
    expect(told.body.data).toEqual({ ...before, [changed]: ' {{{ür}}}\r\n\t' });
    expect(told.body.data?.[kept]).toBe(before?.[kept]);
    expect((await ask('GET', path)).body).toEqual(told.body);
  });

  test('PATCH of one that is not there creates it', async () => {
    const { ask, sandbox } = await start();
    const template = { txt_content: 'Hi' };
    const told = await ask('PATCH', templatePath('confirmation_instructions'), { template });
    expect(told.body.data).toEqual({
      id: expect.any(String),
      backend_id: ids.backend,
      type: 'confirmation_instructions',
      txt_content: 'Hi',
      html_content: null,
    });
    expect(sandbox.data.templates).toHaveLength(3);
  });

  test('type and backend_id in the body are ignored', async () => {
    const { withoutEffect } = await start();
    await withoutEffect(200, 'PATCH', path, { template: { type: 'tx_code', backend_id: ids.nobody } });
  });
});

describe('key pairs', () => {
  const path = `/api/key-pairs/${ids.secondKey}`;

  test('a new default takes the place of the old', async () => {
    const { ask, sandbox } = await start();
    const told = await ask('PATCH', path, { key_pair: { is_default: true } });
    expect(told.body.data).toMatchObject({ id: ids.secondKey, is_default: true });
    expect(sandbox.data.keyPairs.map((keyPair) => keyPair.is_default)).toEqual([false, true, false]);
  });

  test('public_key is set and the rest stays', async () => {
    const { ask } = await start();
    const told = await ask('PATCH', `/api/key-pairs/${ids.firstKey}`, { key_pair: { public_key: 'PEM' } });
    expect(told.body.data).toEqual({ id: ids.firstKey, public_key: 'PEM', is_default: true });
  });
});

test.each([
  [
    `/api/organizations/${ids.acme}`,
    { organization: { name: 'new', label: 1 } },
    { label: ['must be a string'] },
  ],
  [
    templatePath('reset_password_instructions'),
    { template: { html_content: 1, type: 2 } },
    { html_content: [expect.any(String)], type: [expect.any(String)] },
  ],
  [
    `/api/key-pairs/${ids.secondKey}`,
    { key_pair: { is_default: 'yes' } },
    { is_default: ['must be a boolean'] },
  ],
])('a wrong type is 422 with the field in errors, and nothing is kept: %s', async (path, body, errors) => {
  const { withoutEffect } = await start();
  expect((await withoutEffect(422, 'PATCH', path, body)).body).toEqual({ errors });
});
