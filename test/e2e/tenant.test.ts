import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { project, succeeded } from './running.js';

const folder = 'examples/tenant';
const files = Object.fromEntries(
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
);
const env = { IDOPS_SMTP_PASSWORD: 'of-the-mail-server', IDOPS_FIRST_PASSWORD: 'correct horse battery' };

it('a tenant is created with one command, changed, undone and deleted', async () => {
  const at = await project(files, { profile: 'boruta', seed: 'empty' });
  const { data } = at.sandbox;
  await succeeded(at.idops('apply --yes', { env }));
  expect((await at.idops('plan --detailed-exitcode', { env })).code).toBe(0);
  const [backend] = data.backends;
  const [provider] = data.identityProviders;
  expect(provider?.backend_id).toBe(backend?.id);
  expect(data.clients.map(({ identity_provider: own }) => own)).toEqual([
    expect.objectContaining({ id: provider?.id }),
  ]);
  const backend_id = backend?.id;
  expect(data.users).toMatchObject([
    {
      username: 'ada@acme.example',
      backend_id,
      metadata: { department: { value: 'finance' } },
      roles: [{ name: 'acme accountant' }],
      organizations: [{ id: data.organizations[0]?.id }],
    },
  ]);
  expect(data.templates).toMatchObject([{ backend_id, txt_content: files['emails/reset_password.txt'] }]);
  expect(data.pageTemplates.map(({ type }) => type).sort()).toEqual(['layout', 'new_session']);

  const page = `${files['pages/new_session.html']}<p>Welcome</p>\n`;
  await at.write({
    'pages/new_session.html': page,
    'manifests/login.yaml': (files['manifests/login.yaml'] ?? '').replace('pkce: true', 'pkce: false'),
    'manifests/access.yaml': (files['manifests/access.yaml'] ?? '').replace('label: Acme', 'label: Acme Ltd'),
  });
  await succeeded(at.idops('apply --yes', { env }));
  expect(data.organizations).toMatchObject([{ label: 'Acme Ltd' }]);
  expect(data.pageTemplates).toContainEqual(expect.objectContaining({ content: page }));
  await succeeded(at.idops('undo --last --yes', { env }));
  expect(data.organizations).toMatchObject([{ label: 'Acme' }]);
  expect(data.clients).toMatchObject([{ pkce: true }]);
  expect(data.pageTemplates).toContainEqual(
    expect.objectContaining({ content: files['pages/new_session.html'] }),
  );

  const [organization = ''] = (files['manifests/access.yaml'] ?? '').split('---');
  const emptied = Object.keys(files).filter((path) => path.startsWith('manifests/'));
  await at.write({
    ...Object.fromEntries(emptied.map((path) => [path, '# Nothing is left here.\n'])),
    'manifests/access.yaml': organization,
  });
  await succeeded(at.idops('apply --prune --allow-destructive 100 --yes', { env }));
  const { scopes, roles, backends, users, identityProviders, clients, templates } = data;
  const left = { scopes, roles, backends, users, identityProviders, clients, templates };
  expect(left).toEqual(Object.fromEntries(Object.keys(left).map((name) => [name, []])));
  expect(data.pageTemplates).toEqual([]);
  expect(data.organizations).toMatchObject([{ name: 'acme' }]);

  // No journal contains a password, so the user is not recreated.
  const back = await at.idops('undo --last --yes', { env });
  expect(back.stderr).toContain("the user isn't created again");
  expect(data.templates).toMatchObject([{ txt_content: files['emails/reset_password.txt'] }]);
  expect(data.pageTemplates.map(({ type, content }) => [type, content]).sort()).toEqual([
    ['layout', files['pages/layout.html']],
    ['new_session', files['pages/new_session.html']],
  ]);
  await at.write({ ...files, 'manifests/users.yaml': '# None.\n' });
  const password = { address: 'Backend/Acme staff', fields: [{ path: 'smtp_password' }] };
  expect((await at.json('plan', { env })).changes).toMatchObject([password]);
});

it('a new tenant is undone completely', async () => {
  const at = await project(files, { profile: 'boruta', seed: 'empty' });
  await succeeded(at.idops('apply --yes', { env }));
  const undone = await succeeded(at.idops('undo --last --allow-destructive 20 --yes', { env }));
  expect(undone.stderr).not.toContain('not-undone');
  for (const [name, rows] of Object.entries(at.sandbox.data))
    if (!['keyPairs', 'errorTemplates'].includes(name)) expect(rows, name).toEqual([]);
});
