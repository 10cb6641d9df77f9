import { describe, expect, it, test } from 'vitest';
import type { Fields } from '../../src/base/values.js';
import { Catalog } from '../../src/kinds/catalog.js';
import type { Declared } from '../../src/kinds/kind.js';
import { listsForUser } from '../../src/kinds/user-references.js';
import { boruta, changeFor, declared, documented, type Known, live, recorded } from '../plan/fixtures.js';

const identity = { id: '40000000-0000-4000-8000-000000000001' };
const scopes = new Catalog(
  [
    { id: 's1', name: 'openid', label: 'Sign in', public: true },
    { id: 's2', name: 'users:manage:all', label: 'Everything', public: false },
    { id: 's3', name: 'twin' },
    { id: 's4', name: 'twin' },
  ],
  { noun: 'scope', creatable: true },
);
const roles = new Catalog(
  [
    { id: 'r1', name: 'viewer', scopes: [{ id: 's1', name: 'openid', public: true }] },
    { id: 'r2', name: 'admin', scopes: [{ id: 's2', name: 'users:manage:all', public: false }] },
  ],
  { noun: 'role', creatable: true },
);
const organizations = new Catalog(
  [
    { id: 'o1', name: 'acme', label: null },
    { id: 'o2', name: 'globex', label: null },
  ],
  { noun: 'organization' },
);
const bare: Fields = { metadata: {}, group: null, authorized_scopes: [], organizations: [], roles: [] };

/** The change for a user with the declared fields, on a server that has the lists. */
function change(fields: Fields, present: Fields = {}, known: Known = {}, parts: Partial<Declared> = {}) {
  return changeFor(declared('User', identity, fields, parts), {
    live: live(identity, { ...bare, ...present }),
    organizations,
    scopes,
    roles,
    profile: boruta,
    ...known,
  });
}

describe('an id with another name on the server', () => {
  const scope = { id: 's2', name: 'openid' };
  const role = { id: 'r2', name: 'viewer' };
  const member = { id: 'o2', name: 'acme' };
  const cases: readonly [Fields, string, string][] = [
    [{ authorized_scopes: [scope] }, 'the scope with the id s2 is called "users:manage:all"', 'openid'],
    [{ roles: [role] }, 'the role with the id r2 is called "admin"', 'viewer'],
    [{ organizations: [member] }, 'the organization with the id o2 is called "globex"', 'acme'],
  ];
  it.each(cases)('blocks: %j', (fields, called, not) => {
    const reason = `${called} on the server, not "${not}": correct the id or the name`;
    expect(change(fields)).toMatchObject({ action: 'blocked', reason, requests: [], fields: [] });
    // Blocked even if the user is a member already, because the manifest is wrong.
    const had = { ...fields, organizations: [{ id: 'o2', name: 'globex' }], ...fields };
    expect(change(fields, had)).toMatchObject({ action: 'blocked', reason });
  });

  it('blocks a membership under documented too', () => {
    const document = declared('User', identity, { organizations: [{ id: 'o2', name: 'acme' }] });
    expect(changeFor(document, { organizations }).reason).toContain(
      'is called "globex" on the server, not "acme"',
    );
  });

  it('may have either name of an organization that the manifests rename, and no other', () => {
    const renamed = organizations.afterPlan({ changed: new Map([['o1', { name: 'acme international' }]]) });
    const member = (name: string) =>
      change({ organizations: [{ id: 'o1', name }] }, {}, { organizations: renamed });
    for (const name of ['acme international', 'acme']) {
      expect(member(name)).toMatchObject({ action: 'update', warnings: [] });
    }
    expect(member('globex').reason).toContain('is called "acme" on the server, not "globex"');
  });

  it('is a warning if the name is a former one of the organization that no other has now', () => {
    const live = new Map();
    const former = new Map([
      ['o1', ['initech', 'globex']],
      ['o2', ['hooli']],
    ]);
    const known = organizations.afterPlan({}, { live, former });
    const member = (name: string, has: Fields = {}) =>
      change({ organizations: [{ id: 'o1', name }] }, has, { organizations: known });
    const has = { organizations: [{ id: 'o1', name: 'acme' }] };
    const message = expect.stringContaining('write "acme"');
    const warnings = [{ code: 'stale-name', message, place: { line: 3 } }];
    expect(member('initech')).toMatchObject({ action: 'update', warnings });
    expect(member('initech', has)).toMatchObject({ action: 'unchanged', warnings });
    for (const name of ['globex', 'hooli', 'never']) {
      expect(member(name).reason).toContain(`is called "acme" on the server, not "${name}"`);
    }
    // Scopes have no accepted former names.
    expect(change({ authorized_scopes: [{ id: 's1', name: 'initech' }] }).action).toBe('blocked');
  });

  it('does not matter in a journal, and is shown as on the server', () => {
    const fields = {
      authorized_scopes: [{ id: 's2', name: 'old' }],
      roles: [{ id: 'r2', name: 'old' }],
      organizations: [{ id: 'o1', name: 'old' }],
    };
    const { action, fields: shown } = change(fields, {}, {}, { remembered: true });
    expect(action).toBe('update');
    expect(shown).toMatchObject([
      { path: 'authorized_scopes', after: [{ id: 's2', name: 'users:manage:all' }] },
      { path: 'roles', after: [{ id: 'r2', name: 'admin' }] },
      { path: 'organizations', after: [{ id: 'o1', name: 'acme' }] },
    ]);
  });

  it('does not matter in undeclared values', () => {
    const present = {
      authorized_scopes: [{ id: 's2', name: 'openid' }],
      roles: [{ id: 'r2', name: 'viewer' }],
    };
    const { action, requests, warnings } = change({ group: 'staff' }, present);
    expect({ action, warnings }).toEqual({ action: 'update', warnings: [] });
    expect(requests).toMatchObject([{ body: present }]);
  });
});

