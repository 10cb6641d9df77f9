import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Json } from '../../src/base/values.js';
import { loadProject } from '../../src/project/index.js';
import { planText } from '../../src/report/text.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { openSession } from '../../src/session/open.js';
import { readStoredPlan } from '../../src/session/plan-file.js';
import { changeOf, type Doc, ids, problemsOf, removeRow, type Site, site, todo, user } from './site.js';

const ada = `User/${ids.ada}`;
const grace = `User/${ids.grace}`;
const byName = { kind: 'User', username: 'ada@acme.example' };
const directory = 'Company directory';
const template = { kind: 'EmailTemplate', backend: directory, type: 'tx_code', txt_content: '{{ tx_code }}' };

const names = (
  at: Site,
  field: 'organizations' | 'authorized_scopes' | 'roles',
  id: string = ids.ada,
): string[] =>
  user(at, id)
    [field].map((element) => {
      const { organizations } = at.sandbox.data;
      return String(
        'name' in element ? element.name : organizations.find((one) => one.id === element.id)?.name,
      );
    })
    .sort();

/** Adds the backend "Partners", and to it another user with the name of Ada. */
const addNamesake = ({ sandbox: { data } }: Site): void => {
  const ada = data.users.find(({ id }) => id === ids.ada);
  const [first] = data.backends;
  if (ada === undefined || first === undefined) throw new Error('no demo data');
  data.backends.push({ ...first, id: ids.nobody, name: 'Partners', is_default: false });
  data.users.push({ ...ada, id: ids.nobody, backend_id: ids.nobody });
};

const fieldsOf = (plan: Awaited<ReturnType<Site['plan']>>, address: string) =>
  changeOf(plan, address).fields.map(({ path, before, after }) => [path, before, after]);

describe('names', () => {
  test('identify users, scopes, roles, organizations and backends; the plan has ids', async () => {
    const at = await site();
    const ran = await at.apply(
      {
        ...byName,
        backend: directory,
        organizations: ['globex'],
        roles: ['accountant'],
        authorized_scopes: ['reports:read'],
      },
      template,
    );
    expect(ran.statuses).toEqual({ [ada]: 'applied', [`EmailTemplate/${ids.backend}/tx_code`]: 'applied' });
    expect(names(at, 'organizations')).toEqual(['globex']);
    expect(names(at, 'roles')).toEqual(['accountant']);
    expect(todo(await at.plan())).toEqual([]);
  });

  test.each<[string, Doc, string]>([
    ['no user has it', { ...byName, username: 'ida@acme.example' }, 'did you mean "ada@acme.example"?'],
    ['the backend has no such user', { ...byName, backend: 'Elsewhere' }, 'no backend "Elsewhere"'],
    ['no scope has it', { ...byName, authorized_scopes: ['billing:raed'] }, 'did you mean "billing:read"?'],
  ])('are blocked if %s', async (_, document, reason) => {
    const at = await site();
    const [change] = (await at.plan({ group: 'x', ...document })).changes;
    expect(change).toMatchObject({ action: 'blocked', requests: [] });
    expect(change?.reason).toContain(reason);
  });

  test('that several users have are blocked with the candidates, and a backend narrows them', async () => {
    const at = await site();
    addNamesake(at);
    expect(changeOf(await at.plan({ ...byName, group: 'x' }), 'User/ada@acme.example').reason).toContain(
      `2 users are called "ada@acme.example" (${ids.ada} in the backend "Company directory"`,
    );
    expect(todo(await at.plan({ ...byName, backend: 'Partners', group: 'x' }))).toEqual([
      `update User/${ids.nobody}`,
    ]);
  });

  test('that match nothing protect what they may mean from --prune', async () => {
    const at = await site();
    await at.apply(template);
    await at.declare({ ...template, backend: 'Renamed' }, { kind: 'User', id: ids.ada, group: 'x' });
    const plan = await at.session((opened) => opened.plan({ prune: true, targets: ['*'] }));
    expect(plan.changes.map(({ action }) => action)).toEqual(['update', 'blocked']);
  });

  test.each(['roles', 'authorized_scopes', 'organizations'] as const)(
    'of %s that another object has by the time of the request are not sent',
    async (field) => {
      const at = await site();
      const lists = {
        roles: at.sandbox.data.roles,
        authorized_scopes: at.sandbox.data.scopes,
        organizations: at.sandbox.data.organizations,
      };
      const [one, other] = lists[field].filter(
        ({ id }) => !user(at, ids.grace)[field].some((own) => own.id === id),
      );
      const add = [String(one?.name)];
      await at.declare({ kind: 'User', username: 'grace@globex.example', [field]: { add } });
      const { results } = await at.applyAfter(() => {
        if (one !== undefined && other !== undefined) [one.name, other.name] = [other.name, one.name];
      });
      expect(results).toMatchObject([{ status: 'skipped', error: expect.stringContaining(field) }]);
      expect(at.writes()).toEqual([]);
    },
  );

  test('that another user has when the request is sent are not written', async () => {
    const at = await site();
    await at.declare({ ...byName, group: 'x' });
    const { results } = await at.applyAfter(() => {
      [user(at).username, user(at, ids.grace).username] = [user(at, ids.grace).username, user(at).username];
    });
    expect(results).toMatchObject([{ status: 'skipped', error: expect.stringContaining('username') }]);
    expect(at.writes()).toEqual([]);
  });

  test('select objects as targets', async () => {
    const at = await site();
    await at.declare({ ...byName, group: 'x' }, { kind: 'User', id: ids.grace, group: 'x' });
    const target = async (...targets: string[]) =>
      await at.session(async (opened) => todo(await opened.plan({ targets })));
    expect(await target('User/ada@acme.example')).toEqual([`update ${ada}`]);
    expect(await target('User/*@globex.example')).toEqual([`update ${grace}`]);
    expect(await target(ada)).toEqual([`update ${ada}`]);
  });

  test('are refused under a profile without lists', async () => {
    const at = await site({ profile: 'documented' });
    const both = { kind: 'Users', users: ['ada@acme.example'], match: { group: 'staff' }, group: 'x' };
    const found = problemsOf(at.plan({ ...byName, group: 'x' }, both, template));
    expect((await found).map((line) => line.split(' ')[0])).toEqual(Array(4).fill('profile-field'));
  });
});

