import { describe, expect, test } from 'vitest';
import { planJson } from '../../src/report/json.js';
import { planText } from '../../src/report/text.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { changeOf, type Doc, ids, journalLines, once, type Site, site, todo } from '../boruta/site.js';
import { boruta, project, succeeded } from '../e2e/running.js';

const second = '20000000-0000-4000-8000-0000000000aa';
const office: Doc = { kind: 'Backend', name: 'Office' };

/** A site with a second backend, which has internal users and a role. */
async function withOffice(options: Parameters<typeof site>[0] = {}) {
  const at = await site(options);
  const { backends } = at.sandbox.data;
  const [first] = backends;
  if (first === undefined) throw new Error('the demo data has no backend');
  const row = {
    ...structuredClone(first),
    id: second,
    name: 'Office',
    type: 'Elixir.BorutaIdentity.Accounts.Internal',
    is_default: false,
  };
  backends.push(row);
  return { ...at, at, first, row };
}

const defaults = ({ sandbox }: Pick<Site, 'sandbox'>) =>
  sandbox.data.backends.filter(({ is_default }) => is_default === true).map(({ name }) => name);

/** The fields of each PATCH of a backend. */
const patches = ({ sandbox }: Pick<Site, 'sandbox'>) =>
  sandbox.requests
    .filter(({ method, path }) => method === 'PATCH' && path.startsWith('/api/backends/'))
    .map(({ body }) => Object.keys((body as { backend: object }).backend).sort());

describe('the default backend', () => {
  test('moves after all other changes, in requests with only the roles, and back by an undo', async () => {
    const { at } = await withOffice();
    const { plan, run, statuses } = await at.apply({ ...office, smtp_relay: 'mx.example', is_default: true });
    expect(plan.changes.flatMap(({ destructions }) => destructions)).toEqual([
      `moves the default backend from Backend/${ids.backend}`,
    ]);
    expect(statuses).toEqual({ 'Backend/Office': 'applied' });
    expect(patches(at)).toEqual([
      ['name', 'roles', 'smtp_relay'],
      ['is_default', 'roles'],
      ['is_default', 'roles'],
    ]);
    expect(defaults(at)).toEqual(['Office']);
    expect(todo(await at.plan())).toEqual([]);
    const undone = await at.undo(run);
    expect(undone.left).toEqual([]);
    expect(defaults(at)).toEqual(['Company directory']);
  });

  test('stays if the server refuses the other fields', async () => {
    const { at } = await withOffice();
    const verifiable_presentations = [{ presentation_identifier: 'card', presentation_definition: 1 }];
    const { statuses } = await at.apply({ ...office, verifiable_presentations, is_default: true });
    expect(statuses['Backend/Office']).toMatch(/^failed: .*verifiable_presentations/);
    expect(patches(at)).toEqual([['name', 'roles', 'verifiable_presentations']]);
    expect(defaults(at)).toEqual(['Company directory']);
  });

  test('is taken by a new backend after its creation', async () => {
    const { at } = await withOffice();
    const { run, statuses } = await at.apply({
      kind: 'Backend',
      name: 'New',
      is_default: true,
      create: true,
    });
    expect(statuses).toEqual({ 'Backend/New': 'applied' });
    expect(defaults(at)).toEqual(['New']);
    expect(todo(await at.plan())).toEqual([]);
    await at.undo(run);
    expect(defaults(at)).toEqual(['Company directory']);
  });

  test.each<[string, string, string]>([
    ['is created if safety.protect has another backend', second, 'create Backend/New'],
    [
      'is not created if safety.protect has the present default',
      ids.backend,
      'blocked Backend/New: it moves',
    ],
    ['is not created if safety.protect has its name', 'Company directory', 'blocked Backend/New: it moves'],
    ['is not created if a pattern has its name', 'company*', 'blocked Backend/New: it moves'],
  ])('%s', async (_, kept, expected) => {
    const { at } = await withOffice({ safety: { protect: [`Backend/${kept}`] } });
    const plan = await at.plan({ kind: 'Backend', name: 'New', is_default: true, create: true });
    expect(todo(plan)).toEqual([expect.stringContaining(expected)]);
  });

  test('moves to a backend that the server still believes to be the default', async () => {
    const { at } = await withOffice();
    const headers = { authorization: `Bearer ${at.sandbox.token}` };
    await at.apply({ ...office, is_default: true });
    await fetch(`${at.sandbox.url}/api/backends/${second}`, { headers });
    await at.apply({ kind: 'Backend', name: 'Company directory', is_default: true });
    const answer = await fetch(`${at.sandbox.url}/api/backends/${second}`, { headers });
    expect(await answer.json()).toMatchObject({ data: { is_default: true } });
    const { statuses } = await at.apply({ ...office, is_default: true });
    expect(statuses).toEqual({ 'Backend/Office': 'applied' });
    expect(defaults(at)).toEqual(['Office']);
  });

  test('is repaired if there is none, and blocked if there are several', async () => {
    const { at, first, row } = await withOffice();
    first.is_default = false;
    const { plan } = await at.apply({ ...office, is_default: true });
    expect(plan.changes.flatMap(({ destructions }) => destructions)).toEqual([
      'moves the default backend: none is the default now',
    ]);
    expect(defaults(at)).toEqual(['Office']);
    for (const one of [first, row]) one.is_default = true;
    at.sandbox.data.backends.push({ ...row, id: ids.nobody, name: 'Third', is_default: false });
    expect(todo(await at.plan({ ...office, name: 'Third', is_default: true }))).toEqual([
      expect.stringMatching(/^blocked Backend\/Third: the server has 2 default backends/),
    ]);
  });

  test('is given up without a request of its own, beside a request for other fields', async () => {
    const { at } = await withOffice();
    const former: Doc = { kind: 'Backend', name: 'Company directory', is_default: false, smtp_from: 'a@b.c' };
    const { plan } = await at.apply(former, { ...office, is_default: true });
    const { requests, warnings } = changeOf(plan, 'Backend/Company directory');
    expect(requests).toMatchObject([{ body: { smtp_from: 'a@b.c' } }]);
    const message =
      'is_default: false is not sent: the server sets it when the other backend becomes the default';
    expect(warnings).toEqual([{ code: 'by-server', message }]);
  });

  test('is given up only to a successor in the plan', async () => {
    const { at } = await withOffice();
    const former: Doc = { kind: 'Backend', name: 'Company directory', is_default: false };
    expect(todo(await at.plan(former))).toEqual([
      expect.stringMatching(/^blocked Backend\/Company directory: no other backend of this plan becomes/),
    ]);
    await at.apply(former, { ...office, is_default: true });
    expect(defaults(at)).toEqual(['Office']);
    expect(todo(await at.plan())).toEqual([]);
    // A backend that isn't the default has nothing to give up.
    expect(todo(await at.plan({ ...former, smtp_from: 'new@example.com' }))).toEqual([
      expect.stringMatching(/^update Backend\/Company directory/),
    ]);
  });
});