describe('an id that the server does not have', () => {
  it.each([
    ['scope', { authorized_scopes: [{ id: 's9', name: 'openid' }] }, 's9'],
    ['role', { roles: [{ id: 'r9' }] }, 'r9'],
  ])('blocks: a %s', (noun, fields, id) => {
    const reason = `the server has no ${noun} with the id ${id}: correct the id, or declare the ${noun} with "create: true"`;
    expect(change(fields)).toMatchObject({ action: 'blocked', requests: [], reason });
  });

  it('is sent with a warning if the user has it, declared or not', () => {
    const present = {
      authorized_scopes: [{ id: 's9', name: 'elsewhere' }],
      roles: [{ id: 'r9', name: 'far' }],
    };
    for (const fields of [{ group: 'staff' }, { group: 'staff', ...present }]) {
      const { action, requests, warnings } = change(fields, present);
      expect(action).toBe('update');
      expect(requests).toMatchObject([{ body: present }]);
      expect(warnings).toEqual([
        { code: 'not-in-list', message: expect.stringContaining('the scope "elsewhere" (id s9), which') },
        { code: 'not-in-list', message: expect.stringContaining('the role "far" (id r9), which') },
      ]);
    }
    const renamed = { authorized_scopes: [{ id: 's9', name: 'openid' }] };
    expect(change(renamed, present).reason).toContain('is called "elsewhere" on the server, not "openid"');
  });

  it('may be a row without an id', () => {
    const unsure = new Catalog([{ name: 'openid' }]);
    const asked = { authorized_scopes: [{ id: 's9', name: 'openid' }] };
    const { action, fields } = change(asked, {}, { scopes: unsure });
    expect(action).toBe('update');
    expect(fields).not.toMatchObject([{ confirmed: true }]);
  });
});

