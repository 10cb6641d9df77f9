import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/base/values.js';
import { startedSeed } from '../e2e/running.js';
import { changeOf, comparable, type Doc, ids, type Site, site, subsets, templateOf, todo } from './site.js';

const advice = /set "profile: boruta" under server/;

/** A configuration that doesn't trust the profile, and a server that a GET reveals only after the first write. */
const unproven = { idopsProfile: 'documented', trusts: false, hides: true } as const;

const scope = (id: string, name: string): Json => ({ id, name, label: name });

describe('the documented profile on Boruta never reports success if something was lost', () => {
  test('users: every subset of the fields, for a user with all and one with few', async () => {
    const seed = await startedSeed();
    const fields: { readonly [field: string]: Json } = {
      group: 'ops',
      metadata: { department: { value: 'audit', status: 'valid' } },
      authorized_scopes: [scope(ids.reportsRead, 'reports:read')],
      organizations: ['acme'],
      blocked: true,
    };
    const start = structuredClone(seed);
    const documents: Doc[] = [];
    for (const declared of subsets(Object.keys(fields))) {
      if (declared.length === 0) continue;
      for (const like of [ids.ada, ids.grace]) {
        const id = `40000000-0000-4000-8000-${String(documents.length + 100).padStart(12, '0')}`;
        const original = seed.users.find((user) => user.id === like);
        if (original === undefined) throw new Error('no such user');
        start.users.push({ ...structuredClone(original), id });
        const values = declared.map((field) => [field, fields[field] ?? null] as const);
        documents.push({ kind: 'User', id, whole: ['metadata'], ...Object.fromEntries(values) });
      }
    }
    const at = await site({ seed: start, ...unproven });
    const ran = await at.apply(...documents);
    for (const { address, status, error } of ran.results) {
      expect([address, status]).toEqual([address, expect.not.stringMatching(/^applied$/)]);
      // Only one result has the advice; skipped results refer to it.
      expect(error, address).toMatch(
        status === 'skipped' ? /looks like a server of the profile boruta/ : advice,
      );
    }
    expect(ran.results.filter(({ error }) => advice.test(error ?? '')).length).toBeGreaterThan(0);
    expect(ran.results).toHaveLength(documents.length);
  });

  test('a recorded value that came back changed is named', async () => {
    const at = await site({ idopsProfile: 'documented' });
    const user = { kind: 'User', id: ids.grace, whole: ['metadata'] };
    const all = { group: 'staff', metadata: {}, authorized_scopes: [], organizations: [] };
    // Both lists must be empty before the server accepts an update without them. The first answer doesn't reveal Boruta.
    at.fault = ({ method }) =>
      method === 'PATCH'
        ? { kind: 'answer', status: 200, body: { data: { id: ids.grace, blocked: false, ...all } } }
        : undefined;
    expect((await at.apply({ ...user, ...all })).results[0]?.status).toBe('applied');
    at.fault = undefined;
    const grace = at.sandbox.data.users.find(({ id }) => id === ids.grace);
    Object.assign(grace ?? {}, all);
    const ran = await at.apply({ ...user, metadata: { a: { value: 1, status: 'valid' } } });
    expect(ran.results[0]?.status).toBe('not_converged');
    const lost = /group: asked "staff", the server has null, although it was not sent/;
    expect(ran.results[0]?.error).toMatch(lost);
  });

  describe('a user whose lists are empty, so that the server answers 200', () => {
    const kept = { department: { value: 'audit', status: 'valid' } };

    async function bare() {
      const seed = await startedSeed();
      for (const user of seed.users) {
        Object.assign(user, { metadata: kept, authorized_scopes: [], organizations: [], roles: [] });
      }
      return await site({ seed, idopsProfile: 'documented' });
    }

    const grace = `User/${ids.grace}`;
    const reason =
      /^the response about User\/\S+ in run \S+ looks like a server of the profile boruta, .*set "profile: boruta" under server and plan again$/;

    test.each([
      ['a field that the server takes', { group: 'newg' }, /shows metadata \{\}, /, /group null/],
      ['a field that the server ignores', { blocked: true }, /shows metadata \{\}, group null, /, /asked/],
    ])(
      '%s: what the answer shows to be lost is named, and no plan is empty',
      async (_, declared, named, not) => {
        const at = await bare();
        const ran = await at.apply({ kind: 'User', id: ids.grace, ...declared });
        expect(ran.results).toMatchObject([{ status: 'not_converged', error: expect.stringMatching(named) }]);
        expect(ran.results[0]?.error).not.toMatch(not);
        const change = changeOf(await at.plan(), grace);
        expect(change).toMatchObject({ action: 'blocked', requests: [] });
        expect(change.reason).toMatch(reason);
        at.writes();
        await expect(at.apply()).rejects.toThrow(/blocked/);
        expect(at.writes()).toEqual([]);
      },
    );

    test('no later run writes another user until the profile is set', async () => {
      const at = await bare();
      await at.apply({ kind: 'User', id: ids.grace, group: 'newg' });
      await at.declare(
        { kind: 'User', id: ids.ada, group: 'other' },
        { kind: 'Organization', name: 'acme', label: 'Renamed' },
        { kind: 'KeyPair', id: ids.firstKey, is_default: true },
      );
      const plan = await at.plan();
      const change = changeOf(plan, `User/${ids.ada}`);
      expect(change).toMatchObject({ action: 'blocked', reason: expect.stringMatching(reason) });
      expect(todo(plan)).toHaveLength(3);
      await at.use('boruta');
      expect((await at.apply()).statuses).toMatchObject({ [`User/${ids.ada}`]: 'applied' });
      const ada = at.sandbox.data.users.find(({ id }) => id === ids.ada);
      expect(ada).toMatchObject({ group: 'other', metadata: kept });
    });

    test('a run that was killed after the answer is remembered from its journal', async () => {
      const at = await bare();
      const { run } = await at.apply({ kind: 'User', id: ids.grace, group: 'newg' });
      const journal = join(at.folder, '.idops', 'runs', `${run}.jsonl`);
      const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
      writeFileSync(journal, `${lines.slice(0, -1).join('\n')}\n`);
      rmSync(join(at.folder, '.idops', 'state.json'));
      expect(changeOf(await at.plan(), grace)).toMatchObject({ action: 'blocked' });
    });
  });

  test('templates: half, both, customised or not', async () => {
    for (const type of ['reset_password_instructions', 'confirmation_instructions']) {
      for (const declared of subsets(['txt_content', 'html_content'])) {
        if (declared.length === 0) continue;
        const at = await site({ idopsProfile: 'documented' });
        const before = templateOf(at, type);
        const was = before === undefined ? undefined : structuredClone(before);
        const values = Object.fromEntries(declared.map((half) => [half, `own ${half}`]));
        const ran = await at.apply({ kind: 'EmailTemplate', backend_id: ids.backend, type, ...values });
        const [result] = ran.results;
        const after = templateOf(at, type);
        const kept = { ...was, ...values };
        const lost = Object.entries(kept).some(
          ([field, value]) => after?.[field as keyof typeof after] !== value,
        );
        expect(result?.status).toBe(lost ? 'not_converged' : 'applied');
        if (lost) expect(result?.error).toMatch(advice);
      }
    }
  });

  test('a body that fell back stays a pending restore until the right profile restores it', async () => {
    const at = await site(unproven);
    const type = 'reset_password_instructions';
    const html = templateOf(at)?.html_content;
    const document = { kind: 'EmailTemplate', backend_id: ids.backend, type, txt_content: 'own' };
    expect((await at.apply(document)).results[0]?.status).toBe('not_converged');
    const owing = changeOf(await at.plan(), `EmailTemplate/${ids.backend}/${type}`);
    // An update under this profile would lose it again, so the plan warns about the pending restore and sends nothing.
    expect(owing).toMatchObject({ action: 'blocked', requests: [] });
    expect(owing.warnings).toContainEqual({
      code: 'restores',
      message: expect.stringMatching(/took away html_content, which this plan restores$/),
    });
    await at.use('boruta');
    expect(Object.values((await at.apply()).statuses)).toEqual(['applied']);
    expect(templateOf(at)).toMatchObject({ txt_content: 'own', html_content: html });
    expect(todo(await at.plan())).toEqual([]);
  });

  test('a built-in template reveals the server', async () => {
    const at = await site({ idopsProfile: 'documented' });
    const identity = { backend_id: ids.backend, type: 'confirmation_instructions' };
    const plan = await at.plan({ kind: 'EmailTemplate', ...identity, txt_content: 'own' });
    expect(plan.warnings).toEqual([{ code: 'other-profile', message: expect.stringMatching(advice) }]);
  });

  test('organizations and key pairs are written as on any server', async () => {
    const at = await site({ idopsProfile: 'documented' });
    const wanted = at.sandbox.snapshot();
    const ran = await at.apply(
      { kind: 'Organization', name: 'acme', label: 'ACME' },
      { kind: 'Organization', id: ids.globex, name: 'globex-2' },
      { kind: 'KeyPair', id: ids.firstKey, is_default: false },
      { kind: 'KeyPair', id: ids.secondKey, is_default: true },
    );
    expect(ran.results.map(({ status }) => status)).toEqual(['applied', 'applied', 'applied', 'applied']);
    Object.assign(wanted.organizations[0] ?? {}, { label: 'ACME' });
    Object.assign(wanted.organizations[1] ?? {}, { name: 'globex-2' });
    Object.assign(wanted.keyPairs[0] ?? {}, { is_default: false });
    Object.assign(wanted.keyPairs[1] ?? {}, { is_default: true });
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(wanted));
    expect(todo(await at.plan())).toEqual([]);
  });
});