test.each<[string, Doc, RegExp]>(
  [
    [
      'an LDAP backend without its directory',
      { type: 'Elixir.BorutaIdentity.Accounts.Ldap', ldap_host: 'ldap.example', ldap_base_dn: null },
      /an LDAP backend needs .*ldap_base_dn: declare/,
    ],
    [
      'options of another password hash',
      { password_hashing_alg: 'bcrypt', password_hashing_opts: { m_cost: 16 } },
      /bcrypt has no option m_cost in password_hashing_opts: it has log_rounds, legacy/,
    ],
    [
      'a verifiable credential without a format',
      {
        verifiable_credentials: [
          { credential_identifier: 'card', version: '13', types: 'Card', claims: [], display: {} },
        ],
      },
      /each element of verifiable_credentials needs format/,
    ],
    [
      'a new federated server without a secret',
      { federated_servers: [{ name: 'partner', client_id: 'us', base_url: 'https://p.example' }] },
      /the new federated server "partner" needs client_secret/,
    ],
  ].map(([name, fields, why]) => [name as string, fields as unknown as Doc, why as RegExp]),
)('%s is blocked before anything is sent, of a new backend too', async (_, fields, why) => {
  const { at } = await withOffice();
  expect(todo(await at.plan({ ...office, ...fields }))).toEqual([expect.stringMatching(why)]);
  const added: Doc = { ...fields, kind: 'Backend', name: 'New', create: true };
  expect(todo(await at.plan(added))).toEqual([expect.stringMatching(why)]);
});

test('metadata fields of a backend are checked', async () => {
  const { at } = await withOffice();
  for (const field of [
    { user_editable: true },
    { attribute_name: 'team', colour: 'red' },
    { attribute_name: 'team', scopes: 'x' },
  ])
    await expect(at.plan({ ...office, metadata_fields: [field] })).rejects.toThrow(
      /attribute_name|colour|scopes/,
    );
});