describe('a name without an id', () => {
  it('finds its id', () => {
    const fields = {
      authorized_scopes: [{ name: 'openid' }],
      roles: [{ name: 'viewer' }],
      organizations: [{ name: 'acme' }],
    };
    const body = {
      authorized_scopes: [{ id: 's1', name: 'openid' }],
      roles: [{ id: 'r1', name: 'viewer' }],
      organizations: [{ id: 'o1', name: 'acme' }],
    };
    expect(change(fields).requests).toMatchObject([{ body }]);
  });

  it('blocks if it is unknown or ambiguous', () => {
    expect(change({ authorized_scopes: [{ name: 'opneid' }] }).reason).toBe(
      'the server has no scope "opneid": correct the name, or declare the scope with "create: true"; did you mean "openid"?',
    );
    const { reason } = change({ authorized_scopes: [{ name: 'twin' }] });
    expect(reason).toBe('2 scopes are called "twin" (s3, s4): refer to one by its id');
  });

  it('from a journal is reported without advice to correct it', () => {
    const remembered = { roles: [{ id: 'r9', name: 'gone' }] };
    const { reason } = change(remembered, {}, {}, { remembered: true });
    expect(reason).toBe("the server has no role with the id r9 any more, so it can't be restored");
  });

  it('blocks if the same object is declared by its id too', () => {
    const both = { authorized_scopes: [{ name: 'openid' }, { id: 's1', name: 'openid' }] };
    expect(change(both).reason).toBe('the scope s1 is twice: remove one of the two');
  });
});

describe('the reviewed element', () => {
  it("has the server's names, public flags and role contents", () => {
    const lie = { scopes: [{ id: 's1', name: 'openid' }] };
    const { fields } = change({
      authorized_scopes: [{ id: 's2', name: 'users:manage:all', public: true }],
      roles: [{ id: 'r2', ...lie }],
    });
    expect(fields).toMatchObject([
      { after: [{ id: 's2', name: 'users:manage:all', public: false }], confirmed: true },
      { after: [{ id: 'r2', name: 'admin', scopes: [{ name: 'users:manage:all' }] }], confirmed: true },
    ]);
  });

  it('shows ids next to names of lost elements, unless a list confirmed them', () => {
    const present = { roles: [{ id: 'r1', name: 'viewer' }] };
    const unlisted = change({ roles: [] }, present, { roles: null });
    expect(unlisted.destructions).toEqual(['removes the role "viewer" (id r1)']);
    const { destructions } = change({ roles: [{ name: 'admin' }] }, present);
    expect(destructions).toEqual(['removes the role "viewer"']);
    const document = declared('User', identity, { authorized_scopes: [{ id: '1', name: 'a', label: 'A' }] });
    const known = recorded({ authorized_scopes: [{ id: '2', name: 'b', label: 'B' }] });
    expect(changeFor(document, { recorded: known })).toMatchObject({
      destructions: ['removes the scope "b" (id 2)'],
      fields: [{ after: [{ id: '1', name: 'a', label: 'A' }] }],
    });
  });

  it('is not confirmed if the server has no list', () => {
    const asked = { authorized_scopes: [{ id: 's2', name: 'openid' }] };
    const { action, fields } = change(asked, {}, { scopes: null });
    expect(action).toBe('update');
    expect(fields[0]?.confirmed).toBeUndefined();
  });
});

test('the label from the list is sent, otherwise the name', () => {
  const mine = { id: 's2', name: 'users:manage:all', label: 'Mine' };
  const asked = { authorized_scopes: [{ name: 'openid' }, { id: 's3', name: 'twin' }, mine] };
  const present = { authorized_scopes: [{ id: 's1', name: 'openid', public: true }] };
  const [request] = change(asked, present).requests;
  const labels = ['Sign in', 'twin', 'Mine'];
  expect(request?.body?.authorized_scopes).toMatchObject(labels.map((label) => ({ label })));
});

describe('the lists that are read', () => {
  it.each([
    [{ group: 'a' }, ['organizations']],
    [{ authorized_scopes: [], roles: [], organizations: [{ name: 'acme' }] }, ['organizations']],
    [{ authorized_scopes: [{ name: 'a' }] }, ['organizations', 'scopes']],
    [{ roles: [{ name: 'a' }] }, ['organizations', 'roles']],
  ])('are only those that are used: %j', (fields, lists) => {
    expect(listsForUser(declared('User', identity, fields), boruta)).toEqual(lists);
  });

  it('are only the organizations under documented', () => {
    const user = (fields: Fields) => listsForUser(declared('User', identity, fields), documented);
    expect(user({ authorized_scopes: [{ name: 'a' }] })).toEqual([]);
    expect(user({ organizations: [{ name: 'a', roles: [{ id: '1' }] }] })).toEqual(['organizations']);
  });
});