test('one set of manifests fits two servers with different ids', async () => {
  const text = readFileSync('examples/environments/manifests/access.yaml', 'utf8');
  for (const other of ['-4000-', '-5000-']) {
    const at = await site({ seed: JSON.parse(JSON.stringify(loadSeed('demo')).replaceAll('-4000-', other)) });
    const documents = parseAllDocuments(text.replace('${portal}', ids.portal.replace('-4000-', other)));
    const ran = await at.apply(...documents.map((document) => document.toJS() as Doc));
    expect(Object.values(ran.statuses)).toEqual(['applied', 'applied', 'applied']);
    expect(todo(await at.plan())).toEqual([]);
  }
});

describe('sets of members to add and remove', () => {
  const changes = {
    ...byName,
    organizations: { add: ['globex', 'initech'], remove: ['acme'] },
    authorized_scopes: { remove: ['billing:write', 'reports:read'] },
  };

  test('change those members, leave others alone, and show only those', async () => {
    const at = await site();
    user(at).organizations.push({ id: ids.umbrella, roles: [] });
    const plan = await at.plan(changes);
    expect(fieldsOf(plan, ada).map(([path]) => path)).toEqual(['authorized_scopes', 'organizations']);
    await at.apply();
    expect(names(at, 'organizations')).toEqual(['globex', 'initech', 'umbrella']);
    expect(names(at, 'authorized_scopes')).toEqual(['billing:read']);
    expect(todo(await at.plan())).toEqual([]);
  });

  test('an unnamed member is no drift, makes no plan stale, and survives apply and undo', async () => {
    const at = await site();
    await at.declare(changes);
    const stored = await at.session(async (opened) => await opened.storePlan(await opened.plan()));
    user(at).organizations.push({ id: ids.umbrella, roles: [] });
    // Another organization has the same name.
    const id = '10000000-0000-4000-8000-000000000099';
    at.sandbox.data.organizations.push({ id, name: 'umbrella', label: null });
    const again = await at.session((opened) => opened.planStored(readStoredPlan(stored, 'plan.json')));
    expect(again.problems).toEqual([]);
    const { run } = await at.apply();
    user(at).organizations.push({ id: ids.nobody, roles: [] });
    at.sandbox.data.organizations.push({ id: ids.nobody, name: 'later', label: null });
    const undone = await at.undo(run);
    expect(undone).toMatchObject({ statuses: { [ada]: 'applied' }, left: [] });
    expect(names(at, 'organizations')).toEqual(['acme', 'globex', 'later', 'umbrella']);
    expect(names(at, 'authorized_scopes')).toEqual(['billing:read', 'billing:write']);
  });

  test('a member that is added between the plan and the request is kept', async () => {
    const at = await site();
    await at.declare(changes);
    const add = () => void user(at).organizations.push({ id: ids.umbrella, roles: [] });
    expect((await at.applyAfter(add, false)).statuses).toEqual({ [ada]: 'applied' });
    expect(names(at, 'organizations')).toEqual(['globex', 'initech', 'umbrella']);
  });

  test('are blocked if the present set is not live', async () => {
    const at = await site({ profile: 'documented' });
    const plan = await at.plan({ kind: 'User', id: ids.ada, organizations: { add: ['acme'] } });
    expect(changeOf(plan, ada).reason).toContain("members can't be added or removed");
  });

  test('a member that is both added and removed is an error with both places', async () => {
    const at = await site();
    const both = { kind: 'User', id: ids.ada, roles: { add: ['member'], remove: ['member'] } };
    expect(await problemsOf(at.plan(both))).toEqual(['duplicate-element 6 9']);
    const other = { kind: 'Users', users: [{ id: ids.ada }], roles: { remove: ['member'] } };
    const one = { kind: 'User', id: ids.ada, roles: ['member'] };
    expect(await problemsOf(at.plan(one, other))).toEqual([expect.stringContaining('contradiction')]);
    // One is by name and the other by id, so only the server shows the contradiction.
    const role = at.sandbox.data.roles.find(({ name }) => name === 'member');
    const byId = { ...other, roles: { remove: [{ id: role?.id ?? '' }] } };
    expect(changeOf(await at.plan(one, byId), ada).reason).toContain('is declared at');
  });
});

