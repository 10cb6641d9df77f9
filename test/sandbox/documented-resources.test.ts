import { describe, expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { start, templatePath } from './api.js';

describe('users', () => {
  const path = `/api/users/${ids.ada}`;

  test('the response has the documented fields, and no password', async () => {
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
    const { ask, user } = await start();
    const expected = { ...structuredClone(user(ids.ada)), [field]: value };
    expect((await ask('PATCH', path, { user: { [field]: value } })).body.data?.[field]).toEqual(value);
    expect(user(ids.ada)).toEqual(expected);
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
    const answer = await ask('PATCH', path, { user: { [field]: null } });
    expect(answer.body.data?.[field]).toEqual(cleared);
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
      const answer = await withoutEffect(422, 'PATCH', path, { user: { ...valid, [field]: value } });
      expect(answer.body).toEqual({ errors: { [field]: expect.any(Array) } });
    },
  );

  test('scopes are set as given, and one without an id gets one', async () => {
    const { ask } = await start();
    const scopes = [
      { id: 'mine', name: 'custom', label: 'Custom', public: true },
      { name: 'reports:read', label: 'Reports' },
      { name: 'new', label: 'New' },
    ];
    const answer = await ask('PATCH', path, { user: { authorized_scopes: scopes } });
    expect(answer.body.data?.authorized_scopes).toEqual([
      scopes[0],
      { id: ids.reportsRead, name: 'reports:read', label: 'Reports', public: true },
      { id: expect.any(String), name: 'new', label: 'New', public: false },
    ]);
  });

  test('backend settings are set member by member, and a password is stored but never shown', async () => {
    const { ask, sandbox } = await start();
    const before = sandbox.snapshot().backends[0];
    const backend = { smtp_password: 'new-secret', smtp_port: 25 };
    expect((await ask('PATCH', path, { user: { backend } })).text).not.toContain('new-secret');
    expect(sandbox.data.backends[0]).toEqual({ ...before, ...backend });
  });
});

describe('the list of organizations', () => {
  const [first, last] = [['acme', 'globex', 'initech'], ['umbrella']];
  test.each([
    ['', 500, [...first, ...last], { page_number: 1, total_pages: 1, total_entries: 4 }],
    ['?page=1', 3, first, { page_number: 1, total_pages: 2, total_entries: 4 }],
    ['?page=2', 3, last, { page_number: 2, total_pages: 2, total_entries: 4 }],
    // Beyond the last page.
    ['?page=3', 3, [], { page_number: 3, total_pages: 2, total_entries: 4 }],
    // Names that contain the text.
    ['?q=l', 500, ['globex', 'umbrella'], { page_number: 1, total_pages: 1, total_entries: 2 }],
    ['?q=nothing%20like', 500, [], { page_number: 1, total_pages: 0, total_entries: 0 }],
  ])('the list%s in pages of %i', async (query, pageSize, names, members) => {
    const { ask } = await start({ pageSize });
    const { data, ...rest } = (await ask('GET', `/api/organizations${query}`)).body;
    expect(data).toMatchObject(names.map((name) => ({ name })));
    expect(rest).toEqual({ ...members, page_size: pageSize });
  });
});

test.each([
  [{ name: 'acme-inc' }, { name: 'acme-inc', label: 'ACME Corp' }],
  [{ label: null }, { name: 'acme', label: null }],
  [
    { name: 'a', label: '' },
    { name: 'a', label: '' },
  ],
])(
  'PATCH of an organization sets what is present and leaves the rest: %j',
  async (organization, expected) => {
    const { ask, sandbox } = await start();
    const answer = await ask('PATCH', `/api/organizations/${ids.acme}`, { organization });
    expect(answer.body.data).toEqual({ id: ids.acme, ...expected });
    expect(sandbox.data.organizations[0]).toEqual(answer.body.data);
  },
);

test.each(['txt_content', 'html_content'])(
  'PATCH of %s leaves the other half of a template',
  async (half) => {
    const { ask } = await start();
    const path = templatePath('reset_password_instructions');
    const before = (await ask('GET', path)).body.data;
    const answer = await ask('PATCH', path, { template: { [half]: ' {{{ür}}}\r\n\t' } });
    expect(answer.body.data).toEqual({ ...before, [half]: ' {{{ür}}}\r\n\t' });
    expect((await ask('GET', path)).body).toEqual(answer.body);
  },
);

test('a new default key pair replaces the old one', async () => {
  const { ask, sandbox } = await start();
  await ask('PATCH', `/api/key-pairs/${ids.secondKey}`, { key_pair: { is_default: true } });
  expect(sandbox.data.keyPairs.map(({ is_default }) => is_default)).toEqual([false, true, false]);
});

test('regenerating answers with the client and a new DID, each time', async () => {
  const { ask, sandbox } = await start();
  const [client] = sandbox.data.clients;
  const dids = new Set([client?.did]);
  for (const _ of [1, 2]) {
    const { data } = (await ask('POST', `/api/clients/${ids.portal}/regenerate_did`)).body;
    expect(data).toMatchObject({ id: ids.portal, name: 'Customer portal', did: client?.did });
    dids.add(client?.did);
  }
  expect(dids.size).toBe(3);
});

test('type and backend_id in the body of a template are ignored', async () => {
  const { withoutEffect } = await start();
  const path = templatePath('reset_password_instructions');
  await withoutEffect(200, 'PATCH', path, { template: { type: 'tx_code', backend_id: ids.nobody } });
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
