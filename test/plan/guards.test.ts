import { expect, it } from 'vitest';
import { defaultSafety, type Safety } from '../../src/base/safety.js';
import { type Fields, Sensitive } from '../../src/base/values.js';
import { Catalog } from '../../src/kinds/catalog.js';
import type { References } from '../../src/kinds/references.js';
import { refusalsOf } from '../../src/plan/approve.js';
import { blockMisnamed, blockProtected, isPrivilegedHolding, markPrivileged } from '../../src/plan/guards.js';
import type { Change } from '../../src/plan/plan.js';
import type { State } from '../../src/state/state.js';
import { changeOf, planOf } from '../report/plans.js';
import { boruta, changeFor, declared, type Known, live, recorded } from './fixtures.js';

const scopes = new Catalog([
  { id: 's1', name: 'users:manage:all' },
  { id: 's2', name: 'openid' },
]);
const roles = new Catalog([
  { id: 'r1', name: 'admin', scopes: [{ id: 's1', name: 'users:manage:all' }] },
  { id: 'r2', name: 'reader', scopes: [{ id: 's2', name: 'openid' }] },
]);
const admin = { id: 's1', name: 'users:manage:all', label: 'All' };
const openid = { id: 's2', name: 'openid', label: 'Open' };
const id = '40000000-0000-4000-8000-000000000001';
const whole = { metadata: {}, group: null, authorized_scopes: [], organizations: [], roles: [] };
const resources = {
  'User/v': { kind: 'User', fields: { authorized_scopes: [{ id: 's1', name: 'users:manage:all' }] } },
};

/** The privileges that a change of a user grants, under the given settings. */
function privilegesOf(
  wanted: Fields,
  {
    known = {},
    references = {},
    ...safety
  }: { known?: Known; references?: Pick<References, 'scopes' | 'roles'> } & Partial<Safety>,
): readonly string[] {
  const change = changeFor(declared('User', { id }, wanted), { ...known, ...references });
  const options = { safety: { ...defaultSafety, ...safety }, state: { resources } as unknown as State };
  const named = blockMisnamed([change], options, references);
  return markPrivileged(named, options, { now: references, planned: references }).flatMap(
    ({ privileges = [], reason }) => reason ?? privileges,
  );
}

it('without a list, a wrong name beside an id that a response calls privileged is blocked', () => {
  expect(privilegesOf({ authorized_scopes: [{ ...admin, name: 'harmless' }] }, {})).toEqual([
    'the scope with the id s1 is called "users:manage:all" on the server, not "harmless": correct the id or the name',
  ]);
});

const all = { authorized_scopes: [admin] };
const byId = { authorized_scopes: [{ id: 's1', label: 'All' }] };
const r9 = { id: 'r9', name: 'admin' };
const memberWith = (...roles: Fields[]): Fields => ({ organizations: [{ id: 'o', roles }] });
const admins = { privileged: ['role:admin'] };
const restore = { run: 'r', lost: all, seen: { authorized_scopes: [] } };
const isThere = (now: Fields) => ({ profile: boruta, live: live({ id }, { ...whole, ...now }) });