describe('a document about many users', () => {
  const staff = { kind: 'Users', match: { organization: 'globex' }, roles: { add: ['accountant'] } };
  const phone = { phone: { value: '1', status: 'valid' } };

  test('covers named and matched users, and joins other documents', async () => {
    const at = await site();
    await at.apply(
      staff,
      { kind: 'Users', users: ['grace@globex.example'], metadata: phone },
      { ...byName, group: 'ops', roles: ['member'] },
    );
    expect(names(at, 'roles')).toEqual(['accountant', 'member']);
    expect(names(at, 'roles', ids.grace)).toEqual(['accountant']);
    expect(user(at, ids.grace).metadata).toMatchObject({ phone: { value: '1' }, department: {} });
    expect(user(at).group).toBe('ops');
  });

  test('leaves out users in except, by name too', async () => {
    const at = await site();
    expect(todo(await at.plan({ ...staff, except: ['ada@acme.example'] }))).toEqual([`update ${grace}`]);
    expect(todo(await at.plan({ ...staff, except: [{ id: ids.grace }] }))).toEqual([`update ${ada}`]);
  });

  test('each field has the places of the documents that declare it', async () => {
    const at = await site();
    const plan = await at.plan(
      { ...staff, metadata: phone },
      { kind: 'Users', users: ['grace@globex.example'], group: 'ops', roles: { add: ['member'] } },
    );
    const places = changeOf(plan, grace).fields.map((field) => [
      field.path,
      ...(field.places ?? []).map(({ file, line }) => `${file}:${line}`),
    ]);
    expect(places.sort()).toEqual([
      ['group', 'manifests/1.yaml:6'],
      ['metadata.phone', 'manifests/0.yaml:12'],
      ['roles', 'manifests/0.yaml:6', 'manifests/1.yaml:7'],
    ]);
    expect(changeOf(plan, ada).fields.every(({ places }) => places === undefined)).toBe(true);
  });

  test('a name that looks like an id is not the object with that id', async () => {
    const at = await site();
    const [last] = at.sandbox.data.organizations.slice(-1);
    if (last !== undefined) last.name = ids.acme;
    const [name, id] = [{ name: ids.acme }, { id: ids.acme }];
    const declare = (organizations: Json) => ({ kind: 'User', id: ids.ada, organizations });
    for (const organizations of [[name, id], { add: [name], remove: [id] }])
      expect(todo(await at.plan(declare(organizations)))).toEqual([`update ${ada}`]);
    const removal = { kind: 'Users', users: [{ id: ids.ada }], organizations: { remove: [id] } };
    expect(todo(await at.plan(declare({ add: [name] }), removal))).toEqual([`update ${ada}`]);
    for (const twice of [
      [ids.acme, id],
      [id, { id: ids.acme.toUpperCase() }],
      [name, { ...name }],
    ])
      expect(await problemsOf(at.plan(declare(twice)))).toEqual([
        expect.stringContaining('duplicate-element'),
      ]);
  });

  test('two values for one field are an error with both places, and equal values are fine', async () => {
    const at = await site();
    const one = { kind: 'Users', users: [{ id: ids.ada }], group: 'a' };
    expect(await problemsOf(at.plan(one, { ...one, group: 'b' }))).toEqual(['contradiction 8 8']);
    expect(todo(await at.plan(one, { ...one }))).toEqual([`update ${ada}`]);
    const set = { ...one, organizations: ['initech', 'globex'] };
    const other = { ...one, organizations: ['globex', 'initech'] };
    expect(todo(await at.plan(set, other))).toEqual([`update ${ada}`]);
    // By name and by id, only the server tells.
    const { globex, initech, acme } = ids;
    const named = { id: initech, name: 'initech' };
    const refusal = (...documents: Doc[]): Promise<string> =>
      at.plan(...documents).then(
        (plan) => changeOf(plan, ada).reason ?? '',
        ({ problems }) => problems[0].code,
      );
    for (const organizations of [
      [initech, globex],
      [named, 'globex'],
      [{ id: globex.toUpperCase() }, named],
    ])
      expect(todo(await at.plan(set, { ...one, organizations }))).toEqual([`update ${ada}`]);
    for (const organizations of [[acme, globex], [{ ...named, name: 'acme' }, 'globex'], [initech]])
      expect(await refusal(set, { ...one, organizations })).toMatch(/^contradiction|declared differently/);
    const matched = { ...staff, group: 'b' };
    expect(changeOf(await at.plan({ ...byName, group: 'a' }, matched), ada).reason).toContain(
      '"group" is declared differently at manifests/0.yaml:4 and manifests/1.yaml',
    );
  });

  test('namesakes in different backends are different users', async () => {
    const at = await site();
    addNamesake(at);
    const one = { ...byName, backend: directory, group: 'a', roles: ['member'] };
    const named = (backend: string) => ({ kind: 'Users', users: [{ name: 'ada@acme.example', backend }] });
    const other = { ...named('Partners'), group: 'b', roles: { remove: ['member'] } };
    const both = [`update ${ada}`, `update User/${ids.nobody}`];
    expect(todo(await at.plan(one, other)).sort()).toEqual(both);
    expect(todo(await at.plan({ ...named(directory), group: 'a' }, other)).sort()).toEqual(both);
    expect(await problemsOf(at.plan(one, { ...named(directory), group: 'b' }))).toHaveLength(1);
    // Without a backend, it is the same user, or nobody knows which.
    expect(await problemsOf(at.plan(one, { ...other, users: ['ada@acme.example'] }))).toHaveLength(2);
  });

  test('namesakes that the plan creates in different backends get what was declared for each', async () => {
    const at = await site();
    addNamesake(at);
    const create = (backend: string) => ({
      kind: 'User',
      username: 'new@acme.example',
      backend,
      password: 'correct horse battery',
      create: true,
    });
    const many = (backend: string, group: string) => ({
      kind: 'Users',
      users: [{ name: 'new@acme.example', backend }],
      group,
    });
    for (const backend of at.sandbox.data.backends) backend.type = 'Elixir.BorutaIdentity.Accounts.Internal';
    await at.apply(create(directory), create('Partners'), many(directory, 'a'), many('Partners', 'b'));
    const made = at.sandbox.data.users.filter(({ username }) => username === 'new@acme.example');
    expect(made.map(({ backend_id, group }) => [backend_id, group]).sort()).toEqual([
      [ids.backend, 'a'],
      [ids.nobody, 'b'],
    ]);
    removeRow(at.sandbox.data.users, String(made[0]?.id));
    removeRow(at.sandbox.data.users, String(made[1]?.id));
    const unclear = await at.plan(create(directory), create('Partners'), {
      kind: 'Users',
      users: ['new@acme.example'],
      group: 'a',
    });
    expect(unclear.changes.map(({ action }) => action).sort()).toEqual(['blocked', 'create', 'create']);
  });

  test.each<[string, Doc, string]>([
    ['fewer users than at_least', { ...staff, at_least: 3 }, 'too-few-objects'],
    ['a condition that nothing has', { ...staff, match: { organization: 'nowhere' } }, 'no-such-name'],
    ['neither users nor match', { kind: 'Users', group: 'x' }, 'missing-field'],
    ['an exception by an id that nobody has', { ...staff, except: [{ id: ids.nobody }] }, 'no-such-name'],
    ['an exception that nobody is', { ...staff, except: ['nobody'] }, 'no-such-name'],
    [
      'exceptions without a match',
      { kind: 'Users', users: ['a'], except: ['b'], group: 'x' },
      'missing-field',
    ],
    ['an empty match', { kind: 'Users', match: {}, group: 'x' }, 'wrong-value'],
  ])('%s is an error', async (_, document, code) => {
    const at = await site();
    expect((await problemsOf(at.plan(document))).map((line) => line.split(' ')[0])).toEqual([code]);
  });

  test('a name beside an id must be the name of that user', async () => {
    const at = await site();
    const named = (name: string) => ({ kind: 'Users', users: [{ id: ids.ada, name }], group: 'x' });
    expect(changeOf(await at.plan(named('grace@globex.example')), ada).reason).toContain(
      'is called "ada@acme.example"',
    );
    expect(todo(await at.plan(named('ada@acme.example')))).toEqual([`update ${ada}`]);
  });

  test('a backend beside an id must be the backend of that user', async () => {
    const at = await site();
    addNamesake(at);
    const named = (backend: string) => ({ kind: 'Users', users: [{ id: ids.ada, backend }], group: 'x' });
    for (const backend of [directory, ids.backend])
      expect(todo(await at.plan(named(backend)))).toEqual([`update ${ada}`]);
    expect(changeOf(await at.plan(named('Partners')), ada).reason).toContain(
      'is not in the backend "Partners"',
    );
    expect(changeOf(await at.plan(named('Nope')), ada).reason).toContain('no backend "Nope"');
    const unknown = { kind: 'Users', users: [{ id: ids.portal }], group: 'x' };
    expect(changeOf(await at.plan(unknown), `User/${ids.portal}`).reason).toContain('no user with the id');
    const except = at.plan({ ...staff, except: [{ id: ids.ada, backend: 'Partners' }] });
    expect(await problemsOf(except)).toEqual([expect.stringContaining('no-such-name')]);
    await at.use('documented');
    expect(await problemsOf(at.plan(named(directory)))).toEqual([expect.stringContaining('profile-field')]);
  });

  test('a match accepts both names of an organization that the same plan renames', async () => {
    const at = await site();
    const rename = { kind: 'Organization', id: ids.globex, name: 'globex2' };
    for (const organization of ['globex', 'globex2', { id: ids.globex, name: 'globex2' }]) {
      const plan = await at.plan(rename, { kind: 'Users', match: { organization }, group: 'x' });
      expect(todo(plan)).toEqual(['update Organization/globex2', `update ${ada}`, `update ${grace}`]);
    }
  });

  test('no match is a warning, and a user who leaves the match keeps what they have', async () => {
    const at = await site();
    await at.apply(staff);
    user(at, ids.grace).organizations.splice(0);
    user(at).organizations.splice(0);
    const plan = await at.plan();
    expect(plan.warnings.map(({ code }) => code)).toEqual(['too-few-objects']);
    expect(names(at, 'roles', ids.grace)).toEqual(['accountant']);
  });

  test('the text shows where a document is that covers nobody', async () => {
    const at = await site();
    const nobody = { kind: 'Users', match: { group: 'nobody' }, group: 'x' };
    const text = planText(await at.plan(nobody, { ...nobody, group: 'y' }), { color: false, debug: false });
    for (const file of [0, 1]) expect(text).toMatch(`covers 0 users (manifests/${file}.yaml:2:3)`);
  });

  test('a match leaves out a protected user with a note, and a named one is blocked', async () => {
    const at = await site({ safety: { protect: ['User/grace@*'] } });
    const plan = await at.plan(staff);
    expect(todo(plan)).toEqual([`update ${ada}`]);
    expect(plan.warnings.map(({ code, message }) => [code, message])).toEqual([
      ['left-out', expect.stringContaining('User/grace@globex.example')],
    ]);
    const upper = await site({ safety: { protect: ['User/GRACE@globex.example'] } });
    expect(todo(await upper.plan(staff))).toEqual([`update ${ada}`]);
    const named = await at.plan({ ...staff, users: ['grace@globex.example'] });
    expect(changeOf(named, grace).action).toBe('blocked');
  });

  test('a match leaves out the user of the token, with a note', async () => {
    const payload = Buffer.from(JSON.stringify({ sub: ids.ada })).toString('base64url');
    const token = `e30.${payload}.signature`;
    const at = await site({ tokens: { [token]: ['users:manage:all'] }, ownUser: ids.ada });
    const plan = await at.plan(staff);
    expect(todo(plan)).toEqual([`update ${grace}`]);
    expect(plan.warnings).toMatchObject([
      { code: 'left-out', message: expect.stringContaining('the token that is used is theirs') },
    ]);
  });

  test('a user who leaves the match between plan and request is skipped', async () => {
    const at = await site();
    await at.declare(staff);
    const { statuses } = await at.applyAfter(() => user(at, ids.grace).organizations.splice(0), false);
    expect(statuses[grace]).toMatch(/^skipped/);
    expect(names(at, 'roles', ids.grace)).toEqual([]);
  });

  test('is applied with --kind, and may use the name that the same plan gives an organization', async () => {
    const at = await site();
    await at.declare(
      { kind: 'Organization', id: ids.initech, name: 'initrode' },
      { kind: 'Users', match: { organization: 'globex' }, organizations: { add: ['initrode'] } },
    );
    const ofKind = await at.session((opened) => opened.plan({ kinds: ['User'] }));
    expect(todo(ofKind)).toEqual([`update ${ada}`, `update ${grace}`]);
    const { plan } = await at.apply();
    expect(todo(plan)).toEqual(['update Organization/initrode', `update ${ada}`, `update ${grace}`]);
    expect(names(at, 'organizations')).toContain('initrode');
    expect(todo(await at.plan())).toEqual([]);
  });

  test('warns of a name that the same plan changes', async () => {
    const at = await site();
    const plan = await at.plan(
      { kind: 'Organization', id: ids.initech, name: 'initrode' },
      { kind: 'Users', match: { organization: 'globex' }, organizations: { add: ['initech'] } },
    );
    expect(changeOf(plan, ada).warnings).toMatchObject([
      { code: 'stale-name', message: expect.stringContaining('write "initrode" here too') },
    ]);
  });

  test('a shard applies its share of the users', async () => {
    const at = await site();
    await at.declare(staff);
    const plans = await Promise.all(
      [1, 2].map(async (index) => {
        const project = await loadProject({ cwd: at.folder, variables: { IDOPS_TOKEN: at.sandbox.token } });
        const session = await openSession(project, { shard: { index, count: 2 } });
        const plan = await session.plan();
        await session.close();
        return todo(plan);
      }),
    );
    expect(plans.flat().sort()).toEqual(todo(await at.plan()).sort());
  });
});

