import { describe, expect, test } from 'vitest';
import { addressOf } from '../../src/kinds/index.js';
import type { Plan } from '../../src/plan/plan.js';
import { all, counts, namesIn, organization, reason, role, scope, user } from './lifecycle.js';
import { type Doc, ids, site, todo } from './site.js';

describe('deletion', () => {
  const gone = ({ kind, name = '' }: Doc): Doc => ({ kind, name, state: 'absent' });
  const home: Doc = { kind: 'Backend', name: 'home', create: true };
  const account = { username: 'new@hooli.example', backend: 'home', password: 'correct horse battery' };
  const inHome: Doc = { kind: 'User', ...account, create: true };

  test('happens in reverse order, after everything else, and is destructive', async () => {
    const at = await site();
    await at.apply(...all);
    const ada: Doc = { kind: 'User', id: ids.ada, group: 'staff' };
    const ran = await at.apply(gone(scope), gone(role), gone(organization), ada);
    expect(todo(ran.plan)).toEqual([
      `update User/${ids.ada}`,
      'delete Organization/hooli',
      'delete Role/clerk',
      'delete Scope/invoices:read',
    ]);
    expect(ran.plan.changes.map(({ destructions }) => destructions.length)).toEqual([0, 1, 1, 1]);
    expect(counts(at)).toEqual([0, 0, 0]);
    expect((await at.plan()).changes.map(({ action }) => action)).toEqual(Array(4).fill('unchanged'));
  });

  test("is undone by creating the objects again, and reports what can't be restored", async () => {
    const at = await site();
    await at.apply(...all);
    const before = at.sandbox.data.scopes.find(({ name }) => name === 'invoices:read')?.id;
    const { run } = await at.apply(gone(role), gone(organization), gone(scope));
    const undone = await at.undo(run);
    expect(counts(at)).toEqual([1, 1, 1]);
    expect(undone.left.join('\n')).toContain('with a new id');
    const address = addressOf('Scope', { id: before ?? '' });
    const named = await reason(at, address, { kind: 'Scope', id: before ?? '', label: 'x' });
    const after = at.sandbox.data.scopes.find(({ name }) => name === 'invoices:read')?.id;
    expect(named).toContain(`created again with the id ${after}`);
    const creating: Doc = { kind: 'Scope', id: before ?? '', name: 'invoices:read', create: true };
    const again = `created again with the id ${after}`;
    expect(await reason(at, address, creating)).toContain(again);
    expect(await reason(at, 'Role/clerk', { ...role, scopes: [{ id: before ?? '' }] })).toContain(again);
  });

  test('is blocked while another document refers to the object, with prune too', async () => {
    const at = await site({ settings: { prune: ['Scope', 'Role', 'Organization', 'Backend'] } });
    await at.apply(...all, home, inHome);
    const blocked = async (plan: Promise<Plan>) => todo(await plan);
    const told = [
      `blocked Scope/invoices:read: still referred to by Role/clerk, User/${ids.ada}: remove the reference first`,
      `blocked Role/clerk: still referred to by User/${ids.ada}: remove the reference first`,
    ];
    const kept = await at.plan(gone(scope), role, user, organization, home, inHome);
    expect(todo(kept)).toEqual(told.slice(0, 1));
    await at.declare(user, inHome);
    expect((await blocked(at.session((it) => it.plan({ prune: true })))).sort()).toEqual(
      [
        ...told.slice(1),
        `blocked Scope/invoices:read: still referred to by User/${ids.ada}: remove the reference first`,
        `blocked Organization/hooli: still referred to by User/${ids.ada}: remove the reference first`,
        'blocked Backend/home: the server refuses to delete it, since users use it: new@hooli.example',
      ].sort(),
    );
    // A backend has an undeclared role that contains the scope.
    const { roles } = at.sandbox.data;
    const [{ id: scopeId = '' } = {}] = at.sandbox.data.scopes.filter(({ name }) => name === 'invoices:read');
    roles.push({
      id: ids.nobody,
      name: 'boss',
      scopes: [{ id: scopeId, name: 'invoices:read', public: false }],
    });
    const led: Doc = { ...home, roles: ['boss'] };
    await at.apply(role, user, organization, led, inHome);
    const withoutScope: Doc = { ...role, scopes: [] };
    const plainUser: Doc = { kind: 'User', id: ids.ada, roles: { add: ['clerk'] } };
    const freed = await at.plan(gone(scope), withoutScope, plainUser, led);
    expect(todo(freed)).toEqual(['update Role/clerk', 'delete Scope/invoices:read']);
    // This user isn't declared.
    await at.declare(organization);
    expect(await blocked(at.session((it) => it.plan({ prune: true })))).toContainEqual(
      'blocked Backend/home: the server refuses to delete it, since users use it: new@hooli.example',
    );
    // A role that a document removes doesn't count as a reference.
    const removing: Doc = { kind: 'User', id: ids.ada, roles: { remove: ['clerk'] } };
    const removed = await at.plan(gone(role), removing, scope, organization, home, inHome);
    expect(todo(removed)).toEqual([`update User/${ids.ada}`, 'delete Role/clerk']);
  });

  test('of what belonged to a deleted object is done', async () => {
    const at = await site();
    const template: Doc = { kind: 'EmailTemplate', backend: 'home', type: 'reset_password_instructions' };
    await at.apply(home, inHome, { ...template, txt_content: 'Reset', html_content: '<p>Reset</p>' });
    const user: Doc = { kind: 'User', username: 'new@hooli.example', backend: 'home', state: 'absent' };
    await at.apply(gone(home), user, { ...template, state: 'absent' });
    expect(at.sandbox.data.backends.some(({ name }) => name === 'home')).toBe(false);
    expect((await at.plan()).changes.map(({ action }) => action)).toEqual(Array(3).fill('unchanged'));
  });

  test('is not undone if somebody gave the name to another object since', async () => {
    const at = await site();
    await at.apply(scope, role, home);
    const { run } = await at.apply(gone(role), gone(home), scope);
    const { roles, backends } = at.sandbox.data;
    const [someRole, someBackend] = [roles[0], backends[0]];
    if (someRole === undefined || someBackend === undefined) throw new Error('the seed has both');
    roles.push({ ...someRole, id: ids.nobody, name: 'clerk' });
    backends.push({ ...someBackend, id: ids.nobody, name: 'home', is_default: false });
    const { left, statuses } = await at.undo(run);
    expect(statuses).toEqual({});
    expect(left.filter((line) => line.includes('somebody has created it again'))).toHaveLength(2);
    expect(left.filter((line) => line.includes('is created again'))).toEqual([]);
    expect([namesIn(roles, 'clerk'), namesIn(backends, 'home')]).toEqual([1, 1]);
    const taken: Doc = { kind: 'Role', id: ids.ada, name: 'clerk', create: true };
    expect(await reason(at, `Role/${ids.ada}`, taken)).toContain(
      `blocked: the server has another role "clerk", with the id ${ids.nobody}`,
    );
  });

  test('is blocked if it removes something from a protected object', async () => {
    const at = await site({ safety: { protect: ['User/ada@*', 'Role/cle*'] } });
    for (const one of at.sandbox.data.users) if (one.id === ids.ada) one.username = 'ada@acme.example';
    await at.apply(scope, organization);
    const [{ id: scopeId = '' } = {}, hooli] = [
      at.sandbox.data.scopes.find(({ name }) => name === 'invoices:read'),
      at.sandbox.data.organizations.find(({ name }) => name === 'hooli'),
    ];
    at.sandbox.data.roles.push({
      id: ids.nobody,
      name: 'clerk',
      scopes: [{ id: scopeId, name: 'invoices:read', public: false }],
    });
    for (const one of at.sandbox.data.users)
      if (one.id === ids.ada && hooli !== undefined) one.organizations = [{ id: hooli.id, roles: [] }];
    const { changes } = await at.plan(gone(scope), gone(organization));
    expect(changes.map(({ action, reason: why }) => `${action}: ${why}`)).toEqual([
      'blocked: it would be taken from User/ada@acme.example, and safety.protect has User/ada@*',
      'blocked: it would be taken from Role/clerk, and safety.protect has Role/cle*',
    ]);
  });

  test('of a missing object is done', async () => {
    const at = await site();
    expect((await at.plan(gone(role))).changes).toMatchObject([{ action: 'unchanged' }]);
  });

  test('by an undo removes what a run created, unless somebody changed it since', async () => {
    const at = await site();
    const { run } = await at.apply(role, scope, organization);
    const hooli = at.sandbox.data.organizations.find(({ name }) => name === 'hooli');
    if (hooli !== undefined) hooli.label = 'by hand';
    const { left } = await at.undo(run);
    expect(counts(at)).toEqual([0, 0, 1]);
    expect(left.join('\n')).toContain('Organization/hooli');
  });

  test('of a role or a scope counts for safety.keep', async () => {
    const at = await site({ safety: { keep: [{ scope: 'reports:read', at_least: 1 }] } });
    for (const one of at.sandbox.data.users) one.authorized_scopes = [];
    const { changes } = await at.plan({ kind: 'Role', name: 'member', scopes: [] });
    expect(changes.map(({ action, reason: why }) => [action, why])).toEqual([
      ['blocked', expect.stringContaining('would leave 0 with the scope "reports:read"')],
    ]);
    for (const [kind, name] of [
      ['Role', 'member'],
      ['Scope', 'reports:read'],
    ] as const)
      expect(await reason(at, `${kind}/${name}`, { kind, name, state: 'absent' })).toContain('would leave 0');
  });

  test('by an undo that deletes the role and its only holders is blocked as a whole by safety.keep', async () => {
    const keep = [{ scope: 'invoices:read', at_least: 2 }];
    const at = await site({ safety: { keep, privileged: [] } });
    const holder = (name: string, given: object): Doc => ({
      ...inHome,
      username: `${name}@example.com`,
      backend: 'Staff',
      ...given,
    });
    const backend: Doc = { kind: 'Backend', name: 'Staff', create: true };
    const holders = [
      holder('a', { roles: ['clerk'] }),
      holder('b', { authorized_scopes: ['invoices:read'] }),
    ];
    const { run } = await at.apply(scope, role, backend, ...holders, holder('c', {}));
    const { left } = await at.undo(run);
    const kept = at.sandbox.data.users.flatMap(({ username }) =>
      username?.endsWith('@example.com') ? [username] : [],
    );
    expect(kept.sort()).toEqual(['a@example.com', 'b@example.com']);
    expect(counts(at).slice(0, 2)).toEqual([1, 1]);
    expect(left.filter((one) => one.includes('would leave 0'))).toHaveLength(4);
  });
});
