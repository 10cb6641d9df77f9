import { expect, test } from 'vitest';
import { type Doc, ids, site, todo, user } from './site.js';

const scope: Doc = { kind: 'Scope', name: 'invoices:read', label: 'Read invoices', create: true };
const wider: Doc = { kind: 'Role', name: 'member', scopes: ['reports:read', 'invoices:read'] };
const ada: Doc = { kind: 'User', id: ids.ada };

const holders: readonly [string, Doc][] = [
  ['a user that carries the role along', { ...ada, group: 'finance' }],
  ['a user whose roles are declared', { ...ada, group: 'finance', roles: ['member'] }],
  ['a user that loses another role', { ...ada, roles: ['member'] }],
  ['a user that loses the role', { ...ada, roles: ['other'] }],
  ['a user from which the role is removed', { ...ada, roles: { add: ['other'], remove: ['member'] } }],
  ['a user that gains the role', { ...ada, roles: ['member', 'other'] }],
  [
    'a backend that carries the role along',
    { kind: 'Backend', name: 'Company directory', smtp_from: 'a@b.example' },
  ],
  [
    'a backend whose roles are declared',
    { kind: 'Backend', name: 'Company directory', roles: ['member', 'other'], smtp_from: 'a@b.example' },
  ],
  ['a backend that loses the role', { kind: 'Backend', name: 'Company directory', roles: [] }],
];

test.each(holders)('one plan changes the scopes of a role and %s', async (_, holder) => {
  const at = await site();
  await at.apply({ kind: 'Role', name: 'other', scopes: ['reports:read'], create: true });
  const { roles, backends } = at.sandbox.data;
  const [member] = roles.filter(({ name }) => name === 'member');
  const [other] = roles.filter(({ name }) => name === 'other');
  if (member === undefined || other === undefined) throw new Error('no roles');
  const gains = JSON.stringify(holder.roles) === '["member","other"]';
  user(at).roles = gains ? [other] : [member, other];
  for (const one of backends) one.roles = [member];
  const { statuses } = await at.apply(scope, wider, holder);
  expect(new Set(Object.values(statuses))).toEqual(new Set(['applied']));
  expect(Object.keys(statuses)).toHaveLength(3);
  expect(todo(await at.plan())).toEqual([]);
});

test('one plan renames what an object loses, gains or has in a role', async () => {
  const at = await site();
  const provider: Doc = { kind: 'IdentityProvider', name: 'Staff', backend: 'Staff', create: true };
  const shop: Doc = { kind: 'Client', id: '30000000-0000-4000-8000-00000000c001', create: true };
  await at.apply(
    scope,
    { kind: 'Role', name: 'clerk', scopes: ['invoices:read'], create: true },
    { kind: 'Backend', name: 'Staff', create: true },
    { kind: 'Backend', name: 'Others', create: true },
    provider,
    { ...provider, name: 'Others', backend: 'Others' },
    { ...shop, name: 'shop', identity_provider: 'Staff', authorized_scopes: ['invoices:read'] },
  );
  const { scopes, roles, backends, identityProviders } = at.sandbox.data;
  const idOf = (rows: readonly { id: string; name?: string | null }[], name: string): string =>
    rows.find((row) => row.name === name)?.id ?? '';
  const { statuses } = await at.apply(
    { kind: 'Scope', id: idOf(scopes, 'invoices:read'), name: 'bills:read' },
    { kind: 'Role', id: idOf(roles, 'clerk'), name: 'biller' },
    { kind: 'Backend', id: idOf(backends, 'Staff'), name: 'People' },
    { kind: 'IdentityProvider', id: idOf(identityProviders, 'Staff'), name: 'People', backend: 'Others' },
    { kind: 'IdentityProvider', name: 'Others', backend: 'People' },
    { ...shop, name: 'store', identity_provider: 'Others', authorized_scopes: [] },
    { ...ada, roles: ['biller'] },
    { kind: 'User', id: ids.grace, authorized_scopes: ['bills:read'] },
  );
  expect(new Set(Object.values(statuses))).toEqual(new Set(['applied']));
  expect(Object.keys(statuses)).toHaveLength(8);
  expect(todo(await at.plan())).toEqual([]);
});

test.each(['invoices:read', 'bills:read'])(
  'a scope that the plan renames can be granted as "%s"',
  async (name) => {
    const at = await site();
    const clerk: Doc = { kind: 'Role', name: 'clerk' };
    const shop: Doc = { kind: 'Client', id: ids.portal };
    await at.apply(scope, { ...clerk, scopes: ['invoices:read'], create: true });
    const { id = '' } = at.sandbox.data.scopes.find((one) => one.name === 'invoices:read') ?? {};
    const { statuses } = await at.apply(
      { kind: 'Scope', id, name: 'bills:read' },
      { ...clerk, scopes: [{ id, name }, 'reports:read'] },
      { ...shop, authorized_scopes: { add: [{ id, name }] } },
      { ...ada, authorized_scopes: { add: [{ id, name }] } },
    );
    expect(new Set(Object.values(statuses))).toEqual(new Set(['applied']));
    expect(Object.keys(statuses)).toHaveLength(4);
  },
);

test('a role of both a user and its backend, which is listed twice, is one role', async () => {
  const at = await site();
  const backend: Doc = { kind: 'Backend', name: 'Staff', roles: ['member'], create: true };
  const joe: Doc = { kind: 'User', username: 'joe@example.com', backend: 'Staff', roles: ['member'] };
  const created = await at.apply(scope, wider, backend, { ...joe, password: 'x'.repeat(12), create: true });
  expect(new Set(Object.values(created.statuses))).toEqual(new Set(['applied']));
  expect(todo(await at.plan())).toEqual([]);
  const { statuses } = await at.apply({ ...wider, scopes: ['invoices:read'] }, { ...joe, group: 'finance' });
  expect(Object.values(statuses)).toEqual(['applied', 'applied']);
  const { roles } = at.sandbox.data.users.find(({ username }) => username === 'joe@example.com') ?? {};
  expect(roles).toHaveLength(1);
});