describe('access that ends', () => {
  const many = {
    kind: 'Users',
    match: { group: 'staff' },
    roles: { add: ['accountant'] },
    until: '2027-01-31',
  };
  const dated = { ...byName, organizations: { add: [{ name: 'initech', until: '2027-01-31' }, 'globex'] } };
  const before = new Date('2027-01-30T23:59:59Z');
  const after = new Date('2027-01-31T00:00:00Z');

  test("is removed from those who received it, and undo doesn't restore it", async () => {
    const at = await site();
    at.now = before;
    const { plan } = await at.apply(dated);
    expect(plan.holdsUntil).toBe('2027-01-31T00:00:00.000Z');
    expect(names(at, 'organizations')).toEqual(['acme', 'globex', 'initech']);
    expect(todo(await at.plan())).toEqual([]);
    at.now = after;
    const removal = await at.plan();
    expect(changeOf(removal, ada).destructions).toEqual(['removes the membership "initech"']);
    const { run } = await at.apply();
    expect(names(at, 'organizations')).toEqual(['acme', 'globex']);
    expect(todo(await at.plan())).toEqual([]);
    expect(await at.undo(run)).toMatchObject({
      statuses: {},
      left: [`${ada}: access that has ended is not restored`],
    });
  });

  test('stays with those who had it before', async () => {
    const at = await site();
    user(at).organizations.push({ id: ids.initech, roles: [] });
    at.now = before;
    const plan = await at.plan(dated);
    expect(todo(plan)).toEqual([]);
    const told = `: initech of ${ada}; .* remove it, apply, and add it again`;
    const warned = [{ code: 'end-not-in-force', message: expect.stringMatching(told) }];
    expect(plan.warnings).toMatchObject(warned);
    await at.apply();
    at.now = after;
    const later = await at.plan();
    expect(todo(later)).toEqual([]);
    expect(later.warnings).toMatchObject([{ code: 'end-not-in-force' }]);
    expect(names(at, 'organizations')).toEqual(['acme', 'globex', 'initech']);
  });

  test('that has ended is warned about after the state was lost', async () => {
    const at = await site();
    at.now = before;
    await at.apply(dated);
    await rm(join(at.folder, '.idops'), { recursive: true });
    at.now = after;
    const plan = await at.plan();
    expect(todo(plan)).toEqual([]);
    expect(plan.warnings.map(({ code }) => code)).toEqual(['end-not-in-force']);
  });

  test('a changed end is shown and changes the digest, for a whole set too', async () => {
    const at = await site();
    at.now = before;
    const whole = (until: string) => ({ ...byName, organizations: ['acme', { name: 'initech', until }] });
    await at.apply(whole('2027-01-31'));
    const [later, latest] = [await at.plan(whole('2027-02-28')), await at.plan(whole('2027-03-31'))];
    expect(todo(later)).toEqual([`adopt ${ada}`]);
    expect(later.digest).not.toBe(latest.digest);
    await at.apply(whole('2027-02-28'));
    at.now = new Date('2027-02-28T00:00:01Z');
    await at.apply();
    expect(names(at, 'organizations')).toEqual(['acme']);
  });

  test('--ended removes only that, also from a user who has left the match', async () => {
    const at = await site();
    at.now = before;
    await at.apply(many);
    expect(names(at, 'roles')).toContain('accountant');
    user(at).group = 'elsewhere';
    await at.declare(many, { kind: 'User', id: ids.grace, group: 'not now' });
    at.now = after;
    const { plan } = await at.end();
    expect(todo(plan)).toEqual([`update ${ada}`]);
    expect(names(at, 'roles')).not.toContain('accountant');
    expect(user(at, ids.grace).group).not.toBe('not now');
  });

  test('is removed also if another document still declares the user who has left the match', async () => {
    const at = await site();
    at.now = before;
    const own = { ...byName, metadata: { phone: { value: '1', status: 'valid' } } };
    await at.apply(many, own);
    user(at).group = 'elsewhere';
    at.now = after;
    expect(changeOf(await at.plan(), ada).destructions).toEqual(['removes the role "accountant"']);
    await at.apply();
    expect(names(at, 'roles')).toEqual(['member']);
  });

  test('of a whole set is not restored by an undo, which gives no other warning', async () => {
    const at = await site();
    at.now = before;
    await at.apply({ ...byName, organizations: ['acme', { name: 'initech', until: '2027-01-31' }] });
    at.now = after;
    const { run } = await at.apply();
    const undone = await at.undo(run);
    expect(undone).toMatchObject({ statuses: {}, left: [`${ada}: access that has ended is not restored`] });
    expect(undone.plan.warnings).toEqual([]);
    expect(names(at, 'organizations')).toEqual(['acme']);
  });

  test('is recorded even if its change failed after that', async () => {
    const at = await site();
    at.now = before;
    at.fault = ({ path }) =>
      path.startsWith('/api/roles') ? { kind: 'replace', status: 404, body: {} } : undefined;
    const failed = await at.apply({ ...dated, roles: [{ id: ids.nobody }] });
    expect(failed.statuses[ada]).toMatch(/^failed: .*500/);
    expect(names(at, 'organizations')).toContain('initech');
    at.fault = undefined;
    at.now = after;
    await at.apply(dated);
    expect(names(at, 'organizations')).toEqual(['acme', 'globex']);
  });

  test('to an object that no longer exists blocks nothing', async () => {
    const at = await site();
    at.now = before;
    await at.apply(dated);
    removeRow(user(at).organizations, ids.initech);
    removeRow(at.sandbox.data.organizations, ids.initech);
    at.now = after;
    expect(todo(await at.plan())).toEqual([]);
  });

  test('twice, with two ends, is an error with both places', async () => {
    const at = await site();
    const until = (day: string, organization: Json) => ({
      kind: 'Users',
      users: [{ id: ids.ada }],
      organizations: { add: [organization] },
      until: day,
    });
    const ends = [until('2027-01-31', 'initech'), until('2027-02-28', 'initech')];
    expect(await problemsOf(at.plan(...ends))).toEqual([expect.stringContaining('contradiction')]);
    const byId = [until('2027-01-31', 'initech'), until('2027-02-28', { id: ids.initech })];
    expect(changeOf(await at.plan(...byId), ada).reason).toContain('ends differently at manifests/0.yaml');
    const whole = { kind: 'User', id: ids.ada, organizations: ['initech'] };
    expect(await problemsOf(at.plan(whole, until('2027-01-31', 'initech')))).toEqual([
      expect.stringContaining('contradiction'),
    ]);
    const added = await at.plan(whole, until('2027-01-31', { id: ids.initech }));
    expect(changeOf(added, ada).reason).toContain('ends differently');
    const same = [until('2027-01-31', 'initech'), until('2027-01-31T01:00:00+01:00', 'initech')];
    expect(todo(await at.plan(...same))).toEqual([`update ${ada}`]);
  });

  test('--ended prunes nothing', async () => {
    const at = await site();
    await at.apply(template);
    const plan = at.session((opened) => opened.plan({ ended: true, prune: true }));
    expect(await problemsOf(plan)).toEqual(['wrong-option']);
    expect((await at.end()).plan.changes).toEqual([]);
  });

  test('a removed document removes no access, and the plan warns that its end is lost', async () => {
    const at = await site();
    at.now = before;
    await at.apply(dated);
    at.now = after;
    const plan = await at.plan({ ...byName, group: 'staff finance' });
    expect(todo(plan)).toEqual([]);
    expect(plan.warnings.map(({ code }) => code)).toEqual(['unmanaged-end']);
  });

  test.each([byName, { kind: 'Organization', name: 'initech' }])(
    'no plan warns of the end of access that a deletion takes away: %j',
    async (deleted) => {
      const at = await site();
      const internal = { type: 'Elixir.BorutaIdentity.Accounts.Internal' };
      for (const one of at.sandbox.data.backends) Object.assign(one, internal);
      at.now = before;
      await at.apply({ ...byName, organizations: { add: [{ name: 'initech', until: '2027-01-31' }] } });
      const { plan } = await at.apply({ ...deleted, state: 'absent' });
      for (const { warnings } of [
        ...(deleted === byName ? [plan] : []),
        await at.plan(),
        await at.plan({ kind: 'Role', name: 'member' }),
      ])
        expect(warnings).toEqual([]);
    },
  );

  test("a document about another user ends nobody's access", async () => {
    const at = await site();
    at.now = before;
    const organizations = { add: [{ name: 'initech', until: '2027-01-31' }] };
    const other = { kind: 'User', id: ids.grace, organizations };
    await at.apply({ ...byName, organizations }, other);
    const plan = await at.plan(other);
    expect(plan.warnings).toContainEqual({
      code: 'unmanaged-end',
      message: expect.stringContaining(`initech of ${ada}`),
    });
    at.now = after;
    expect(todo(await at.plan())).toEqual([`update User/${ids.grace}`]);
    await at.end();
    expect(names(at, 'organizations')).toContain('initech');
  });

  test('a stored plan is stale from its first end on', async () => {
    const at = await site();
    at.now = before;
    await at.declare(dated);
    const stored = await at.session(async (opened) => await opened.storePlan(await opened.plan()));
    at.now = after;
    const { problems } = await at.session((opened) => opened.planStored(readStoredPlan(stored, 'plan.json')));
    expect(problems.map(({ code }) => code)).toEqual(['stale-plan']);
  });
});
