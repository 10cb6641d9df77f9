import { describe, expect, it } from 'vitest';
import type { PlanOptions } from '../../src/session/session.js';
import { changeOf, type Doc, ids, type Site, site, todo, user } from './site.js';

const manageUsers = 'users:manage:all';
const adminScope = '70000000-0000-4000-8000-0000000000a1';
const manage = { id: adminScope, name: manageUsers, label: null, public: false };
const keep = [{ scope: manageUsers, at_least: 1 }];
const [ada, grace] = [`User/${ids.ada}`, `User/${ids.grace}`];
const demoted: Doc = { kind: 'User', id: ids.ada, authorized_scopes: { remove: [manageUsers] } };
const promoted: Doc = { kind: 'User', id: ids.grace, authorized_scopes: { add: [manageUsers] } };
const wider: Doc = { kind: 'Role', name: 'member', scopes: { add: [manageUsers] } };
const newUser: Doc = {
  kind: 'User',
  username: 'new@acme.example',
  backend: 'Staff',
  create: true,
  password: 'correct horse battery',
  authorized_scopes: [manageUsers],
};

/** A site on which only Ada has the scope, and Grace has the role `member`. */
async function guarded(rules: { readonly [part: string]: string | number }[] = keep): Promise<Site> {
  const at = await site({ safety: { keep: rules, privileged: [] } });
  const { scopes, roles, backends } = at.sandbox.data;
  scopes.push(manage);
  for (const one of at.sandbox.data.users) Object.assign(one, { roles: [], organizations: [] });
  user(at).authorized_scopes.push(manage);
  const [[role], [backend]] = [roles, backends];
  if (role === undefined || backend === undefined) throw new Error('the demo data has both');
  user(at, ids.grace).roles.push(role);
  const type = 'Elixir.BorutaIdentity.Accounts.Internal';
  backends.push({ ...backend, id: ids.nobody, name: 'Staff', type, is_default: false, roles: [] });
  return at;
}

const holders = (at: Site): string[] =>
  at.sandbox.data.users
    .filter(({ authorized_scopes }) => authorized_scopes.some(({ id }) => id === adminScope))
    .map(({ username }) => String(username));

const planned = async (at: Site, selection: PlanOptions, ...documents: Doc[]) => {
  await at.declare(...documents);
  return todo(await at.session((it) => it.plan(selection)));
};

describe('safety.keep counts', () => {
  it('only what the plan does if it leaves documents out', async () => {
    const at = await guarded();
    const other = { ...demoted, roles: { add: ['accountant'] } };
    expect(await planned(at, { kinds: ['User'] }, wider, other)).toEqual([
      expect.stringMatching(/^blocked .*would leave 0 with the scope/),
    ]);
    expect(await planned(at, {}, wider, other)).toEqual(['update Role/member', `update ${ada}`]);
  });

  it('what other shards take away, and not what they give', async () => {
    const at = await guarded();
    Object.assign(user(at, ids.grace), { roles: [{ id: ids.nobody, name: 'admin', scopes: [] }] });
    at.sandbox.data.roles.push({ id: ids.nobody, name: 'admin', scopes: [manage] });
    const emptied: Doc = { kind: 'Role', name: 'admin', scopes: [] };
    for (const shard of [1, 2, 3, 4].map((index) => ({ index, count: 4 }))) {
      for (const one of await planned(at, { shard }, emptied, demoted)) expect(one).toMatch(/^blocked/);
    }
  });

  it('a user that the plan creates', async () => {
    const at = await guarded();
    const { statuses } = await at.apply(newUser, demoted);
    expect(Object.values(statuses)).toEqual(['applied', 'applied']);
    expect(at.writes()).toEqual(['POST /api/users', `PATCH /api/users/${ids.ada}`]);
    expect(holders(at)).toEqual(['new@acme.example']);
  });

  it('nobody for a change that takes no access, since the token may not be allowed to list users', async () => {
    const at = await site({ safety: { keep }, tokens: { narrow: ['configuration:manage:all'] } });
    const page: Doc = { kind: 'ErrorTemplate', type: '404' };
    await at.apply({ ...page, content: 'Gone' });
    await at.declare({ ...page, state: 'absent' });
    expect(Object.values((await at.applyAfter(() => {})).statuses)).toEqual(['applied']);
  });

  it('no user that has the scope only until the end of the plan', async () => {
    const at = await guarded([{ scope: manageUsers, at_least: 2 }]);
    expect(await planned(at, {}, promoted, demoted)).toEqual([
      expect.stringMatching(/^blocked .*would leave 1/),
      `update ${grace}`,
    ]);
  });
});