describe('32 users under the documented profile', () => {
  const crowd = Array.from(
    { length: 32 },
    (_, index) => `40000000-0000-4000-8000-${String(index + 100).padStart(12, '0')}`,
  );
  const all = (fields: object): Doc[] => crowd.map((id) => ({ kind: 'User', id, ...fields }));

  /** A server with 32 copies of a demo user. */
  async function crowded(like: string, profile: 'documented' | 'boruta' = 'boruta'): Promise<Site> {
    const seed = await startedSeed();
    const users = seed.users.filter(({ id }) => id === like);
    seed.users.push(...crowd.flatMap((id) => users.map((user) => ({ ...structuredClone(user), id }))));
    return await site({ seed, profile, ...unproven });
  }

  /** Applies; returns the results, the number of changed users, and the number of writes. */
  async function applied(at: Site, documents: readonly Doc[]) {
    const before = new Map(at.sandbox.snapshot().users.map((user) => [user.id, JSON.stringify(user)]));
    const { results } = await at.apply(...documents);
    const { users } = at.sandbox.snapshot();
    const touched = users.filter((user) => before.get(user.id) !== JSON.stringify(user));
    return { results, touched: touched.length, writes: at.writes().length };
  }

  test.each([
    ['who have lists, which the server empties and fails at', { group: 'ops' }, ids.ada],
    ['who have none, and whose other fields the server resets', { group: 'ops' }, ids.grace],
    [
      'whose metadata is written',
      { whole: ['metadata'], metadata: { a: { value: 1, status: 'x' } } },
      ids.ada,
    ],
  ])('on Boruta, %s: at most one is touched', async (_, fields, like) => {
    const at = await crowded(like);
    const { results, touched, writes } = await applied(at, all(fields));
    expect(writes).toBe(1);
    expect(touched).toBeLessThanOrEqual(1);
    expect(results.filter(({ status }) => status === 'applied')).toEqual([]);
    const skipped = results.filter(({ status }) => status === 'skipped');
    expect(skipped).toHaveLength(31);
    for (const { error } of skipped) {
      expect(error).toMatch(
        /^not sent: the response for User\/\S+ looks like a server of the profile boruta; its error says what to do$/,
      );
    }
    expect(results.filter(({ error }) => advice.test(error ?? ''))).toHaveLength(1);
    // A later run is blocked too, even if its first user is another one.
    await expect(at.apply(...all(fields).slice(7, 8))).rejects.toThrow(
      /User\/\S+ is blocked: the response about User\/\S+ in run \S+ looks like a server of the profile boruta/,
    );
    expect(at.writes()).toEqual([]);
  });

  test('on Boruta, with a missing first one: at most one more is touched', async () => {
    const at = await crowded(ids.ada);
    const first = { kind: 'User', id: '00000000-0000-4000-8000-000000000000', group: 'ops' };
    const { touched, writes } = await applied(at, [first, ...all({ group: 'ops' }).slice(1)]);
    expect(touched).toBeLessThanOrEqual(1);
    expect(writes).toBeLessThanOrEqual(2);
  });

  test('on Boruta, if the first is refused without a hint: at most one more is touched', async () => {
    const at = await crowded(ids.ada);
    const seen = new Set<string>();
    at.fault = ({ method, path }) => {
      if (method !== 'PATCH' || seen.size > 2) return undefined;
      seen.add(path);
      return seen.size > 2 ? undefined : { kind: 'answer', status: 422, body: { message: 'no' } };
    };
    const { touched, writes } = await applied(at, all({ group: 'ops' }));
    expect(touched).toBeLessThanOrEqual(1);
    expect(writes).toBeLessThanOrEqual(3);
  });

  test('on a documented server are all written', async () => {
    const at = await crowded(ids.ada, 'documented');
    const { results, touched, writes } = await applied(at, all({ group: 'ops' }));
    expect(results.map(({ status }) => status)).toEqual(crowd.map(() => 'applied'));
    expect([touched, writes]).toEqual([32, 32]);
  });
});

