import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/plan/plan.js';
import type { SandboxOptions, SandboxSeed } from '../../src/sandbox/index.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { applyAll } from '../approving.js';
import { inPlace, type Place } from '../properties/writing.js';
import { ids } from '../sandbox/asking.js';
import type { Doc } from './generating/values.js';

const staff = '20000000-0000-4000-8000-000000000002';
const password = 'correct horse battery';

/** The demo data with a backend that takes new users. */
function seedWith(backend: object = {}): SandboxSeed {
  const demo = loadSeed('demo');
  const backends = demo.backends.flatMap((row) => [
    row,
    {
      ...row,
      id: staff,
      name: 'Staff',
      type: 'Elixir.BorutaIdentity.Accounts.Internal',
      is_default: false,
      ...backend,
    },
  ]);
  return { ...demo, backends };
}

const ada: Doc = { kind: 'User', username: 'new@example.com', backend: 'Staff', password, create: true };

/** Does the first request with this method, and loses the answer. */
function lost(wanted: string): NonNullable<SandboxOptions['intercept']> {
  let armed = true;
  return ({ method }) => {
    if (method !== wanted || !armed) return undefined;
    armed = false;
    return { kind: 'reset', when: 'after' };
  };
}

async function withServer<T>(backend: object, work: (place: Place) => Promise<T>): Promise<T> {
  return await inPlace({ seed: seedWith(backend), profile: 'boruta' }, work);
}

const plan = async ({ session }: Place) => await session((it) => it.plan());
const apply = async ({ writing }: Place) => await writing(async (it) => await applyAll(it, await it.plan()));

/** The only change of the plan of some documents. */
async function changeOf(place: Place, ...docs: Doc[]): Promise<Change | undefined> {
  place.declare(docs);
  const { changes } = await plan(place);
  return changes.find(({ action }) => action !== 'unchanged');
}

