import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRuns } from '../../src/apply/find-runs.js';
import { planJson } from '../../src/report/json.js';
import { pastRun } from '../../src/report/past.js';
import { fileRuns } from '../../src/state/file/runs.js';
import { applyAll } from '../approving.js';
import { all, counts, organization, reason, role, scope } from './lifecycle.js';
import { type Doc, ids, type Site, site, todo } from './site.js';

/** A fault that refuses every POST to a path. */
const refusing =
  (at: string): Site['fault'] =>
  ({ method, path }) =>
    method === 'POST' && path === at
      ? { kind: 'answer', status: 422, body: { code: 'X', message: 'no', errors: {} } }
      : undefined;

describe('creation', () => {
  test('is opt-in: without it, a missing object is blocked, with what to do', async () => {
    const at = await site();
    const { create: _, ...plain } = role;
    expect(await reason(at, 'Role/clerk', scope, plain)).toBe(
      'blocked: the server has no role "clerk": correct the name, or declare the role with "create: true"',
    );
  });

  test('is blocked if somebody has renamed the object', async () => {
    const at = await site();
    await at.apply(scope, role);
    for (const one of at.sandbox.data.roles) if (one.name === 'clerk') one.name = 'accounts clerk';
    expect(await reason(at, 'Role/clerk', scope, role)).toMatch(
      /^blocked: the role "clerk" is called "accounts clerk" now: declare it with the id \S+, or by that name$/,
    );
  });

  test('accepts no object of another kind for a reference', async () => {
    const at = await site();
    const named: Doc = { ...scope, id: ids.nobody };
    const same: Doc = { ...role, id: ids.nobody, scopes: [{ id: ids.nobody }] };
    expect(await reason(at, 'Role/clerk', named, same)).toContain('blocked: it needs Scope/invoices:read');
  });

  test('of a backend is not undone if safety.keep needs its users', async () => {
    const at = await site({ safety: { keep: [{ scope: 'invoices:read', at_least: 1 }] } });
    const { run } = await at.apply(
      scope,
      { kind: 'Backend', name: 'home', create: true },
      {
        kind: 'User',
        username: 'new@hooli.example',
        backend: 'home',
        password: 'correct horse battery',
        authorized_scopes: ['invoices:read'],
        create: true,
      },
    );
    await at.undo(run);
    expect(at.writes().filter((line) => line.startsWith('DELETE'))).toEqual([]);
  });

  test('is blocked or refused for values that the server refuses', async () => {
    const at = await site();
    const { id: provider = '' } = at.sandbox.data.identityProviders[0] ?? {};
    const client: Doc = {
      kind: 'Client',
      id: ids.nobody,
      name: 'New',
      identity_provider: { id: provider },
      create: true,
    };
    const why = async (fields: Doc) => (await at.plan(fields)).changes.map(({ reason: told }) => told);
    expect(await why({ ...scope, name: 'invoices read' })).toEqual([
      expect.stringContaining('the name of a scope has no space'),
    ]);
    const signing = { id_token_signature_alg: 'ES256' };
    expect(await why({ ...client, ...signing })).toEqual([
      expect.stringContaining("a key of the type rsa can't sign with: use HS, or RS algorithms"),
    ]);
    // The key of this client is of the type ec.
    const [{ id: own = '' } = {}] = at.sandbox.data.clients;
    expect(await why({ kind: 'Client', id: own, id_token_signature_alg: 'RS256' })).toEqual([
      expect.stringContaining("a key of the type ec can't sign with"),
    ]);
    const key = { type: 'rsa', modulus_size: '1024', exponent_size: '65537' };
    expect(await why({ ...client, key_pair_type: key })).toEqual([expect.stringContaining('2048 or more')]);
  });

  test('follows the references: each request has the ids that the server assigned', async () => {
    const at = await site();
    const ran = await at.apply(...all);
    expect(todo(ran.plan)).toEqual([
      'create Scope/invoices:read',
      'create Role/clerk',
      'create Organization/hooli',
      `update User/${ids.ada}`,
    ]);
    expect(Object.values(ran.statuses)).toEqual(Array(4).fill('applied'));
    expect(at.writes()).toEqual([
      'POST /api/scopes',
      'POST /api/roles',
      'POST /api/organizations',
      `PATCH /api/users/${ids.ada}`,
    ]);
    const { scopes, roles, organizations, users } = at.sandbox.data;
    const [made] = scopes.filter(({ name }) => name === 'invoices:read');
    const ada = users.find(({ id }) => id === ids.ada);
    expect(roles.find(({ name }) => name === 'clerk')?.scopes.map(({ id }) => id)).toEqual([made?.id]);
    expect(ada?.authorized_scopes.map(({ id }) => id)).toContain(made?.id);
    expect(ada?.roles.map(({ name }) => name)).toContain('clerk');
    const hooli = organizations.find(({ name }) => name === 'hooli');
    expect(ada?.organizations.map(({ id }) => id)).toContain(hooli?.id);
    expect((await at.plan()).changes.map(({ action }) => action)).toEqual(Array(4).fill('unchanged'));
  });

  test('has the same digest each time, and shows only real ids', async () => {
    const at = await site();
    const plans = [await at.plan(...all), await at.plan()];
    expect(plans[0]?.digest).toBe(plans[1]?.digest);
    const shown = JSON.stringify(plans.map((plan) => planJson(plan, { debug: false }).changes));
    expect(shown).not.toMatch(/-8[0-9a-f]{3}-8[0-9a-f]{3}-/);
  });

  test('that fails skips objects that refer to the object, and the next run continues', async () => {
    const at = await site();
    at.fault = refusing('/api/roles');
    const { statuses } = await at.apply(...all);
    expect(statuses['Role/clerk']).toMatch(/^failed: /);
    expect(statuses[`User/${ids.ada}`]).toBe('skipped: not sent: Role/clerk was not created');
    at.fault = undefined;
    await at.apply();
    expect(counts(at)).toEqual([1, 1, 1]);
  });

  test('that a target leaves out blocks objects that refer to the object', async () => {
    const at = await site();
    await at.declare(...all);
    const { changes } = await at.session((it) => it.plan({ targets: [`User/${ids.ada}`] }));
    const reason =
      "it needs Organization/hooli and Scope/invoices:read and Role/clerk, which this plan doesn't create";
    expect(changes).toMatchObject([{ action: 'blocked', reason }]);
  });

  test.each(['before', 'after'] as const)(
    'whose answer is lost (%s the work) is looked for, and never done twice',
    async (when) => {
      const at = await site();
      const met = new Set<string>();
      at.fault = ({ method, path }) => {
        if (method !== 'POST' || met.has(path)) return undefined;
        met.add(path);
        return { kind: 'reset', when };
      };
      const { statuses } = await at.apply(...all);
      const wanted = when === 'after' ? 'applied' : 'failed';
      expect(statuses['Scope/invoices:read']).toMatch(new RegExp(`^${wanted}`));
      for (let round = 0; round < 3; round += 1) await at.apply();
      expect(counts(at)).toEqual([1, 1, 1]);
      expect((await at.plan()).changes.map(({ action }) => action)).toEqual(Array(4).fill('unchanged'));
    },
  );

  test('with a lost response has the same id when it is sent again', async () => {
    const at = await site();
    const sent: unknown[] = [];
    at.fault = ({ method, path, body }) => {
      if (method !== 'POST' || path !== '/api/roles') return undefined;
      sent.push((body as { role?: { id?: unknown } } | undefined)?.role?.id);
      return sent.length === 1 ? { kind: 'reset', when: 'before' } : undefined;
    };
    await at.apply(scope, role);
    await at.apply();
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(sent[1]).toBe(sent[0]);
  });

  test('of an organization that now exists twice leaves the outcome to a person', async () => {
    const at = await site();
    at.fault = ({ method, path }) => {
      if (method !== 'POST' || path !== '/api/organizations') return undefined;
      for (const number of [1, 2]) {
        const id = `1000000${number}-0000-4000-8000-0000000000aa`;
        at.sandbox.data.organizations.push({ id, name: 'hooli', label: null });
      }
      return { kind: 'reset', when: 'before' };
    };
    const { statuses } = await at.apply(organization);
    expect(statuses['Organization/hooli']).toMatch(/^unknown: .*2 organizations are called "hooli"/);
  });

  describe.each(['User', 'Organization'])('of a %s with an unknown outcome', (kind) => {
    const staff: Doc = { kind: 'Backend', name: 'Staff', create: true };
    const account = { username: 'joe@example.com', backend: 'Staff', password: 'x'.repeat(12) };
    const joe: Doc = { kind: 'User', ...account, create: true };
    const made = kind === 'User' ? joe : organization;
    const path = kind === 'User' ? '/api/users' : '/api/organizations';
    const rowsOf = ({ sandbox: { data } }: Site): { id: string }[] =>
      kind === 'User'
        ? data.users.filter(({ username }) => username === 'joe@example.com')
        : data.organizations.filter(({ name }) => name === 'hooli');

    /** A run whose creation gets no response, and whose later reads fail. */
    async function unknown(when: 'before' | 'after') {
      const at = await site({ settings: { prune: ['User', 'Organization'] }, retries: 0 });
      await at.apply(staff);
      let isSent = false;
      at.fault = (request) => {
        if (request.method !== 'POST' || request.path !== path)
          return isSent ? { kind: 'reset', when: 'before' } : undefined;
        isSent = true;
        return { kind: 'reset', when };
      };
      const { run, statuses } = await at.apply(staff, made);
      at.fault = undefined;
      expect(Object.values(statuses)).toEqual([expect.stringMatching(/^unknown/)]);
      return { at, run: run ?? '' };
    }

    const outcomes = async (at: Site, run: string) => {
      const { runs } = await readRuns(fileRuns(join(at.folder, '.idops', 'runs')));
      const [found] = runs.filter(({ contents }) => contents.some((one) => one.run.run === run));
      if (found === undefined) throw new Error('no such run');
      return (await pastRun(found)).changes.map(({ result }) => result?.status);
    };

    const pruned = async (at: Site): Promise<string[]> => {
      await at.declare(staff);
      return todo(await at.session((it) => it.plan({ prune: true })));
    };

    test('is adopted and reported if the object is there, so that undo and prune delete it', async () => {
      const { at, run } = await unknown('after');
      const [row] = rowsOf(at);
      const { plan, statuses } = await at.apply();
      const [change] = plan.changes.filter(({ action }) => action !== 'unchanged');
      expect(change).toMatchObject({ action: 'adopt', warnings: [{ code: 'creation-found' }] });
      expect(Object.values(statuses)).toEqual(['applied']);
      expect(todo(await at.plan())).toEqual([]);
      expect(await outcomes(at, run)).toEqual(['applied']);
      expect(await pruned(at)).toEqual([`delete ${kind}/${kind === 'User' ? row?.id : 'hooli'}`]);
      await at.undo(run);
      expect(rowsOf(at)).toEqual([]);
    });

    test('is adopted by an update too', async () => {
      const { at } = await unknown('after');
      const news = kind === 'User' ? { group: 'finance' } : { label: 'Other' };
      const { plan } = await at.apply(staff, { ...made, ...news });
      const [change] = plan.changes.filter(({ action }) => action !== 'unchanged');
      expect(change).toMatchObject({ action: 'update', warnings: [{ code: 'creation-found' }] });
      expect(await pruned(at)).toHaveLength(1);
    });

    test('is sent again if the object is not there', async () => {
      const { at } = await unknown('before');
      await at.apply();
      expect(rowsOf(at)).toHaveLength(1);
      expect(todo(await at.plan())).toEqual([]);
    });

    test('leaves an object that undo finds to a person, since somebody else may have created it', async () => {
      const { at, run } = await unknown('after');
      expect(todo(await at.plan())).toHaveLength(1);
      const { left } = await at.undo(run);
      expect(left).toEqual([
        expect.stringContaining("it isn't deleted, since the outcome of its creation is unknown"),
      ]);
      expect(rowsOf(at)).toHaveLength(1);
    });

    test('and a refused one leave an object that somebody else created', async () => {
      const at = await site();
      await at.apply(staff);
      at.fault = refusing(path);
      const { run } = await at.apply(staff, made);
      at.fault = undefined;
      await at.apply();
      expect((await at.undo(run)).left).toEqual([]);
      expect(rowsOf(at)).toHaveLength(1);
    });

    test('has nothing to undo if the object is not there', async () => {
      const { at, run } = await unknown('before');
      expect((await at.undo(run)).left).toEqual([]);
    });
  });

  describe.each(['User', 'Organization'] as const)('of a %s whose response', (kind) => {
    const staff: Doc = { kind: 'Backend', name: 'Staff', create: true };
    const joe = { username: 'joe@example.com', backend: 'Staff', password: 'x'.repeat(12) };
    const [path, made, referring]: [string, Doc, Doc] =
      kind === 'User'
        ? [
            '/api/users',
            { kind: 'User', ...joe, create: true },
            { kind: 'User', id: ids.ada, group: 'staff' },
          ]
        : [
            '/api/organizations',
            organization,
            { kind: 'User', id: ids.ada, organizations: ['acme', 'hooli'] },
          ];

    async function created(kindOfFault: 'answer' | 'replace', data: (at: Site) => unknown) {
      const at = await site({ settings: { prune: ['User', 'Organization'] } });
      await at.apply(staff);
      at.fault = (request) =>
        request.method === 'POST' && request.path === path
          ? { kind: kindOfFault, status: 200, body: { data: data(at) } }
          : undefined;
      const before = at.sandbox.snapshot();
      const applied = await at.apply(staff, made, referring);
      at.fault = undefined;
      return { at, before, ...applied };
    }

    test('is about another object created nothing, and undo and prune leave that object', async () => {
      const { at, before, run, results } = await created('answer', ({ sandbox: { data } }) =>
        kind === 'User'
          ? data.users.find(({ id }) => id === ids.grace)
          : data.organizations.find(({ name }) => name === 'acme'),
      );
      expect(results.find(({ action }) => action === 'create')).toMatchObject({
        status: 'not_converged',
        error: expect.stringContaining('the answer is about another object'),
      });
      if (kind === 'Organization') {
        expect(at.sandbox.data.users).toEqual(before.users);
        expect(results).toContainEqual(expect.objectContaining({ status: 'skipped' }));
      }
      await at.declare(staff);
      expect(todo(await at.session((it) => it.plan({ prune: true })))).toEqual([]);
      await at.undo(run);
      expect(at.writes().filter((line) => line.startsWith('DELETE'))).toEqual([]);
    });

    test('shows no id is read back, and objects that refer to it get its id', async () => {
      const { at, statuses } = await created('replace', () => ({}));
      expect(new Set(Object.values(statuses))).toEqual(new Set(['applied']));
      expect(todo(await at.plan())).toEqual([]);
    });
  });

  test('requires what a new object needs, and no id that servers choose', async () => {
    const at = await site();
    const id = '5f0c1a9e-2f5d-4a58-9a51-6b1f8a1d7c11';
    expect(await reason(at, `Organization/${id}`, { kind: 'Organization', id, create: true })).toContain(
      'blocked: the server chooses the id of a new organization',
    );
    expect(await reason(at, `Role/${id}`, { kind: 'Role', id, create: true })).toBe(
      'blocked: a new role needs name: declare it',
    );
    expect(await reason(at, 'Scope/new', { kind: 'Scope', id, name: 'new', create: true })).toContain(
      'blocked: roles keep a hidden row for a deleted scope',
    );
  });

  test('of a role with a privileged scope, and of its holders, is guarded', async () => {
    const at = await site();
    const admin: Doc = { kind: 'Role', name: 'admin', scopes: ['users:manage:all'], create: true };
    const id = '70000000-0000-4000-8000-0000000000aa';
    at.sandbox.data.scopes.push({ id, name: 'users:manage:all', label: null, public: false });
    const { changes } = await at.plan(admin, { kind: 'User', id: ids.ada, roles: { add: ['admin'] } });
    expect(changes.map(({ address, privileges }) => [address, privileges])).toEqual([
      ['Role/admin', ['gives the scope "users:manage:all"']],
      [`User/${ids.ada}`, ['gives the scope "users:manage:all" by the role "admin"']],
    ]);
  });

  test.each([true, false])(
    'of a user in a backend whose default roles are privileged is guarded (the backend is there: %s)',
    async (isThere) => {
      const at = await site({ safety: { privileged: ['invoices:*', 'role:clerk'] } });
      const backend: Doc = { kind: 'Backend', name: 'Staff', roles: ['clerk'], create: true };
      const joe: Doc = { kind: 'User', username: 'joe@example.com', backend: 'Staff', create: true };
      await at.declare(scope, role, backend);
      if (isThere) await at.writing('apply', async (it) => await applyAll(it, await it.plan()));
      const { changes } = await at.plan(scope, role, backend, { ...joe, password: 'x'.repeat(12) });
      const user = changes.find(({ kind }) => kind === 'User');
      expect(user?.privileges).toEqual([
        'gives the role "clerk" by the backend "Staff"',
        'gives the scope "invoices:read" by the role "clerk" of the backend "Staff"',
      ]);
      expect(changes.filter(({ privileges }) => privileges !== undefined)).toHaveLength(isThere ? 1 : 4);
    },
  );

  test('under the profile documented is refused with its place', async () => {
    const at = await site({ idopsProfile: 'documented' });
    const failure = await at.plan(organization, role).catch((refused: unknown) => refused);
    const messages = ['no operation that creates an organization', 'no operations for a role'];
    const problems = messages.map((message) => ({
      code: 'profile-field',
      message: expect.stringContaining(message),
    }));
    expect(failure).toMatchObject({ problems });
  });
});