test('a documented server gets no such warning', async () => {
  const at = await site({ profile: 'documented' });
  const ran = await at.apply(
    { kind: 'User', id: ids.ada, group: 'ops' },
    { kind: 'User', id: ids.nobody, group: 'ops' },
    { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code', txt_content: 'own' },
  );
  expect(ran.plan.warnings).toEqual([]);
  expect(ran.results.map(({ status }) => status).sort()).toEqual(['applied', 'applied', 'failed']);
  expect(JSON.stringify(ran.results)).not.toContain('boruta');
});

describe('a documented server that changes what it is sent unchanged', () => {
  const template = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'reset_password_instructions' };

  test.each([
    ['gives each version a new id', { id: 'another' }, true],
    ['gives each version a new id, without trust_profile', { id: 'another' }, false],
    ['trims bodies', { html_content: '<p>{{ url }}</p>' }, true],
    ['trims bodies, without trust_profile', { html_content: '<p>{{ url }}</p>' }, false],
  ])('%s: no plan is blocked, and undo works', async (_, change, trusts) => {
    const at = await site({ profile: 'documented', trusts });
    Object.assign(templateOf(at) ?? {}, { html_content: '<p>{{ url }}</p>\n' });
    at.fault = ({ method }) => {
      if (method !== 'PATCH') return undefined;
      const data = { ...templateOf(at), txt_content: 'own {{ url }}', ...change };
      Object.assign(templateOf(at) ?? {}, data);
      return { kind: 'answer', status: 200, body: { data } };
    };
    const ran = await at.apply({ ...template, txt_content: 'own {{ url }}' });
    expect(ran.results).toMatchObject([{ status: 'not_converged' }]);
    expect(todo(await at.plan())).toEqual([]);
    at.fault = undefined;
    const next = await at.apply({ ...template, txt_content: 'other {{ url }}' });
    expect(next.results).toMatchObject([{ status: 'applied' }]);
    expect((await at.undo(next.run)).results).toMatchObject([{ status: 'applied' }]);
  });
});