describe('a change that removes what safety.keep keeps', () => {
  const emptied: Doc = { kind: 'Role', name: 'member', scopes: { remove: [manageUsers] } };
  const inRole = (at: Site) => {
    at.sandbox.data.roles[0]?.scopes.push(manage);
    user(at).authorized_scopes = [];
  };

  it.each<[string, readonly Doc[], string, string, ((at: Site) => void)?]>([
    ['a wider role', [wider, demoted], ids.member, ada],
    ['a new user', [newUser, demoted], '/api/users', ada],
    ['a role that the same user gets', [wider, { ...demoted, roles: { add: ['member'] } }], ids.member, ada],
    ['a user, if it is a role', [promoted, emptied], ids.grace, 'Role/member', inRole],
  ])(
    'is skipped if %s fails, and applied after it otherwise',
    async (_, documents, failing, last, prepare) => {
      for (const fails of [true, false]) {
        const at = await guarded();
        prepare?.(at);
        // Ensures that nobody else has the role.
        if (failing === ids.member && documents[1] !== demoted) user(at, ids.grace).roles = [];
        at.fault = ({ method, path }) =>
          fails && method !== 'GET' && path.endsWith(failing)
            ? { kind: 'answer', status: 422, body: {} }
            : undefined;
        const { results } = await at.apply(...documents);
        expect(results.map(({ status }) => status)).toEqual(
          fails ? ['failed', 'skipped'] : ['applied', 'applied'],
        );
        expect(results.at(-1)?.address).toBe(last);
      }
    },
  );

  it('is skipped if the role that others need lost the scope meanwhile', async () => {
    const at = await guarded();
    at.sandbox.data.roles[0]?.scopes.push(manage);
    await at.declare(demoted);
    const { statuses } = await at.applyAfter(() => at.sandbox.data.roles[0]?.scopes.splice(0));
    expect(statuses).toEqual({ [ada]: expect.stringMatching(/^skipped: .*would leave 0/) });
  });

  it.each([{ scope: 'user:manage:all' }, { role: 'admn' }])(
    'is blocked if a rule names nothing that the server has: %j',
    async (rule) => {
      const at = await guarded([{ ...rule, at_least: 1 }]);
      const removed: Doc = { kind: 'User', id: ids.grace, roles: [], group: 'x' };
      const granted = { ...promoted, id: ids.ada, group: 'x' };
      const plan = await at.plan(demoted, removed, { kind: 'Role', name: 'member', scopes: [] });
      expect(plan.changes.map(({ action }) => action)).toEqual(['blocked', 'blocked', 'blocked']);
      expect(changeOf(plan, ada).reason).toMatch(/takes access, and safety.keep names the (scope|role) "/);
      expect(await planned(at, {}, granted)).toEqual([`update ${ada}`]);
    },
  );

  it('is blocked if it and another one wait for each other', async () => {
    const at = await guarded([...keep, { scope: 'reports:read', at_least: 1 }]);
    const [first] = at.sandbox.data.roles;
    if (first !== undefined) first.scopes = [];
    const swap = (id: string, add: string, remove: string): Doc => ({
      kind: 'User',
      id,
      authorized_scopes: { add: [add], remove: [remove] },
    });
    const plan = await at.plan(
      swap(ids.ada, 'reports:read', manageUsers),
      swap(ids.grace, manageUsers, 'reports:read'),
    );
    expect(changeOf(plan, ada).reason).toBe(
      `it and ${grace} must each come first, because of safety.keep: grant in one run, and remove in the next`,
    );
    expect(plan.changes.map(({ action }) => action)).toEqual(['blocked', 'blocked']);
  });
});