describe('a new user', () => {
  it('is created in its backend with its lists, and the next plan is empty', async () => {
    await withServer({}, async (place) => {
      const document: Doc = {
        ...ada,
        group: 'staff',
        metadata: { department: { value: 'R&D', status: 'valid' } },
        organizations: ['acme'],
        authorized_scopes: { add: ['billing:read'] },
        roles: [{ name: 'member' }],
      };
      const change = await changeOf(place, document);
      expect(change).toMatchObject({ action: 'create', address: 'User/new@example.com' });
      const { result } = await apply(place);
      expect(result.results).toMatchObject([{ status: 'applied', error: null, unverified: [] }]);
      const row = place.sandbox.data.users.find(({ username }) => username === 'new@example.com');
      expect(row).toMatchObject({
        backend_id: staff,
        group: 'staff',
        metadata: { department: { value: 'R&D', status: 'valid' } },
        authorized_scopes: [{ id: ids.billingRead }],
        organizations: [{ id: ids.acme }],
        roles: [{ id: ids.member }],
      });
      expect(await changeOf(place, document)).toBeUndefined();
      // The password is only for a creation.
      expect(await changeOf(place, { ...document, password: 'another password' })).toBeUndefined();
    });
  });

  it('has a password that no plan, state or journal shows', async () => {
    await withServer({}, async (place) => {
      place.declare([ada]);
      const made = await plan(place);
      expect(JSON.stringify(made)).not.toContain(password);
      expect(made.changes[0]?.fields).toMatchObject([
        { path: 'backend', after: 'Staff' },
        { path: 'password', sensitive: true },
      ]);
      await apply(place);
      const files = readdirSync(join(place.folder, '.idops'), { recursive: true, encoding: 'utf8' })
        .map((name) => join(place.folder, '.idops', name))
        .filter((path) => statSync(path).isFile());
      expect(files.length).toBeGreaterThan(1);
      for (const path of files) expect(readFileSync(path, 'utf8')).not.toContain(password);
    });
  });

  it.each<[string, Doc, object, RegExp]>([
    ['without a password', { ...ada, password: '' }, {}, /a new user needs password/],
    [
      'without a backend',
      { kind: 'User', username: 'n@example.com', password, create: true },
      {},
      /needs backend/,
    ],
    ['in an LDAP backend', { ...ada, backend: 'Company directory' }, {}, /LDAP/],
    ['with an unknown role', { ...ada, roles: ['nobody'] }, {}, /no role "nobody"/],
    ['with a role twice', { ...ada, roles: ['member', { id: ids.member }] }, {}, /twice/],
    ['with an id', { kind: 'User', id: ids.nobody, password, create: true }, {}, /leave out the id/],
    ['in an unknown backend', { ...ada, backend: 'Nowhere' }, {}, /no backend "Nowhere"/],
    [
      'whose name differs in case',
      { ...ada, username: 'ADA@acme.example', backend: 'Company directory' },
      {},
      /"ada@acme.example"/,
    ],
    ['that is not to be created', { ...ada, create: false }, {}, /"create: true"/],
  ])('is blocked %s', async (_, document, backend, reason) => {
    await withServer(backend, async (place) => {
      expect(await changeOf(place, document)).toMatchObject({
        action: 'blocked',
        reason: expect.stringMatching(reason),
      });
    });
  });

  it.each(['short', 'x'.repeat(81)])('needs a password of 12 to 80 characters', async (password) => {
    await withServer({}, async (place) => {
      place.declare([{ ...ada, password }]);
      await expect(plan(place)).rejects.toThrow(/must have 12 to 80/);
    });
  });

  it('gets organizations with the next plan if the backend adds one', async () => {
    await withServer({ create_default_organization: true }, async (place) => {
      const document: Doc = { ...ada, organizations: { add: ['acme'] } };
      const change = await changeOf(place, document);
      expect(change?.warnings).toMatchObject([{ code: 'follows' }]);
      expect((await apply(place)).result.results).toMatchObject([{ status: 'applied' }]);
      expect(await changeOf(place, document)).toMatchObject({ action: 'update' });
      await apply(place);
      const row = place.sandbox.data.users.find(({ username }) => username === 'new@example.com');
      expect(row?.organizations).toHaveLength(2);
      expect(await changeOf(place, document)).toBeUndefined();
    });
  });

  it('gets metadata that the backend has no field for with the next plan', async () => {
    await withServer({}, async (place) => {
      const document: Doc = { ...ada, metadata: { color: { value: 'red', status: 'valid' } } };
      expect((await changeOf(place, document))?.warnings).toMatchObject([{ code: 'follows' }]);
      expect((await apply(place)).result.results).toMatchObject([{ status: 'applied' }]);
      expect(await changeOf(place, document)).toMatchObject({ action: 'update' });
      await apply(place);
      expect(await changeOf(place, document)).toBeUndefined();
    });
  });

  it('is not created twice if the answer is lost', async () => {
    await inPlace({ seed: seedWith(), profile: 'boruta', intercept: lost('POST') }, async (place) => {
      place.declare([{ ...ada, group: 'staff' }]);
      expect((await apply(place)).result.results).toMatchObject([{ status: 'applied' }]);
      expect(await changeOf(place, { ...ada, group: 'staff' })).toBeUndefined();
      expect(place.sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    });
  });

  it('whose creation fails in its lists is completed by the next plan', async () => {
    await withServer({}, async (place) => {
      const document: Doc = { ...ada, organizations: ['acme'], roles: ['member'] };
      place.declare([document]);
      const { result } = await place.writing(async (it) => {
        const made = await it.plan();
        place.sandbox.data.roles.splice(0, 1);
        return await applyAll(it, made);
      });
      expect(result.results).toMatchObject([{ status: 'failed' }]);
      place.sandbox.data.roles.unshift({ id: ids.member, name: 'member', scopes: [] });
      expect(await changeOf(place, document)).toMatchObject({ action: 'update' });
      await apply(place);
      expect(await changeOf(place, document)).toBeUndefined();
    });
  });

  it('is completed by a document about many in the same plan', async () => {
    await withServer({}, async (place) => {
      const docs: Doc[] = [
        ada,
        { kind: 'Users', users: ['new@example.com'], organizations: { add: ['acme'] } } as never,
      ];
      const change = await changeOf(place, ...docs);
      expect(change).toMatchObject({ action: 'create' });
      await apply(place);
      expect(await changeOf(place, ...docs)).toBeUndefined();
    });
  });

  it('is never created by a document about many', async () => {
    await withServer({}, async (place) => {
      const change = await changeOf(place, {
        kind: 'Users',
        users: ['new@example.com'],
        group: 'a',
      } as never);
      expect(change).toMatchObject({ action: 'blocked' });
    });
  });

  it('is deleted by an undo', async () => {
    await withServer({}, async (place) => {
      place.declare([ada]);
      const { result } = await apply(place);
      await place.writing(async (it) => {
        const { plan } = await it.planUndo(String(result.run));
        expect(plan.changes).toMatchObject([{ action: 'delete' }]);
        await applyAll(it, plan);
      });
      expect(place.sandbox.data.users).toHaveLength(2);
    });
  });
});

describe('a user with "state: absent"', () => {
  it('is deleted by username or id, once, and not created again by an undo', async () => {
    await withServer({}, async (place) => {
      place.declare([ada]);
      await apply(place);
      const gone: Doc = { kind: 'User', username: 'new@example.com', state: 'absent' };
      expect(await changeOf(place, gone)).toMatchObject({
        action: 'delete',
        destructions: [/deletes the user/],
      });
      const { result } = await apply(place);
      expect(result.results).toMatchObject([{ status: 'applied' }]);
      expect(await changeOf(place, gone)).toBeUndefined();
      expect(await changeOf(place, { kind: 'User', id: ids.nobody, state: 'absent' })).toBeUndefined();
      await place.writing(async (it) => {
        const { plan, left } = await it.planUndo(String(result.run));
        expect(plan.changes).toEqual([]);
        expect(left).toMatchObject([{ reason: expect.stringMatching(/no journal holds the password/) }]);
      });
    });
  });

  it('is blocked in an LDAP backend', async () => {
    await withServer({}, async (place) => {
      const change = await changeOf(place, { kind: 'User', id: ids.grace, state: 'absent' });
      expect(change).toMatchObject({ action: 'blocked', reason: expect.stringMatching(/LDAP/) });
    });
  });

  it('has no other fields', async () => {
    await withServer({}, async (place) => {
      place.declare([{ kind: 'User', id: ids.grace, state: 'absent', group: 'staff' }]);
      await expect(plan(place)).rejects.toThrow(/no other fields/);
    });
  });

  it('counts for safety.keep', async () => {
    await withServer({}, async (place) => {
      for (const user of place.sandbox.data.users) user.backend_id = staff;
      writeFileSync(
        join(place.folder, 'idops.yaml'),
        'version: 1\nserver: {profile: boruta}\nsafety: {keep: [{scope: "billing:write", at_least: 1}]}\n',
      );
      const change = await changeOf(place, { kind: 'User', id: ids.ada, state: 'absent' });
      expect(change).toMatchObject({ action: 'blocked', reason: expect.stringMatching(/safety\.keep/) });
    });
  });
});