test('a trusted profile is not checked after an error', async () => {
  const at = await site({ profile: 'documented' });
  at.fault = ({ method }) =>
    method === 'PATCH' ? { kind: 'answer', status: 500, body: { code: 'a', message: 'b' } } : undefined;
  const ran = await at.apply(
    { kind: 'User', id: ids.ada, group: 'ops' },
    { kind: 'User', id: ids.grace, group: 'ops' },
  );
  expect(ran.results.map(({ status }) => status)).toEqual(['unknown', 'unknown']);
  expect(at.sandbox.requests.map(({ path }) => path)).not.toContain('/api/idops-doctor');
});

test.each(['users:manage:all', 'reports:write'])(
  'a scope that the answer calls %s blocks or repeats every later plan',
  async (called) => {
    const at = await site({ profile: 'documented' });
    const user = (group: string): Doc => ({
      kind: 'User',
      id: ids.ada,
      group,
      authorized_scopes: [scope('s1', 'billing:read')],
    });
    at.fault = ({ method }) =>
      method === 'PATCH'
        ? {
            kind: 'answer',
            status: 200,
            body: { data: { id: ids.ada, group: 'a', authorized_scopes: [scope('s1', called)] } },
          }
        : undefined;
    const wrong = new RegExp(`the scope with the id s1 is called "${called}"`);
    expect((await at.apply(user('a'))).results).toMatchObject([
      { status: 'not_converged', error: expect.stringMatching(wrong) },
    ]);
    for (const group of ['a', 'b']) {
      const { changes } = await at.plan(user(group));
      if (called === 'users:manage:all')
        expect(changes).toMatchObject([{ action: 'blocked', reason: expect.stringMatching(wrong) }]);
      else expect(changes[0]?.fields.map(({ path }) => path)).toContain('authorized_scopes');
    }
  },
);