describe('the roles of a backend', () => {
  test('are sent whole with every update, which would empty them', async () => {
    const { at, row } = await withOffice();
    await at.apply({ ...office, smtp_port: 25 });
    expect(row.roles.map(({ name }) => name)).toEqual(['member']);
    await at.apply({ ...office, roles: { add: ['accountant'] } });
    expect(row.roles.map(({ name }) => name).sort()).toEqual(['accountant', 'member']);
  });

  test('are blocked before anything is sent if one is unknown or declared twice', async () => {
    const { at } = await withOffice();
    const planned = async (roles: Doc['roles'] = []) => todo(await at.plan({ ...office, roles }));
    expect(await planned(['nobody'])).toEqual([expect.stringContaining('the server has no role "nobody"')]);
    expect(await planned(['member', ids.member])).toEqual([
      expect.stringContaining('roles has a role twice: remove one'),
    ]);
  });

  test('that were deleted before a new backend is written are left out, and it is not created again', async () => {
    const { at } = await withOffice();
    const { roles } = at.sandbox.data;
    at.fault = ({ method }) => {
      if (method === 'POST') roles.splice(0, roles.length, ...roles.filter(({ name }) => name !== 'member'));
      return undefined;
    };
    const document: Doc = { kind: 'Backend', name: 'New', roles: ['member', 'accountant'], create: true };
    const { statuses } = await at.apply(document);
    expect(statuses['Backend/New']).toMatch(/roles/);
    await at.apply({ ...document, roles: ['accountant'] });
    const made = at.sandbox.data.backends.filter(({ name }) => name === 'New');
    expect(made.map((one) => one.roles.map(({ name }) => name))).toEqual([['accountant']]);
  });

  test('are restored in the same run after a cut-off update', async () => {
    const { at, row } = await withOffice();
    once(at, 'PATCH', { kind: 'cut', step: 2 });
    await at.apply({ ...office, smtp_port: 26 });
    expect(row).toMatchObject({ smtp_port: 26, roles: [{ name: 'member' }] });
  });

  test('are privileged if they contain a privileged scope', async () => {
    const { at } = await withOffice({ safety: { privileged: ['reports:*'] } });
    const { changes } = await at.plan({ kind: 'Backend', name: 'New', roles: ['member'], create: true });
    expect(changes.map(({ privileges }) => privileges)).toEqual([
      ['gives the scope "reports:read" by the role "member"'],
    ]);
  });
});

describe('secrets of a backend', () => {
  const server = { name: 'partner', client_id: 'us', base_url: 'https://partner.example' };
  const document: Doc = {
    ...office,
    smtp_password: 'declared-one',
    federated_servers: [{ ...server, client_secret: 'declared-two' }],
  };

  test('are restored if somebody changed them, and shown nowhere', async () => {
    const { at, row } = await withOffice();
    await at.apply(document);
    expect(todo(await at.plan())).toEqual([]);
    row.smtp_password = 'drifted-one';
    row.federated_servers = row.federated_servers.map((one) => ({ ...one, client_secret: 'drifted-two' }));
    const plan = await at.plan();
    expect(changeOf(plan, 'Backend/Office').fields.map(({ path, sensitive }) => [path, sensitive])).toEqual([
      ['smtp_password', true],
      ['federated_servers.partner.client_secret', true],
    ]);
    const { statuses } = await at.apply();
    expect(statuses).toEqual({ 'Backend/Office': 'applied' });
    expect(row.smtp_password).toBe('declared-one');
    expect(row.federated_servers).toMatchObject([{ client_secret: 'declared-two' }]);
    const shown = JSON.stringify([planJson(plan, { debug: true }), await journalLines(at)]);
    expect(shown).not.toMatch(/(?:declared|drifted)-(?:one|two)|demo-ldap-password/);
  });

  test('hide nothing else of a federated server that is removed', async () => {
    const { at } = await withOffice();
    await at.apply(document);
    const text = planText(await at.plan({ ...document, federated_servers: [] }), {
      color: false,
      debug: false,
    });
    expect(text).toContain('federated_servers.partner.base_url: "https://partner.example" → (removed)');
    expect(text).toContain('federated_servers.partner.client_secret: (sensitive) → (removed)');
  });

  test('and paths of a federated server that a document leaves out stay', async () => {
    const { at, row } = await withOffice();
    await at.apply(document);
    const [found = {}] = row.federated_servers;
    row.federated_servers = [{ ...found, token_path: '/discovered' }];
    await at.apply({ ...office, federated_servers: [{ ...server, base_url: 'https://new.example' }] });
    expect(row.federated_servers).toMatchObject([
      { base_url: 'https://new.example', token_path: '/discovered', client_secret: 'declared-two' },
    ]);
    expect(todo(await at.plan())).toEqual([]);
  });
});

