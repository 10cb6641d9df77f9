import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/plan/plan.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { type Doc, ids, type Site, type SiteOptions, site, todo } from '../boruta/site.js';

const staff = '20000000-0000-4000-8000-000000000002';
const password = 'correct horse battery';

const ada: Doc = { kind: 'User', username: 'new@example.com', backend: 'Staff', password, create: true };

const manyOf = (username: string): Doc => ({ kind: 'Users', users: [username], group: 'a' });

/** A site with the demo data and a backend in which users can be created. */
async function withStaff(backend: object = {}, options: SiteOptions = {}): Promise<Site> {
  const seed = loadSeed('demo');
  const [first] = seed.backends;
  if (first === undefined) throw new Error('the demo data has no backend');
  const type = 'Elixir.BorutaIdentity.Accounts.Internal';
  seed.backends.push({ ...first, id: staff, name: 'Staff', type, is_default: false, ...backend });
  return await site({ seed, ...options });
}

/** The only change of the plan for a document. */
async function changeOf(at: Site, document: Doc): Promise<Change | undefined> {
  return (await at.plan(document)).changes[0];
}

const rowOf = ({ sandbox }: Site) =>
  sandbox.data.users.find(({ username }) => username === 'new@example.com');

describe('a new user', () => {
  it('is created in its backend with its lists, and the next plan is empty', async () => {
    const at = await withStaff();
    const document: Doc = {
      ...ada,
      group: 'staff',
      metadata: { department: { value: 'R&D', status: 'valid' } },
      organizations: ['acme'],
      authorized_scopes: { add: ['billing:read'] },
      roles: [{ name: 'member' }],
    };
    const { plan, results } = await at.apply(document);
    expect(todo(plan)).toEqual(['create User/new@example.com']);
    expect(results).toMatchObject([{ status: 'applied', error: null, unverified: [] }]);
    expect(rowOf(at)).toMatchObject({
      backend_id: staff,
      group: 'staff',
      metadata: { department: { value: 'R&D', status: 'valid' } },
      authorized_scopes: [{ id: ids.billingRead }],
      organizations: [{ id: ids.acme }],
      roles: [{ id: ids.member }],
    });
    expect(todo(await at.plan())).toEqual([]);
    // The password is used only at creation.
    expect(todo(await at.plan({ ...document, password: 'another password' }))).toEqual([]);
  });

  it('has a password that no plan, state or journal shows', async () => {
    const at = await withStaff();
    const { plan } = await at.apply(ada);
    expect(JSON.stringify(plan)).not.toContain(password);
    expect(plan.changes[0]?.fields).toMatchObject([
      { path: 'backend', after: 'Staff' },
      { path: 'password', sensitive: true },
    ]);
    const files = readdirSync(join(at.folder, '.idops'), { recursive: true, encoding: 'utf8' })
      .map((name) => join(at.folder, '.idops', name))
      .filter((path) => statSync(path).isFile());
    expect(files.length).toBeGreaterThan(1);
    for (const path of files) expect(readFileSync(path, 'utf8')).not.toContain(password);
  });

  const nameless: Doc = { kind: 'User', id: ids.nobody, password, create: true };
  const homeless: Doc = { kind: 'User', username: 'n@example.com', password, create: true };
  const company = { ...ada, backend: 'Company directory' };
  it.each<[string, Doc, RegExp]>([
    ['without a password', { ...ada, password: '' }, /a new user needs password/],
    ['without a backend', homeless, /needs backend/],
    ['in an LDAP backend', company, /LDAP/],
    ['with an unknown role', { ...ada, roles: ['nobody'] }, /no role "nobody"/],
    ['with a role twice', { ...ada, roles: ['member', { id: ids.member }] }, /twice/],
    ['with an id', nameless, /leave out the id/],
    ['in an unknown backend', { ...ada, backend: 'Nowhere' }, /no backend "Nowhere"/],
    ['whose name differs in case', { ...company, username: 'ADA@acme.example' }, /"ada@acme.example"/],
    ['that is not to be created', { ...ada, create: false }, /"create: true"/],
    ['that only a document about many names', manyOf('new@example.com'), /no user "new@example.com"/],
  ])('is blocked %s', async (_, document, reason) => {
    expect(await changeOf(await withStaff(), document)).toMatchObject({
      action: 'blocked',
      reason: expect.stringMatching(reason),
    });
  });

  it.each(['short', 'x'.repeat(81)])('needs a password of 12 to 80 characters', async (password) => {
    const at = await withStaff();
    await expect(at.plan({ ...ada, password })).rejects.toThrow(/must have 12 to 80/);
  });

  it.each<[string, object, Doc]>([
    [
      'organizations if the backend adds one',
      { create_default_organization: true },
      { ...ada, organizations: { add: ['acme'] } },
    ],
    [
      'metadata that the backend has no field for',
      {},
      { ...ada, metadata: { color: { value: 'red', status: 'valid' } } },
    ],
  ])('gets with the next plan %s', async (_, backend, document) => {
    const at = await withStaff(backend);
    const { plan, statuses } = await at.apply(document);
    expect(plan.changes).toMatchObject([{ warnings: [{ code: 'follows' }] }]);
    expect(Object.values(statuses)).toEqual(['applied']);
    expect(todo((await at.apply()).plan)).toEqual([expect.stringMatching(/^update User/)]);
    const made = Object.keys(backend).length > 0 ? 2 : 0;
    expect(rowOf(at)?.organizations).toHaveLength(made);
    expect(todo(await at.plan())).toEqual([]);
  });

  it('is completed by the next plan if the creation failed in its lists', async () => {
    const at = await withStaff();
    await at.declare({ ...ada, organizations: ['acme'], roles: ['member'] });
    const { results } = await at.applyAfter(() => at.sandbox.data.roles.splice(0, 1), false);
    expect(results).toMatchObject([{ status: 'failed' }]);
    at.sandbox.data.roles.unshift({ id: ids.member, name: 'member', scopes: [] });
    expect(todo((await at.apply()).plan)).toEqual([expect.stringMatching(/^update User/)]);
    expect(todo(await at.plan())).toEqual([]);
  });

  it('is completed by a Users document in the same plan', async () => {
    const at = await withStaff();
    const { plan } = await at.apply(ada, { ...manyOf('new@example.com'), organizations: { add: ['acme'] } });
    expect(todo(plan)).toEqual(['create User/new@example.com']);
    expect(todo(await at.plan())).toEqual([]);
  });
});

