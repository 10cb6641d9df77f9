import { describe, expect, it } from 'vitest';
import { loadProject } from '../../src/project/index.js';
import { access } from '../../src/session/access.js';
import { type Doc, ids, type Site, type SiteOptions, site, user } from './site.js';

const adminScope = '70000000-0000-4000-8000-0000000000a1';
const adminRole = '80000000-0000-4000-8000-0000000000a1';
const ada: Doc = { kind: 'User', id: ids.ada };
const grace: Doc = { kind: 'User', id: ids.grace };
const manageUsers = 'users:manage:all';

/** A site with the scope `users:manage:all` and the role `admin` that contains it. */
async function guarded(options: SiteOptions = {}): Promise<Site> {
  const at = await site(options);
  const { scopes, roles } = at.sandbox.data;
  scopes.push({ id: adminScope, name: manageUsers, label: null, public: false });
  roles.push({
    id: adminRole,
    name: 'admin',
    scopes: [{ id: adminScope, name: manageUsers, public: false }],
  });
  return at;
}

async function privileges(at: Site, kind: 'all' | Doc['kind'], documents: readonly Doc[]) {
  await at.declare(...documents);
  const plan = await at.session((it) => it.plan(kind === 'all' ? {} : { kinds: [kind as 'User'] }));
  return plan.changes.flatMap((change) =>
    change.kind === documents.at(-1)?.kind ? (change.privileges ?? ['none']) : [],
  );
}

describe('a privileged scope', () => {
  const renamed: Doc = { kind: 'Scope', id: adminScope, name: 'harmless' };

  it.each<[string, Doc]>([
    ['User', { ...ada, authorized_scopes: { add: ['harmless'] } }],
    ['User', { ...ada, authorized_scopes: { add: [{ id: adminScope }] } }],
    ['User', { ...ada, authorized_scopes: { add: [manageUsers] } }],
    ['Client', { kind: 'Client', id: ids.portal, authorized_scopes: { add: ['harmless'] } }],
    ['Role', { kind: 'Role', name: 'member', scopes: { add: ['harmless'] } }],
  ])(
    'stays one for a %s if the plan renames it to a harmless name, or leaves the rename out',
    async (kind, holder) => {
      const at = await guarded();
      const given = [`gives the scope "${manageUsers}"`];
      expect(await privileges(at, 'all', [renamed, holder])).toEqual(given);
      expect(await privileges(at, kind, [renamed, holder])).toEqual(given);
    },
  );

  it('is one already if the plan renames another scope so, or leaves that rename out', async () => {
    const at = await guarded();
    const { id = '' } = at.sandbox.data.scopes.find(({ name }) => name === 'reports:read') ?? {};
    const rename: Doc = { kind: 'Scope', id, name: 'reports:manage:all' };
    const holder: Doc = { ...ada, authorized_scopes: { add: [{ id }] } };
    for (const kinds of ['all', 'User'])
      expect(await privileges(at, kinds, [rename, holder])).toEqual(['gives the scope "reports:manage:all"']);
  });
});

it('a scope and a role that somebody renamed on the server block no change of a user who has them', async () => {
  const at = await guarded();
  const { scopes, roles } = at.sandbox.data;
  user(at).roles.push(...structuredClone(roles.filter(({ id }) => id === adminRole)));
  await at.apply({ ...ada, group: 'a', roles: { add: ['admin'] } });
  for (const one of [...scopes, ...roles, ...user(at).authorized_scopes, ...user(at).roles])
    one.name = `${one.name}2`;
  const { changes } = await at.plan({ ...ada, group: 'b', roles: { add: ['admin2'] } });
  expect(changes).toMatchObject([{ action: 'update', reason: null }]);
});

describe('a privileged role', () => {
  const all = [`gives the scope "${manageUsers}" by the role "admin"`];

  it('stays one if the plan empties it', async () => {
    const at = await guarded();
    const emptied: Doc = { kind: 'Role', name: 'admin', scopes: [] };
    const holder: Doc = { ...ada, roles: { add: ['admin'] } };
    expect(await privileges(at, 'all', [emptied, holder])).toEqual(all);
    expect(await privileges(at, 'User', [emptied, holder])).toEqual(all);
  });

  it('stays one if the plan takes it out of the pattern', async () => {
    const at = await guarded({ safety: { privileged: ['role:admin'] } });
    const renamed: Doc = { kind: 'Role', id: adminRole, name: 'reader' };
    const holder: Doc = { ...ada, roles: { add: ['reader'] } };
    for (const kinds of ['all', 'User'])
      expect(await privileges(at, kinds, [renamed, holder])).toEqual(['gives the role "admin"']);
  });

  it('is one if the plan renames a scope in it, whatever becomes of its scopes', async () => {
    const at = await guarded();
    const { id = '' } = at.sandbox.data.scopes.find(({ name }) => name === 'reports:read') ?? {};
    const documents: Doc[] = [
      { kind: 'Scope', id, name: 'reports:manage:all' },
      { kind: 'Role', name: 'member', scopes: [] },
      { ...grace, roles: { add: ['member'] } },
    ];
    expect(await privileges(at, 'all', documents)).toEqual([
      'gives the scope "reports:manage:all" by the role "member"',
    ]);
  });
});

it('access shows the roles of a backend for its users', async () => {
  const at = await guarded();
  const { roles, backends } = at.sandbox.data;
  const [backend] = backends;
  backend?.roles.push(...structuredClone(roles.filter(({ id }) => id === adminRole)));
  await at.declare(ada);
  const project = await loadProject({ cwd: at.folder, variables: { IDOPS_TOKEN: at.sandbox.token } });
  const { grants } = await access(
    project,
    {},
    { user: ['ada@*'], organization: [], scope: [manageUsers], role: ['admin'] },
  );
  expect(grants.map(({ type, name, via, privileged }) => [type, name, via, privileged])).toEqual([
    ['scope', manageUsers, 'admin', true],
    ['role', 'admin', backend?.name, false],
  ]);
});

it('access tells that a broken manifest hides where access is declared', async () => {
  const at = await guarded();
  await at.declare({ ...ada, lable: 'x' });
  const project = await loadProject({ cwd: at.folder, variables: { IDOPS_TOKEN: at.sandbox.token } });
  const { notes } = await access(project, {}, { user: [], organization: [], scope: [], role: [] });
  expect(notes).toEqual([expect.stringMatching(/^the manifests have errors.*lable.* at manifests\/0.yaml:/)]);
});

describe('safety.keep', () => {
  const keep = [{ role: 'admin', at_least: 1 }];

  it.each<[string, string, object]>([
    ['of a role that it names', 'blocked', {}],
    ['of a role that it names by id', 'update', { keep: [{ role: adminRole, at_least: 1 }] }],
    ['of a role with a scope that it names', 'update', { keep: [{ scope: manageUsers, at_least: 1 }] }],
  ])('judges a rename %s: %s', async (_, action, safety) => {
    const at = await guarded({ safety: { keep, ...safety } });
    const admin = at.sandbox.data.roles.find(({ id }) => id === adminRole);
    if (admin !== undefined) user(at).roles.push(structuredClone(admin));
    const { changes } = await at.plan({ kind: 'Role', id: adminRole, name: 'chief' });
    expect(changes.map((change) => change.action)).toEqual([action]);
  });
});
