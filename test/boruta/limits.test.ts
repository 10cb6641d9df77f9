import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadManifests } from '../../src/manifests/index.js';
import { loadProject } from '../../src/project/index.js';
import { type Doc, ids, type Site, site } from './site.js';

/** `severity[code] message` of everything that `validate` finds, with the line it is at. */
async function found(at: Site, document: Doc): Promise<string[]> {
  await at.declare(document);
  const project = await loadProject({ cwd: at.folder, variables: {} });
  const { problems } = await loadManifests(project, { lenient: true });
  return problems.map(({ severity, code, message, hint, places: [place] }) => {
    const at = place?.text?.trim() ?? '';
    return `${severity}[${code}] ${message} | ${hint ?? ''} | ${at}`;
  });
}

const user = { kind: 'User', id: ids.ada };
const template = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code' };
const organization = { kind: 'Organization', id: ids.acme };

describe('what the server can not take is refused at its line', () => {
  const cases: readonly [string, Doc, RegExp][] = [
    ['a name of 256', { ...organization, name: 'n'.repeat(256) }, /profile-limit.*"name" has 256.*\| "name"/],
    ['a label of 256', { ...organization, label: 'n'.repeat(256) }, /profile-limit.*"label" has 256/],
    [
      'an empty label',
      { ...organization, label: '' },
      /profile-limit.*becomes null.*write label: null.*\| "label"/,
    ],
    [
      'an empty body',
      { ...template, txt_content: '' },
      /profile-limit.*"txt_content" can't be empty.*\| "txt_content"/,
    ],
    ['a null body', { ...template, html_content: null }, /profile-limit.*"html_content" can't be null/],
    [
      'another type',
      { ...template, type: 'welcome' },
      /profile-limit.*no email template of this type.*tx_code/,
    ],
    [
      'a backend that is no UUID',
      { ...template, backend_id: 'ldap' },
      /profile-limit.*"backend_id" is not a UUID/,
    ],
    ['a user that is no UUID', { ...user, id: 'ada' }, /profile-limit.*"id" is not a UUID.*\| "id"/],
    [
      'upper case',
      { ...user, id: ids.ada.replace('4000', 'ABCD') },
      /profile-limit.*writes its ids in lower case: abcd0000-/,
    ],
    ['a key pair', { kind: 'KeyPair', id: '1', is_default: true }, /profile-limit.*"id" is not a UUID/],
    ['a client', { kind: 'Client', id: '1' }, /profile-limit.*"id" is not a UUID/],
    ['an organization', { ...organization, id: '1' }, /profile-limit.*"id" is not a UUID/],
    [
      'a membership',
      { ...user, organizations: ['acme', { id: '7' }] },
      /profile-limit.*"organizations.1.id" is not a UUID.*\| "id": "7"/,
    ],
    [
      'a role of a membership',
      { ...user, organizations: [{ name: 'acme', roles: [{ id: '7' }] }] },
      /profile-limit.*"organizations.0.roles.0.id" is not a UUID/,
    ],
    ['a role', { ...user, roles: [{ id: '7' }] }, /profile-limit.*"roles.0.id" is not a UUID/],
    [
      'a scope',
      { ...user, authorized_scopes: [{ id: '7', name: 'a' }] },
      /profile-limit.*"authorized_scopes.0.id" is not a UUID/,
    ],
    [
      'metadata without a map',
      { ...user, metadata: { a: 'x' } },
      /profile-limit.*"value" and "status".*\| "a": "x"/,
    ],
    [
      'metadata without a status',
      { ...user, metadata: { a: { value: 1 } } },
      /profile-limit.*"value" and "status"/,
    ],
    [
      'a word twice',
      { ...user, group: 'staff ops staff' },
      /profile-limit.*"group" has "staff" twice.*\| "group"/,
    ],
  ];
  test.each(cases)('%s', async (_, document, wanted) => {
    const at = await site();
    expect(await found(at, document)).toEqual([expect.stringMatching(wanted)]);
    await expect(at.plan()).rejects.toThrow(/profile-limit/);
    expect(at.sandbox.requests).toEqual([]);
    const documented = await site({ uses: 'documented' });
    const problems = await found(documented, document);
    expect(problems.join()).not.toContain('profile-limit');
  });

  const fine: readonly Doc[] = [
    { ...organization, name: '😀'.repeat(255), label: null },
    { ...template, txt_content: ' ' },
    { ...user, metadata: { a: { value: null, status: 'x', more: 1 }, b: null }, group: 'a b' },
    { ...user, organizations: ['not-a-uuid-but-a-name', { name: 'acme' }] },
  ];
  test.each(fine)('what it takes is not: %#', async (document) => {
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
  test.each(ignored)('%j: a warning at its line, in the plan too, and nothing to do', async (document) => {
    const at = await site();
    const field = Object.keys(document).at(-1) ?? '';
    const name = document.kind === 'EmailTemplate' ? '"id"' : `"${field}"`;
    expect(await found(at, document)).toEqual([
      expect.stringMatching(new RegExp(`^warning\\[ignored-field\\].*${name}`)),
    ]);
    const plan = await at.plan();
    expect(plan.changes.map(({ action }) => action)).toEqual(['unchanged']);
    expect(plan.warnings).toEqual([{ code: 'ignored-field', message: expect.stringContaining(name) }]);
  });
});

test('an empty group is null, with a warning', async () => {
  expect(await found(await site(), { ...user, group: '' })).toEqual([
    expect.stringMatching(/^warning\[becomes-null\]/),
  ]);
});

test('roles can not be declared with the documented profile', async () => {
  const at = await site({ uses: 'documented' });
  expect(await found(at, { ...user, roles: [] })).toEqual([
    expect.stringMatching(/^error\[profile-field\].*profile: boruta.*\| "roles"/),
  ]);
});

test('a body over 8 MB is refused at the field that names its file', async () => {
  const at = await site();
  await writeFile(join(at.folder, 'big.html'), 'x'.repeat(8_000_001));
  expect(await found(at, { ...template, txt_content: 'x', html_content: { file: '../big.html' } })).toEqual([
    expect.stringMatching(/profile-limit.*8000\d+ bytes.*\| "html_content"/),
  ]);
});

test('what is sent along counts as well, where a request would be too large', async () => {
  const at = await site();
  const [stored] = at.sandbox.data.templates;
  if (stored === undefined) throw new Error('no template');
  stored.html_content = 'x'.repeat(7_999_900);
  const plan = await at.plan({ ...template, type: stored.type, txt_content: 'y'.repeat(1000) });
  expect(plan.changes[0]).toMatchObject({ action: 'blocked', requests: [] });
  expect(plan.changes[0]?.reason).toMatch(/bytes, and the server takes 8000000/);
});