describe('a user with "state: absent"', () => {
  it('is deleted by username or id, once, and not created again by an undo', async () => {
    const at = await withStaff();
    await at.apply(ada);
    const { plan, statuses, run } = await at.apply({
      kind: 'User',
      username: 'new@example.com',
      state: 'absent',
    });
    expect(plan.changes).toMatchObject([
      { action: 'delete', destructions: [expect.stringMatching(/deletes the user/)] },
    ]);
    expect(Object.values(statuses)).toEqual(['applied']);
    expect(todo(await at.plan())).toEqual([]);
    expect(todo(await at.plan({ kind: 'User', id: ids.nobody, state: 'absent' }))).toEqual([]);
    const undone = await at.undo(run);
    expect(undone.plan.changes).toEqual([]);
    expect(undone.left).toEqual([expect.stringMatching(/journals do not store the password/)]);
  });

  it('is blocked in an LDAP backend', async () => {
    const change = await changeOf(await withStaff(), { kind: 'User', id: ids.grace, state: 'absent' });
    expect(change).toMatchObject({ action: 'blocked', reason: expect.stringMatching(/LDAP/) });
  });

  it('has no other fields', async () => {
    const at = await withStaff();
    const document: Doc = { kind: 'User', id: ids.grace, state: 'absent', group: 'staff' };
    await expect(at.plan(document)).rejects.toThrow(/no other fields/);
  });

  it('counts for safety.keep', async () => {
    const at = await withStaff({}, { safety: { keep: [{ scope: 'billing:write', at_least: 1 }] } });
    for (const user of at.sandbox.data.users) user.backend_id = staff;
    expect(await changeOf(at, { kind: 'User', id: ids.ada, state: 'absent' })).toMatchObject({
      action: 'blocked',
      reason: expect.stringMatching(/safety\.keep/),
    });
  });
});