it.each<[string, Fields, Parameters<typeof privilegesOf>[1], readonly string[]]>([
  [
    'a scope that the user does not have',
    { authorized_scopes: [openid, admin] },
    { known: isThere({ authorized_scopes: [openid] }), references: { scopes, roles } },
    ['gives the scope "users:manage:all"'],
  ],
  [
    'no scope that the user has already',
    { authorized_scopes: [openid, admin] },
    { known: isThere({ authorized_scopes: [admin] }), references: { scopes, roles } },
    [],
  ],
  ['no recorded scope with --assert', all, { known: { recorded: recorded(all), assert: true } }, []],
  ['every scope if the present ones are unknown', all, {}, ['gives the scope "users:manage:all" (id s1)']],
  [
    'an id that the server calls so',
    byId,
    { references: { scopes } },
    ['gives the scope "users:manage:all"'],
  ],
  ['an id that an answer called so, if there is no list', byId, {}, ['gives the scope "s1"']],
  [
    'a role by its pattern, and what it contains by the list of roles',
    { roles: [{ id: 'r1', name: 'admin' }] },
    { known: isThere({}), references: { scopes, roles }, privileged: ['*:manage:all', 'role:ad*'] },
    ['gives the role "admin"', 'gives the scope "users:manage:all" by the role "admin"'],
  ],
  [
    'no role that only shares its name with a pattern of scopes',
    { roles: [{ id: 'r2', name: 'reader' }] },
    { known: isThere({}), references: { scopes, roles }, privileged: ['reader', '*:manage:all'] },
    [],
  ],
  [
    'a role within a membership',
    memberWith(r9),
    { known: { recorded: recorded(memberWith()) }, ...admins },
    ['gives the role "admin" (id r9)'],
  ],
  [
    'a scope within a role that the user has',
    memberWith({ id: 'r9', name: 'x', scopes: [admin] }),
    { known: { recorded: recorded(memberWith({ id: 'r9', name: 'x', scopes: [] })) } },
    ['gives the scope "users:manage:all" (id s1) by the role "x" (id r9)'],
  ],
  ['a role of the backend', { backend: { roles: [r9] } }, admins, ['gives the role "admin" (id r9)']],
  [
    'a role without a known name, if a pattern is for roles',
    memberWith({ id: 'r9' }),
    admins,
    ['gives the role "r9"'],
  ],
  [
    'a scope from a process variable, without its name',
    { authorized_scopes: [{ ...admin, name: new Sensitive('users:manage:all') }] },
    {},
    ['gives the scope (sensitive)'],
  ],
  [
    'nothing that a pending restore gives back',
    all,
    { known: { ...isThere({}), recorded: recorded({}, { restore }) }, references: { scopes, roles } },
    [],
  ],
])('counts %s', (_, wanted, given, told) => {
  expect(privilegesOf(wanted, given)).toEqual(told);
});

it('matches a pattern against the whole name', () => {
  expect(isPrivilegedHolding(['*:manage:all'], 'scope', ['users:manage:all'])).toBe(true);
  expect(isPrivilegedHolding(['*:manage:all'], 'scope', ['users:manage:all:x'])).toBe(false);
  expect(isPrivilegedHolding(['role:*'], 'scope', ['users:manage:all'])).toBe(false);
});

it.each<[string, Parameters<typeof refusalsOf>[1], readonly string[]]>([
  ['privileged changes unless they are allowed', 9, ['too-privileged']],
  ['privileged changes beyond the limit', { maxDestructive: 9, maxPrivileged: 1 }, ['too-privileged']],
  ['objects beyond the limit', { maxDestructive: 9, maxPrivileged: 2, maxChanges: 2 }, ['too-many-changes']],
  ['nothing within the limits', { maxDestructive: 9, maxPrivileged: 2, maxChanges: 3 }, []],
])('refuses %s', (_, limits, codes) => {
  const privileges = ['gives the scope "a"', 'gives the scope "b"'];
  const plan = planOf([
    changeOf({ address: 'User/a', privileges }),
    changeOf({ address: 'User/b', privileges }),
    changeOf({ address: 'User/c' }),
    changeOf({ address: 'User/d', action: 'adopt' }),
  ]);
  expect(refusalsOf(plan, limits).map(({ code }) => code)).toEqual(codes);
});

function keyPair(id: string, isDefault: boolean | undefined, defaults?: readonly string[]): Change {
  const present = {
    ...(isDefault === undefined ? {} : { is_default: isDefault }),
    ...(defaults === undefined ? {} : { defaults: [...defaults] }),
  };
  return changeFor(declared('KeyPair', { id }, { is_default: true }), { live: live({ id }, present) });
}

it.each<[string, string, Change, boolean]>([
  ['a change of its address', 'User/u', changeOf({ address: 'User/u' }), true],
  [
    'a change by a name that is known',
    'User/root@*',
    changeOf({ kind: 'User', apply: { ...changeOf({}).apply, before: { username: 'root@example.com' } } }),
    true,
  ],
  ['no other object', 'User/other', changeOf({ address: 'User/u' }), false],
  ['no adoption', 'User/u', changeOf({ address: 'User/u', action: 'adopt', requests: [] }), false],
  ['what takes the default away', 'KeyPair/k1', keyPair('k2', false, ['k1']), true],
  ['no change of the default from another one', 'KeyPair/k3', keyPair('k2', false, ['k1']), false],
  ['a change of an unknown default', 'KeyPair/k1', keyPair('k2', undefined), true],
])('protect blocks %s', (_, pattern, change, isBlocked) => {
  const [made] = blockProtected(
    [change],
    { protect: [pattern], approvers: [] },
    ({ address }) => [address],
    {},
  );
  expect(made?.action === 'blocked').toBe(isBlocked);
  if (isBlocked) expect(made?.reason).toContain(pattern);
});