test('the algorithm of passwords changes together with its options', async () => {
  const { at, row } = await withOffice();
  const document: Doc = { ...office, password_hashing_alg: 'bcrypt' };
  expect(todo(await at.plan(document))).toEqual([
    expect.stringMatching(/^blocked .* declare password_hashing_opts too$/),
  ]);
  const { statuses } = await at.apply({ ...document, password_hashing_opts: { log_rounds: 12 } });
  expect(statuses).toEqual({ 'Backend/Office': 'applied' });
  expect(row).toMatchObject({ password_hashing_alg: 'bcrypt', password_hashing_opts: { log_rounds: 12 } });
});

describe('the deletion of a backend', () => {
  const gone: Doc = { ...office, state: 'absent' };

  test('is blocked if it is the default, or has identity providers or users', async () => {
    const { at } = await withOffice();
    expect(todo(await at.plan({ kind: 'Backend', id: ids.backend, state: 'absent' }))).toEqual([
      expect.stringMatching(
        /^blocked .*: the server refuses to delete it, since it is the default: .*; identity providers use it: .*; users use it: /,
      ),
    ]);
    expect(todo(await at.plan(gone))).toEqual(['delete Backend/Office']);
  });

  test('is possible for the default if another one of the plan takes over', async () => {
    const { at, row } = await withOffice();
    await at.apply({ ...office, is_default: true });
    await at.apply(gone, { kind: 'Backend', id: ids.backend, is_default: true });
    expect(defaults(at)).toEqual(['Company directory']);
    expect(at.sandbox.data.backends).not.toContain(row);
  });

  test('follows that of its identity providers, and is undone with the same id', async () => {
    const { at } = await withOffice();
    const provider: Doc = { kind: 'IdentityProvider', name: 'Office login' };
    await at.apply({ ...provider, backend: 'Office', create: true });
    expect(todo(await at.plan(gone))).toEqual([
      expect.stringContaining('identity providers use it: Office login'),
    ]);
    const { run } = await at.apply(gone, { ...provider, state: 'absent' });
    expect(at.sandbox.data.backends).toHaveLength(1);
    const { left } = await at.undo(run);
    expect(at.sandbox.data.backends.map(({ id, name }) => [id, name])).toContainEqual([second, 'Office']);
    expect(at.sandbox.data.identityProviders).toContainEqual(
      expect.objectContaining({ name: 'Office login', backend_id: second }),
    );
    expect(left.join('\n')).toContain('Backend/Office: the old value was a secret');
  });
});

test('templates and users of a new backend refer to it by name', async () => {
  const { at } = await withOffice();
  const documents: Doc[] = [
    { kind: 'Backend', name: 'New', create: true },
    {
      kind: 'EmailTemplate',
      backend: 'New',
      type: 'tx_code',
      txt_content: 'Code {{ tx_code }}',
      html_content: '<p>{{ tx_code }}</p>',
    },
    { kind: 'User', username: 'new@example.com', backend: 'New', password: 'a-long-password', create: true },
  ];
  const { statuses } = await at.apply(...documents);
  expect(Object.values(statuses)).toEqual(['applied', 'applied', 'applied']);
  const id = at.sandbox.data.backends.find(({ name }) => name === 'New')?.id;
  expect(at.sandbox.data.users).toContainEqual(
    expect.objectContaining({ username: 'new@example.com', backend_id: id }),
  );
  expect(at.sandbox.data.templates.map(({ backend_id }) => backend_id)).toContain(id);
  expect(todo(await at.plan())).toEqual([]);
});

test('a pull writes no secret of a backend, and the plan right after it is empty', async () => {
  const seed = loadSeed('demo');
  const [home] = seed.backends;
  if (home === undefined) throw new Error('the demo data has no backend');
  const server = {
    name: 'partner',
    client_id: 'us',
    base_url: 'https://partner.example',
    token_path: '/token',
  };
  home.federated_servers = [{ ...server, client_secret: 'of-partner' }];
  home.verifiable_credentials = [{ credential_identifier: 'EmployeeCard', format: 'jwt_vc' }];
  const at = await project({ 'idops.yaml': boruta }, { profile: 'boruta', seed });
  await succeeded(at.idops('pull --kind Backend --kind IdentityProvider'));
  const written = await at.read('manifests/backends.yaml');
  for (const line of [
    '    token_path: "/token"\n',
    '  - credential_identifier: EmployeeCard\n',
    'roles:\n  - member\n',
  ])
    expect(written).toContain(line);
  expect(written).not.toMatch(/secret|password:|\$\{/);
  expect(await at.read('manifests/identity-providers.yaml')).toContain('\nbackend: Company directory\n');
  expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
});