describe('the configuration', () => {
  const { create: _, ...plainRole } = role;
  const { create: __, ...plainOrganization } = organization;

  test('enables creation for all kinds or some, unless a document says otherwise', async () => {
    const actions = async (create: boolean | string[], ...documents: readonly Doc[]) => {
      const at = await site({ settings: { create } });
      return (await at.plan(...documents)).changes.map(({ action }) => action);
    };
    const documents = [scope, plainRole, plainOrganization];
    expect(await actions(true, ...documents)).toEqual(['create', 'create', 'create']);
    expect(await actions(['Organization'], ...documents)).toEqual(['create', 'blocked', 'create']);
    expect(await actions(true, { ...plainOrganization, create: false })).toEqual(['blocked']);
  });

  test('limits --prune to kinds, and --prune deletes only what idops created', async () => {
    const pruned = async (settings: { prune?: string[] }) => {
      const at = await site({ settings });
      await at.apply(scope, role, organization, { kind: 'Role', name: 'member', scopes: ['billing:read'] });
      await at.declare(scope);
      const { changes } = await at.session((it) => it.plan({ prune: true }));
      return changes.map(({ action, address }) => `${action} ${address}`);
    };
    expect(await pruned({})).toEqual(['unchanged Scope/invoices:read']);
    expect(await pruned({ prune: ['Role', 'Scope'] })).toEqual([
      'unchanged Scope/invoices:read',
      'delete Role/clerk',
    ]);
  });

  test('of a user without managed fields lets --prune delete the user', async () => {
    const at = await site({ settings: { prune: ['User', 'Backend'] } });
    const staff: Doc = { kind: 'Backend', name: 'Staff', create: true };
    const joe: Doc = { kind: 'User', username: 'joe@example.com', backend: 'Staff', create: true };
    await at.apply(staff, { ...joe, password: 'x'.repeat(12) });
    const pruned = async (...documents: Doc[]): Promise<string[]> => {
      await at.declare(...documents);
      return todo(await at.session((it) => it.plan({ prune: true }))).map((one) => one.split(':')[0] ?? '');
    };
    expect(await pruned(staff, { kind: 'Users', match: { backend: 'Staff' }, group: null })).toEqual([]);
    const [made] = at.sandbox.data.users.filter(({ username }) => username === 'joe@example.com');
    const gone = [`delete User/${made?.id}`, 'delete Backend/Staff'];
    expect(await pruned(scope)).toEqual(['create Scope/invoices', ...gone]);
  });
});
