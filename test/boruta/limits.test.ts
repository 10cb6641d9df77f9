import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadProject } from '../../src/project/index.js';
import { validateProject } from '../../src/session/validation.js';
import { boruta, changeFor, declared, live } from '../plan/fixtures.js';
import { type Doc, ids, type Site, site } from './site.js';

/** The problems that `validate` finds, each as `severity[code] message | hint | line`. */
async function found(at: Site, document: Doc): Promise<string[]> {
  await at.declare(document);
  const load = () => loadProject({ cwd: at.folder, variables: {} });
  const { problems } = await validateProject(load, { onSecret: () => {} });
  return problems.map(({ severity, code, message, hint, places: [place] }) => {
    const at = place?.text?.trim() ?? '';
    return `${severity}[${code}] ${message} | ${hint ?? ''} | ${at}`;
  });
}

const user = { kind: 'User', id: ids.ada };
const template = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code' };
const organization = { kind: 'Organization', id: ids.acme };
const scope = { id: 's'.repeat(256), name: 'a' };
const metadata = (a: Doc[string]): Doc => ({ ...user, metadata: { a } });

describe('a value that the server refuses is refused at its line', () => {
  const cases: readonly [Doc, RegExp][] = [
    [{ ...organization, name: 'n'.repeat(256) }, /"name" has 256.*\| "name"/],
    [{ ...organization, label: '' }, /becomes null.*write label: null.*\| "label"/],
    [{ ...template, txt_content: '' }, /"txt_content" can't be empty.*\| "txt_content"/],
    [{ ...template, html_content: null }, /"html_content" can't be null/],
    [{ ...template, type: 'welcome' }, /no email template of this type.*tx_code/],
    [{ ...template, backend_id: 'ldap' }, /"backend_id" is not a UUID/],
    [{ kind: 'IdentityProvider', name: 'a', backend_id: 'ldap' }, /"backend_id" is not a UUID/],
    [
      { kind: 'PageTemplate', identity_provider_id: 'a', type: 'new_session', content: 'a' },
      /"identity_provider_id" is not a UUID/,
    ],
    [{ ...user, id: 'ada' }, /"id" is not a UUID.*\| "id"/],
    [{ ...user, id: ids.ada.replace('4000', 'ABCD') }, /writes its ids in lower case: abcd0000-/],
    [{ kind: 'KeyPair', id: '1', is_default: true }, /"id" is not a UUID/],
    [{ kind: 'Client', id: '1' }, /"id" is not a UUID/],
    [{ ...organization, id: '1' }, /"id" is not a UUID/],
    [{ ...user, organizations: ['a', { id: '7' }] }, /"organizations.1.id" is not a UUID.*\| "id": "7"/],
    [{ ...user, organizations: [{ id: '7', name: 'a' }] }, /"organizations.0.id" is not/],
    [{ ...user, roles: [{ id: '7' }] }, /"roles.0.id" is not a UUID/],
    // The id of a scope can be any text.
    [
      { ...user, authorized_scopes: [scope] },
      /"authorized_scopes.0.id" has 256 characters, and may have 255/,
    ],
    [{ ...user, group: 'g'.repeat(256) }, /"group" has 256.*\| "group"/],
    [{ ...user, group: 'a   b' }, /superfluous spaces in two places/],
    [{ ...user, group: 'a\tb c a\tb' }, /"group" has .* twice/],
    [{ ...user, group: 'staff ops staff' }, /"group" has "staff" twice.*\| "group"/],
    // White space according to Unicode.
    [{ ...organization, name: ' \u00a0\u2003' }, /"name" can't be only white space.*\| "name"/],
    [{ ...organization, label: '\u00a0' }, /"label" of only white space becomes null.*write label: null/],
    [metadata({ value: 1, status: 1 }), /"status" in an element of "metadata" must be a text/],
    [metadata({ value: 1, status: 'x', display: 'x' }), /"display" in .* "metadata" must be a list of texts/],
    [metadata({ value: 1, status: 'x', display: ['x', 1] }), /must be a list of texts/],
    [metadata('x'), /"value" and "status".*\| "a": "x"/],
    [metadata({ value: 1 }), /"value" and "status"/],
  ];
  test.each(cases)('%j', async (document, wanted) => {
    const at = await site();
    const problems = await found(at, document);
    expect(problems).toEqual([expect.stringMatching(wanted)]);
    expect(problems.join()).toContain('error[profile-limit]');
    await expect(at.plan()).rejects.toThrow(/profile-limit/);
    expect(at.sandbox.requests).toEqual([]);
    const documented = await site({ idopsProfile: 'documented' });
    expect((await found(documented, document)).join()).not.toContain('profile-limit');
  });

  const fine: readonly Doc[] = [
    { ...organization, name: '😀'.repeat(255), label: null },
    { ...template, txt_content: ' \u200b' },
    { ...user, metadata: { a: { value: null, status: 'x', more: 1 }, b: null }, group: 'a b' },
    { ...user, metadata: { a: { value: 1, status: '', display: [] } }, group: '😀'.repeat(255) },
    { ...user, metadata: { a: { value: 1, status: 'x', display: ['x', 'y'] } }, group: 'a\tb a\u00a0b' },
    { ...user, group: 'a  b' },
    { ...user, group: ' a' },
    {
      ...user,
      authorized_scopes: [
        { ...scope, id: 's'.repeat(255) },
        { id: '7', name: 'b' },
      ],
    },
    { ...user, organizations: ['not-a-uuid-but-a-name', { name: 'acme' }] },
  ];
  test.each(fine)('a value that it accepts is valid: %#', async (document) => {
    expect(await found(await site(), document)).toEqual([]);
  });
});

describe('fields that the server ignores', () => {
  const ignored: readonly Doc[] = [
    { ...user, blocked: true },
    { ...user, username: 'a' },
    { ...user, uid: 'a' },
    { ...user, totp_registered_at: '2026-01-31T12:00:00Z' },
    { ...user, federated_metadata: { a: 1 } },
    { ...user, backend: { smtp_port: 25 } },
    { kind: 'KeyPair', id: ids.firstKey, public_key: 'x' },
    { ...template, id: 'x' },
  ];
  test.each(ignored)(
    '%j: an error at its line, blocked in the plan, unless it is accepted',
    async (document) => {
      const at = await site();
      const field = Object.keys(document).at(-1) ?? '';
      expect(await found(at, document)).toEqual([
        expect.stringMatching(new RegExp(`^error\\[ignored-field\\].*"${field}".*\\| "${field}"`)),
      ]);
      const { changes, warnings } = await at.plan();
      expect(changes).toMatchObject([{ action: 'blocked', requests: [] }]);
      expect(changes[0]?.reason).toContain(`the server ignores "${field}"`);
      expect(changes[0]?.reason).toContain(`"ignored: [${field}]"`);
      expect(warnings).toEqual([]);

      const accepted = { ...document, ignored: [field] };
      expect(await found(at, accepted)).toEqual([]);
      const plan = await at.plan();
      expect([...plan.changes, ...plan.warnings]).toMatchObject([{ action: 'unchanged' }]);
    },
  );

  test('a value that is already live is fine in a plan, alone or as part of an object', async () => {
    const at = await site();
    const backend = { id: ids.backend, name: 'Company directory' };
    const username = 'ada@acme.example';
    await at.declare({ ...user, username, federated_metadata: {}, backend, group: 'new' });
    expect((await at.plan()).changes).toMatchObject([{ action: 'update', fields: [{ path: 'group' }] }]);
    await at.declare({ ...user, backend: { ...backend, name: 'other' }, group: 'new' });
    expect((await at.plan()).changes).toMatchObject([{ action: 'blocked', fields: [{ path: 'group' }] }]);
  });

  test("a field that no server ignores can't be listed in ignored", async () => {
    expect(await found(await site(), { ...user, ignored: ['blokced', 'group'] })).toEqual([
      expect.stringMatching(/^error\[wrong-value\].*"ignored\[0\]".*did you mean "blocked"/),
      expect.stringMatching(/^error\[wrong-value\].*"ignored\[1\]"/),
    ]);
  });
});

test.each(['', ' ', '   ', '\u00a0\t'])('an empty group is null, with a warning: %j', async (group) => {
  const at = await site();
  expect(await found(at, { ...user, group })).toEqual([expect.stringMatching(/^warning\[becomes-null\]/)]);
  await at.apply({ ...user, group });
  expect((await at.plan()).changes.map(({ action }) => action)).toEqual(['unchanged']);
  expect(at.sandbox.data.users.find(({ id }) => id === ids.ada)?.group).toBeNull();
});

describe("a member that is twice in a user's list", () => {
  const upper = ids.acme.toUpperCase();
  const [scope, role] = [{ id: '1', name: 'a' }, { id: ids.acme }];
  const documents: readonly [string, Doc][] = [
    ['an organization, by its id alone', { ...user, organizations: [{ id: ids.acme }, ids.acme] }],
    ['a scope', { ...user, authorized_scopes: [scope, { ...scope, name: 'b' }] }],
    ['a role', { ...user, roles: [{ id: ids.acme }, { id: ids.acme, name: 'b' }] }],
    ['a role of a membership', { ...user, organizations: [{ name: 'acme', roles: [role, role] }] }],
    ['an id in capitals too', { ...user, organizations: [{ id: ids.acme }, { id: upper }] }],
  ];
  test.each(documents)('is refused: %s', async (_, document) => {
    const problems = await found(await site(), document);
    expect(problems.join('\n')).toMatch(/error\[duplicate-element\] ".*" is twice in /);
  });
});

describe('an id in upper case, which bypasses the protection of the own user,', () => {
  const upper = ids.ada.replace('4000', 'ABCD').toUpperCase();

  test('is refused in a document and from a variable', async () => {
    const at = await site();
    expect((await found(at, { ...user, id: upper })).join()).toContain('profile-limit');
  });

  test('is not sent for a regeneration', async () => {
    const at = await site();
    const plan = await at.session((session) => session.planRegeneration(upper));
    expect(plan.changes).toMatchObject([{ action: 'blocked', requests: [] }]);
    expect(plan.changes[0]?.reason).toContain('not a UUID in lower case');
    expect(at.sandbox.requests).toEqual([]);
  });

  test('is not sent for any plan, whatever its source', () => {
    const document = declared('User', { id: upper }, { group: 'a' }, { remembered: true });
    const fields = { metadata: {}, group: null, authorized_scopes: [], organizations: [], roles: [] };
    const change = changeFor(document, { live: live({ id: upper }, fields), profile: boruta });
    expect(change).toMatchObject({ action: 'blocked', requests: [] });
  });
});

test("roles inside a membership can't be declared under boruta, not even an empty list", async () => {
  const at = await site();
  const organizations = ['acme', { name: 'globex', roles: [] }];
  expect(await found(at, { ...user, organizations })).toEqual([
    expect.stringMatching(/^error\[profile-field\].*roles belong to the user.*\| "roles"/),
  ]);
});

test("roles can't be declared under documented", async () => {
  const at = await site({ idopsProfile: 'documented' });
  expect(await found(at, { ...user, roles: [] })).toEqual([
    expect.stringMatching(/^error\[profile-field\].*profile: boruta.*\| "roles"/),
  ]);
});

test('a body over 8 MB is refused at the field that names its file', async () => {
  const at = await site();
  await writeFile(join(at.folder, 'big.html'), 'x'.repeat(8_000_001));
  const all = await found(at, { ...template, txt_content: 'x', html_content: { file: '../big.html' } });
  expect(all.filter((one) => one.startsWith('error'))).toEqual([
    expect.stringMatching(/profile-limit.*8000\d+ bytes.*\| "html_content"/),
  ]);
});

test('undeclared values count towards the size of a request too', async () => {
  const at = await site();
  const [stored] = at.sandbox.data.templates;
  if (stored === undefined) throw new Error('no template');
  stored.html_content = 'x'.repeat(7_999_900);
  const plan = await at.plan({ ...template, type: stored.type, txt_content: 'y'.repeat(1000) });
  expect(plan.changes[0]).toMatchObject({ action: 'blocked', requests: [] });
  expect(plan.changes[0]?.reason).toMatch(/bytes, and the server accepts 8000000/);
});