test.each<[string, string, (name: string) => object]>([
  ['scope', 'users:manage:all', (name) => ({ authorized_scopes: [scope('s1', name)] })],
  ['scope', 'billing:read', (name) => ({ authorized_scopes: [scope('s1', name)] })],
  ['role', 'clerk', (name) => ({ organizations: [{ id: ids.acme, roles: [{ id: 'r1', name }] }] })],
])(
  'a user who has a %s that a record calls %s is blocked with another name for it',
  async (_, called, set) => {
    const at = await site({ profile: 'documented', safety: { privileged: [] } });
    const holder = (name: string, more = {}): Doc => ({ kind: 'User', id: ids.ada, ...set(name), ...more });
    at.fault = ({ method }) =>
      method === 'PATCH'
        ? { kind: 'answer', status: 200, body: { data: { id: ids.ada, ...set(called) } } }
        : undefined;
    await at.apply(holder(called));
    const reason = expect.stringContaining(`is called "${called}" on the server, not "openid"`);
    for (const more of [{}, { group: 'x' }])
      expect((await at.plan(holder('openid', more))).changes).toMatchObject([{ action: 'blocked', reason }]);
  },
);

describe('a field that the answer to an update shows and no reading does', () => {
  const hide = (field: string) => (one: object) =>
    Object.fromEntries(Object.entries(one).filter(([name]) => name !== field));

  async function hiding(kind: string, field: string): Promise<Site> {
    const at = await site({ profile: 'documented' });
    at.fault = ({ method, path }) => {
      if (method !== 'GET' || path === '/api/idops-doctor') return undefined;
      const { organizations: all } = at.sandbox.data;
      const list = {
        data: all.map(hide(field)),
        page_number: 1,
        page_size: 50,
        total_pages: 1,
        total_entries: all.length,
      };
      return {
        kind: 'answer',
        status: 200,
        body: kind === 'Organization' ? list : { data: hide(field)(templateOf(at) ?? {}) },
      };
    };
    return at;
  }

  const organization = { kind: 'Organization', id: ids.acme };
  const template = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'reset_password_instructions' };
  test.each([
    [organization, 'label', 'name'],
    [template, 'txt_content', 'html_content'],
  ])('is compared with the record: %o', async (identity, field, other) => {
    const at = await hiding(identity.kind, field);
    for (const text of ['one', 'two']) {
      expect((await at.apply({ ...identity, [field]: text })).results).toMatchObject([{ status: 'applied' }]);
      const { changes } = await at.plan();
      expect(changes).toMatchObject([{ action: 'unchanged', observed: 'recorded' }]);
    }
    // Nobody knows whether an undeclared field is as recorded.
    const { changes } = await at.plan({ ...identity, [other]: 'another' });
    expect(JSON.stringify(changes[0]?.requests)).not.toContain('two');
  });
});
