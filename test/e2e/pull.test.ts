import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSeed } from '../../src/sandbox/seed.js';
import { ids } from '../demo-ids.js';
import {
  boruta,
  borutaProject,
  config,
  failed,
  project,
  refused,
  succeeded,
  type TestProject,
  trustedConfig,
} from './running.js';
import { expectDocumented } from './schemas.js';

/** Runs commands that must succeed. */
async function all(at: TestProject, ...commands: readonly string[]): Promise<void> {
  for (const command of commands) await succeeded(at.idops(command));
}

describe('idops pull into an empty project', () => {
  it('writes manifests and bodies, and then the plan is empty', async () => {
    const at = await borutaProject();
    const pulled = await succeeded(at.idops('pull'));
    for (const path of ['users.yaml', 'clients.yaml', `emails/${ids.backend}/tx_code.html`])
      expect(pulled.stdout).toContain(`wrote manifests/${path}\n`);
    expect(pulled.stdout).toContain('Next: idops plan');
    expect(await at.read('manifests/users.yaml')).toMatch(/^kind: User\nusername: ada@acme\.example\n/);
    expect(await at.idops('validate')).toMatchObject({ code: 0, stdout: '20 objects are valid.\n' });
    const { '.idops/state.json': recorded, ...rest } = await at.files();
    expect(Object.keys(rest).some((path) => path.startsWith('.idops'))).toBe(false);
    await all(at, 'plan --detailed-exitcode', 'pull --check');
    const missing = await failed(at.idops(`pull --user ${ids.nobody}`));
    expect(missing.stdout).toContain('Next: fix the problems above');
    expect(at.writes()).toEqual([]);
    // What is recorded already is not recorded again.
    await succeeded(at.idops('pull'));
    expect(await at.read('.idops/state.json')).toBe(recorded);
  });

  it('accepts incomplete bodies of the server', async () => {
    const strict = config.replace('server:\n', 'server:\n  profile: boruta\n');
    const at = await project({ 'idops.yaml': strict }, { profile: 'boruta' });
    const { templates, pageTemplates, identityProviders } = at.sandbox.data;
    for (const one of templates) Object.assign(one, { txt_content: 'Hello', html_content: 'Hello' });
    const page = { id: ids.nobody, type: 'layout', content: '<b>Closed</b>' };
    const [identity_provider_id = ''] = identityProviders.map(({ id }) => id);
    pageTemplates.push({ ...page, identity_provider_id });
    await succeeded(at.idops('pull'));
    expect(await at.read('manifests/page-templates.yaml')).toContain('identity_provider: Company accounts\n');
    const validated = await succeeded(at.idops('validate'));
    expect(validated.stderr).toContain('warning[missing-link]: no body shows {{ tx_code }}');
    const layout = "warning[missing-link]: the content doesn't show {{> inner_content }}";
    expect(validated.stderr).toContain(layout);
    await all(at, 'plan --detailed-exitcode');
    await at.write({ [`manifests/pages/${identity_provider_id}/layout.html`]: '<b>Closed today</b>' });
    for (const command of ['validate', 'plan']) await failed(at.idops(command));
  });

  it("omits an algorithm that doesn't fit the client's key", async () => {
    const at = await borutaProject();
    const key_pair_type = { type: 'ec', curve: 'P-256' };
    Object.assign(at.sandbox.data.clients[0] ?? {}, { key_pair_type, id_token_signature_alg: 'RS512' });
    const pulled = await succeeded(at.idops('pull --kind Client'));
    expect(pulled.stderr).toMatch(/warning\[left-out\].* id_token_signature_alg.* RS512/);
    const written = await at.read('manifests/clients.yaml');
    expect(written).toContain('curve: P-256');
    expect(written).not.toContain('id_token_signature_alg: RS512');
    await all(at, 'validate', 'plan --detailed-exitcode');
  });

  it("reports what the documented profile can't read, and what to do", async () => {
    const at = await project({ 'idops.yaml': trustedConfig });
    const pulled = await succeeded(at.idops('pull'));
    expect(pulled.stderr).toContain("clients, users and key pairs can't be read with the profile documented");
    expect(pulled.stderr).toContain('--backend ID');
    await all(at, `pull --backend ${ids.backend}`, 'plan --detailed-exitcode');
    expect(await at.read('manifests/email-templates.yaml')).toContain('type: tx_code');
    await failed(at.idops('pull --kind User'));
  });
});

describe('idops pull into a project with manifests', () => {
  it('adds a metadata key that was added on the server, with one GET for the users', async () => {
    const at = await borutaProject();
    await all(at, 'pull --kind User');
    const ada = at.sandbox.data.users.find(({ id }) => id === ids.ada);
    Object.assign(ada?.metadata ?? {}, { desk: { value: '4-12', status: 'valid' } });
    await failed(at.idops('pull --check'));
    expect((await at.idops('plan')).stdout).toContain('metadata.desk');
    await all(at, 'pull', 'pull --check', 'plan --detailed-exitcode');
    expect(await at.read('manifests/users.yaml')).toContain('desk:');
    const lists = at.reads().filter((read) => read.startsWith('GET /api/users?'));
    expect(new Set(lists)).toEqual(new Set(['GET /api/users?page_size=1000']));
  });

  const organizations = `# All of them.
kind: Organization   # the first
id: ${ids.acme}
label: "Old"  # to be mended
---
{kind: Organization, name: globex, label: "Globex Corporation"}
`;

  it('changes only what differs, appends new documents, and keeps comments', async () => {
    const at = await borutaProject({ 'manifests/all.yaml': organizations });
    const checked = await failed(at.idops('pull --kind Organization --check'));
    expect(checked.stdout).toContain('would update manifests/all.yaml\n');
    const asJson = await failed(at.idops('pull --kind Organization --check --format json'));
    expect(asJson.stderr).toContain('would update manifests/all.yaml\n');
    const json = await at.json(`pull --check --user ${ids.nobody}`);
    expectDocumented('A pull', json);
    expect(json).toMatchObject({ check: true, left: [{ code: 'not-found', place: null }] });
    expect(await at.read('manifests/all.yaml')).toBe(organizations);
    await all(at, 'pull --kind Organization --force', 'plan --detailed-exitcode');
    expect(await at.read('manifests/all.yaml')).toBe(
      `${organizations.replace('   # the first', ' # the first').replace('"Old"  #', 'ACME Corp #')}---
kind: Organization
name: initech
label: Initech
---
kind: Organization
name: umbrella
label: null
`,
    );
  });

  it('follows an organization that was renamed on the server, in its document and in references', async () => {
    const at = await borutaProject();
    await succeeded(at.idops('pull'));
    Object.assign(at.sandbox.data.organizations[0] ?? {}, { name: 'acme-group' });
    const pulled = await succeeded(at.idops('pull'));
    expect(pulled.stdout).toContain('0 objects added, 2 updated');
    expect(await at.read('manifests/organizations.yaml')).toMatch(/^kind: Organization\nname: acme-group\n/);
    expect(await at.read('manifests/users.yaml')).toContain('acme-group');
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('keeps a former name if it is a variable, or if another document has the new name', async () => {
    const at = await borutaProject({
      'idops.yaml': `${boruta}vars: {ACME: acme}\n`,
      'manifests/a.yaml': 'kind: Organization\nname: ${ACME}\n',
    });
    await succeeded(at.idops('pull --declared'));
    Object.assign(at.sandbox.data.organizations[0] ?? {}, { name: 'group' });
    for (const [declared, problem] of [
      ['kind: Organization\nname: ${ACME}\n', 'name comes from a variable'],
      ['kind: Organization\nname: acme\n---\nkind: Organization\nname: group\n', 'no organization "acme"'],
    ] as const) {
      await at.write({ 'manifests/a.yaml': declared });
      await failed(at.idops('pull --kind Organization'), problem);
      expect((await at.read('manifests/a.yaml')).startsWith(declared)).toBe(true);
    }
  });

  it('rewrites body files, but not shared ones, links, or values of variables', async () => {
    const template = (type: string, text: string): string =>
      `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${type}\ntxt_content: {file: ${text}}\nhtml_content: {file: shared.html}\n`;
    const manifest = [
      template('tx_code', 'a.txt'),
      template('reset_password_instructions', 'link.txt'),
      `kind: User\nid: ${ids.ada}\ngroup: \${group}\n`,
    ].join('---\n');
    const files = { 'manifests/all.yaml': manifest, 'manifests/a.txt': 'a', 'manifests/shared.html': 'b' };
    const config = { 'idops.yaml': `${boruta}vars: {group: other}\n`, 'elsewhere.txt': 'c' };
    const at = await borutaProject({ ...config, ...files });
    await symlink('../elsewhere.txt', join(at.folder, 'manifests/link.txt'));
    await failed(
      at.idops('pull --kind EmailTemplate --kind User --force'),
      'several fields name the body file manifests/shared.html, and the server has different texts for them',
      'manifests/link.txt is a link',
      'group comes from a variable',
    );
    expect(await at.read('manifests/a.txt')).toContain('your transaction code is');
    expect(await at.read('elsewhere.txt')).toBe('c');
    expect(await at.read('manifests/shared.html')).toBe('b');
    expect((await at.read('manifests/all.yaml')).startsWith(manifest)).toBe(true);
  });

  it("reports what it didn't read, and why nothing was written", async () => {
    const at = await borutaProject({}, { tokens: { limited: ['users:manage:all'] } });
    await refused(at.idops('pull'), 'Nothing was written', '--kind');
    const { stderr } = await (await project({ 'idops.yaml': trustedConfig })).idops('list --type foo');
    expect(stderr).toContain('--type foo: no backend is known, so no template was read');
    const odd = await borutaProject();
    odd.sandbox.data.organizations.push({ id: 'odd', name: 'odd', label: null });
    const quiet = await succeeded(
      odd.idops(`pull --kind Client --kind Organization --client ${ids.portal} --quiet`),
    );
    expect(quiet.stderr).toContain(
      'warning[left-out]: Organization/odd is not fully managed: not written: with the profile boruta no manifest can have its id',
    );
    expect(await odd.read('manifests/clients.yaml')).toContain(`id: ${ids.portal}\n`);
    await all(odd, 'plan --detailed-exitcode');
  });

  it('with --check, omits kinds whose scope the token lacks, and fails', async () => {
    const tokens = { users: ['users:manage:all'] as const };
    const at = await borutaProject({}, { tokens });
    await refused(at.idops('pull'));
    await all(at, 'pull --kind User');
    const of = 'Backend and IdentityProvider and EmailTemplate and PageTemplate';
    const { stdout } = await failed(
      at.idops(`pull --check --client ${ids.portal}`),
      /error\[server-forbidden\]: left out Client and KeyPair: .*clients:manage:all/,
      new RegExp(`error\\[server-forbidden\\]: left out ${of}: .*identity-providers:manage:all`),
    );
    expect(stdout).toMatch(/would write .*organizations.yaml.*unchanged .*users.yaml/s);
    await refused(at.idops('pull --check --kind KeyPair'));
  });

  it('refuses invalid manifests, and reports objects that the server no longer has', async () => {
    const at = await borutaProject({ 'manifests/a.yaml': 'kind: Organisation\n' });
    await refused(at.idops('pull'));
    // Lists don't need the manifests.
    expect((await succeeded(at.idops('list Organization'))).stdout).toContain('acme');
    // Neither does another folder.
    await all(at, 'pull --kind Organization --out fresh');
    await at.write({ 'manifests/a.yaml': 'kind: Organization\nname: nobody\n' });
    const pulling = at.idops('pull --kind Organization --check');
    await failed(pulling, 'the server has no organization "nobody"', '--> manifests/a.yaml:1:1');
  });
});

/** A Boruta with a second backend and a user in it. */
async function partners(username: string): Promise<TestProject> {
  const at = await borutaProject();
  const { users, backends } = at.sandbox.data;
  const second = { id: '20000000-0000-4000-8000-000000000002', name: 'Partners', is_default: false };
  for (const home of backends.slice(0, 1)) backends.push({ ...home, ...second });
  const of = { id: '40000000-0000-4000-8000-000000000003', backend_id: second.id, username };
  for (const ada of users.slice(0, 1)) users.push({ ...structuredClone(ada), ...of });
  return at;
}

describe('names in pulled manifests', () => {
  it('replace ids if they are unique and usable; --by id writes ids', async () => {
    const at = await partners('ada@acme.example');
    const names = ['7d000000-0000-4000-8000-000000000000', 'a${b}', 'twin', 'twin'];
    for (const [index, one] of at.sandbox.data.organizations.entries()) one.name = names[index] ?? '';
    await all(at, 'pull', 'plan --detailed-exitcode', 'pull --check', 'pull --out fresh --by id');
    const written = await at.read('manifests/users.yaml');
    expect(written).toContain('username: ada@acme.example\nbackend: Company directory\n');
    expect(written).toContain('username: ada@acme.example\nbackend: Partners\n');
    expect(written).toContain('username: grace@globex.example\nmetadata');
    expect(written).toContain('- billing:read\n');
    expect(written).toContain(`- id: ${ids.acme}\n`);
    expect(await at.read('manifests/email-templates.yaml')).toContain('backend: Company directory\n');
    expect((await at.read('manifests/organizations.yaml')).match(/^id: /gm)).toHaveLength(4);
    expect(await at.read('fresh/users.yaml')).toContain(`kind: User\nid: ${ids.ada}\n`);
    expect(await at.read('fresh/users.yaml')).not.toMatch(/^ +- \w+$/m);
  });

  it('have the backend too if another user has the name in other letter case', async () => {
    const at = await partners('ADA@acme.example');
    await all(at, 'pull', 'plan --detailed-exitcode', 'pull --check');
    expect(await at.read('manifests/users.yaml')).toContain(
      'username: ADA@acme.example\nbackend: Partners\n',
    );
  });

  it.each(['..', 'a\tb'])('never add a member by a name that no document can use: %j', async (name) => {
    const user = `kind: User\nid: ${ids.ada}\norganizations: [acme]\n`;
    const at = await borutaProject({ 'manifests/a.yaml': user });
    const [organization] = at.sandbox.data.organizations.filter(({ id }) => id === ids.umbrella);
    if (organization !== undefined) organization.name = name;
    const ada = at.sandbox.data.users.find(({ id }) => id === ids.ada);
    if (ada !== undefined) ada.organizations = [{ id: ids.umbrella, roles: [] }];
    await all(at, 'pull --declared --force', 'plan --detailed-exitcode');
    expect(await at.read('manifests/a.yaml')).toContain(`organizations: [{id: ${ids.umbrella}}]\n`);
  });
});

describe('sets with add and remove, and documents about many objects', () => {
  const users = `kind: User
username: ada@acme.example
organizations: {add: [acme, initech], remove: [globex]} # mine
---
kind: Users
match: {organization: globex}
organizations: {add: [globex, umbrella]}
`;

  it("pull removes differences from a document's sets, and only reports documents about many", async () => {
    const at = await borutaProject({ 'manifests/users.yaml': users });
    await failed(at.idops('pull --kind User --force'), 'error[not-pulled]: organizations of User/');
    const expected = users.replace('acme, initech', 'acme').replace('[globex]} #', '[]} #');
    // The second document covers Grace.
    expect(await at.read('manifests/users.yaml')).toBe(expected);
    await failed(at.idops('pull --kind User --check'));
    await at.write({ 'manifests/users.yaml': expected.replace('add: [globex, umbrella]', 'add: [globex]') });
    await all(at, 'plan --detailed-exitcode', 'pull --kind User --check');
    await all(at, `pull --user ${ids.grace} --kind User --force`, 'plan --detailed-exitcode');
    expect(await at.read('manifests/users.yaml')).toContain('username: grace@globex.example\n');
  });

  it('a document for a covered user leaves out what another document declares otherwise', async () => {
    const users = (fields: string) => `kind: Users\nmatch: {group: staff}\n${fields}`;
    const dated = users('organizations: {add: [initech]}\nuntil: 2999-12-31\n');
    const at = await borutaProject({ 'manifests/a.yaml': dated });
    const pull = `pull --user ${ids.ada} --kind User --force`;
    await all(at, 'apply --yes', pull, 'plan --detailed-exitcode');
    expect(await at.read('manifests/a.yaml')).toMatch(/^group: staff finance\nauthorized_scopes/m);
    await at.write({ 'manifests/a.yaml': users('group: other\norganizations: {remove: [acme]}\n') });
    await failed(
      at.idops(pull),
      'group: the document at manifests/a.yaml:3 declares another value',
      'organizations: the document at manifests/a.yaml:4 declares another value',
    );
    expect((await succeeded(at.idops('plan'))).stdout).toContain('group: "staff finance" → "other"');
  });

  it('pull needs no document for a user that a document about many covers', async () => {
    const many = `kind: Users\nusers: [{id: ${ids.ada}}]\norganizations: {add: [acme]}\n`;
    const at = await borutaProject({ 'manifests/a.yaml': many });
    for (const options of ['--declared', `--declared --user ${ids.ada}`]) {
      const checked = await succeeded(at.idops(`pull ${options} --check`));
      expect(checked.stdout).toContain('0 objects added, 0 updated, 0 unchanged.');
    }
    await refused(at.idops(`pull --declared --user ${ids.grace} --check`), 'error[nothing-to-pull]');
  });

  it('pull adds no member to a whole set if a document about many names it', async () => {
    const whole = users.replace(/organizations: .* # mine/, 'organizations: [acme]');
    const declared = whole.replace('add: [globex, umbrella]', 'add: [globex]');
    const at = await borutaProject({ 'manifests/a.yaml': declared });
    await all(at, 'pull --kind User --declared --check', 'plan --detailed-exitcode');
  });
});

describe('idops pull --declared', () => {
  it('updates what is declared, requests nothing else, and adds no document or field', async () => {
    const declared = 'kind: User\nusername: ada@acme.example\ngroup: other\norganizations: []\n';
    const at = await borutaProject({ 'manifests/a.yaml': declared });
    await failed(at.idops('pull --declared --check'));
    await all(at, 'pull --declared --force', 'pull --declared --check');
    const { '.idops/state.json': _, ...files } = await at.files();
    expect(files).toEqual({
      'idops.yaml': boruta,
      'manifests/a.yaml':
        'kind: User\nusername: ada@acme.example\ngroup: staff finance\norganizations:\n  - acme\n  - globex\n',
    });
    const asked = at.sandbox.requests.map(({ path }) => path.replace(/[?].*/, ''));
    expect(new Set(asked)).toEqual(new Set(['/api/users', '/api/organizations']));
    for (const options of [
      ['--user', ids.ada],
      ['--backend', 'Company directory'],
      ['--backend', ids.backend, '--user', ids.ada],
    ]) {
      const checked = await succeeded(at.idopsWith(['pull', '--declared', ...options, '--check']));
      expect(checked.stdout).toContain('1 unchanged');
    }
  });

  const documents = {
    'manifests/a.yaml': 'kind: User\nusername: ada@acme.example\ngroup: staff finance\n',
    'manifests/b.yaml': `kind: User\nid: ${ids.nobody}\ngroup: x\n`,
  };

  it("reports names in documents that the server doesn't have", async () => {
    const lost =
      'kind: User\nusername: nobody\ngroup: x\n---\nkind: EmailTemplate\nbackend: Nowhere\ntype: tx_code\n';
    const gone = 'kind: EmailTemplate\nbackend: Gone\ntype: tx_code\nstate: absent\n';
    const at = await borutaProject({
      ...documents,
      'manifests/b.yaml': `${lost}txt_content: x\n---\n${gone}`,
    });
    const { stdout, stderr } = await failed(
      at.idops('pull --declared --check'),
      'error[not-pulled]: User/nobody: the server has no user "nobody"',
      'error[not-pulled]: EmailTemplate/Nowhere/tx_code: the server has no backend "Nowhere"',
    );
    // Without its backend, the template is as absent as declared.
    expect(stderr).not.toContain('Gone');
    expect(stdout).toContain('0 objects added, 0 updated, 2 unchanged.');
    await succeeded(at.idops(`pull --declared --kind User --user ${ids.ada} --check`));
  });

  it("reports users that the server doesn't have or can't show", async () => {
    const asked = `pull --declared --user ${ids.nobody}`;
    const at = await borutaProject(documents);
    const said = `the server has no user with the id ${ids.nobody}`;
    await at.refused(`${asked} --user ${ids.ada} --check`, said);
    const plain = await project({
      'idops.yaml': trustedConfig,
      'manifests/b.yaml': documents['manifests/b.yaml'],
    });
    await plain.refused(asked, 'no user can be read with the profile documented');
  });
});

describe('idops pull --backend', () => {
  it.each([
    ['an id', ids.backend],
    ['a name', 'Company directory'],
  ])('by %s limits users and templates, and requests nothing else', async (_, backend) => {
    const at = await partners('eve');
    await succeeded(at.idopsWith(['pull', '--backend', backend]));
    const paths = Object.keys(await at.files()).filter((path) => /^manifests[/][^/]*$/.test(path));
    expect(paths).toEqual(['manifests/email-templates.yaml', 'manifests/users.yaml']);
    expect(await at.read('manifests/users.yaml')).not.toContain('eve');
    const kinds = at.sandbox.requests.map(({ path }) => /^[/]api[/]([a-z-]+)/.exec(path)?.[1]);
    expect(new Set(kinds)).toEqual(new Set(['backends', 'users', 'organizations', 'scopes', 'roles']));
    expect(at.sandbox.requests.every(({ path }) => !path.includes('000000000002'))).toBe(true);
    await at.write({ 'manifests/many.yaml': 'kind: Users\nusers: [eve]\ngroup: other\n' });
    await failed(at.idops('pull --backend Partners --kind User --check'));
    await succeeded(at.idopsWith(['pull', '--backend', backend, '--kind', 'User', '--check']));
    const lost = 'error[not-found]: --backend: the server has no backend "Nowhere"';
    await refused(at.idops('pull --backend Nowhere'), lost);
  });
});

describe('an edited manifest', () => {
  const file = 'manifests/organizations.yaml';
  const change = ({ sandbox }: TestProject, label: string) =>
    Object.assign(sandbox.data.organizations[0] ?? {}, { label });

  it('in a git work tree is one with uncommitted changes', async () => {
    const at = await project({
      'idops.yaml': trustedConfig,
      [file]: 'kind: Organization\nname: acme\nlabel: Mine\n',
    });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: at.folder });
    git('init', '-q');
    const pull = async () => (await at.idops('pull --kind Organization')).code;
    expect(await pull()).toBe(1);
    git('add', '.');
    git('commit', '-qm', 'first');
    expect(await pull()).toBe(0);
    expect(await at.read(file)).toContain('label: ACME Corp');
    await at.write({ [file]: (await at.read(file)).replace('ACME Corp', 'Edited') });
    expect(await pull()).toBe(1);
  });

  it('outside git is also one that neither pull nor init wrote', async () => {
    const declared = 'kind: Organization\nname: acme\nlabel: Mine\n';
    const at = await project({ 'idops.yaml': trustedConfig, [file]: declared });
    expect(await at.idops('pull --declared --check')).toMatchObject({ code: 1 });
    await refused(at.idops('pull --declared'), `error[edited-file]: ${file} was edited since`);
    expect(await at.read(file)).toBe(declared);
    await succeeded(at.idops('apply --yes'));
    change(at, 'Theirs');
    await refused(at.idops('pull --declared'), `error[edited-file]: ${file}`);
    await succeeded(at.idops('pull --declared --force'));
    change(at, 'Again');
    await succeeded(at.idops('pull --declared'));
    await rm(join(at.folder, '.idops'), { recursive: true });
    change(at, 'Once more');
    await refused(at.idops('pull --declared'), `error[edited-file]: ${file}`);
    expect(await at.read(file)).toContain('label: Again');
  });

  it('is not overwritten after a pull appended documents', async () => {
    const declared = 'kind: Organization\nname: acme\nlabel: ACME Corp\n---\nkind: KeyPair\nid: ';
    const key = `${ids.firstKey} # mine\n`;
    const at = await borutaProject({ [file]: declared + key });
    await succeeded(at.idops('pull --kind Organization'));
    const added = await at.read(file);
    expect(added.startsWith(`${declared}${key}---\n`)).toBe(true);
    change(at, 'Theirs');
    await refused(at.idops('pull --kind Organization'), `error[edited-file]: ${file}`);
    expect(await at.read(file)).toBe(added);
  });

  it('stays edited if other objects of its file are pulled', async () => {
    const at = await borutaProject();
    await succeeded(at.idops('pull'));
    const users = 'manifests/users.yaml';
    const edited = (await at.read(users)).replace('group: staff finance', 'group: wanted');
    await at.write({ [users]: edited });
    const of = `--user ${ids.grace}`;
    for (const others of [of, '--kind KeyPair', `--declared ${of} --force`]) {
      await at.idops(`pull ${others}`);
      await refused(at.idops('pull'), `error[edited-file]: ${users}`);
    }
    expect(await at.read(users)).toBe(edited);
    const grace = at.sandbox.data.users.find(({ id }) => id === ids.grace);
    Object.assign(grace ?? {}, { group: 'theirs' });
    await refused(at.idops(`pull ${of}`), `error[edited-file]: ${users}`);
    await succeeded(at.idops(`pull ${of} --force`));
    await refused(at.idops('pull'), `error[edited-file]: ${users}`);
    expect(await at.read(users)).toMatch(/group: wanted(.|\n)*group: theirs/);
    await succeeded(at.idops('pull --force'));
    // A pull of one object keeps a file without edits unedited.
    Object.assign(grace ?? {}, { group: 'again' });
    await succeeded(at.idops(`pull ${of}`));
    Object.assign(grace ?? {}, { group: 'once more' });
    await succeeded(at.idops('pull'));
  });
});

describe('idops pull --out', () => {
  it('writes a new set elsewhere, and overwrites nothing', async () => {
    const at = await borutaProject();
    await all(at, 'pull --out fresh', 'pull --out fresh');
    await at.write({ 'fresh/users.yaml': 'mine' });
    const exists = 'error[file-exists]: fresh/users.yaml exists with different content';
    await refused(at.idops('pull --out fresh'), exists);
    expect(await at.read('fresh/users.yaml')).toBe('mine');
    await all(at, 'pull --out manifests');
    await failed(at.idops('pull --out manifests/again'));
    await all(at, 'plan --detailed-exitcode');
  });

  it('explains what to do with the folder, which depends on its place', async () => {
    const at = await project({ 'idops.yaml': trustedConfig, 'p/idops.yaml': trustedConfig, afile: 'x' });
    const cwd = join(at.folder, 'p');
    const out = async (folder: string) => await at.idops(`pull --kind Organization --out ${folder}`, { cwd });
    for (const folder of ['fresh', '../outside', '.'])
      expect((await out(folder)).stdout).toContain('Next: add the folder to "manifests"');
    expect((await out('fresh')).stdout).toContain('0 objects added, 0 updated, 4 unchanged.');
    expect((await out('manifests')).stdout).toContain('Next: idops plan,');
    for (const hidden of ['.idops', '.git/x', '../.git'])
      await failed(out(hidden), 'error[wrong-option]: --out names a hidden folder');
    await failed(out('../afile'), 'error[not-writable]');
    const written = Object.keys(await at.files()).filter((path) => /^(?:p\/)?\.(?:idops|git)/.test(path));
    expect(written).toEqual(['p/.idops/state.json']);
  });

  it('never writes to the path of the state', async () => {
    const state = `${boruta}state: {path: manifests/users.yaml}\n`;
    const at = await borutaProject({ 'idops.yaml': state });
    for (const args of ['pull', 'pull --out manifests'])
      await refused(at.idops(args), /error\[output-is-input\]: \S*manifests\/users\.yaml is not written/);
    expect(Object.keys(await at.files())).toEqual(['idops.yaml']);
  });

  it('never writes through a link', async () => {
    const at = await borutaProject();
    for (const name of ['outside', 'manifests']) await mkdir(join(at.folder, name));
    await symlink('../outside', join(at.folder, 'manifests/emails'));
    for (const args of ['pull', 'pull --check']) await refused(at.idops(args), 'is behind a link');
    expect(Object.keys(await at.files())).toEqual(['idops.yaml']);
  });
});

describe('secrets in pull', () => {
  it('become variables with a list to set, and appear in no file or output', async () => {
    const seed = loadSeed('demo');
    const secret = 'Zm9vYmFyLXNlY3JldA';
    const api_token = { value: secret, status: 'valid' };
    const metadata = { api_token, plain: { value: '${IDOPS_TOKEN}$$', status: '$' } };
    Object.assign(seed.users[0] ?? {}, { metadata });
    Object.assign(seed.organizations[0] ?? {}, { label: `Bearer ${secret}0123` });
    Object.assign(seed.templates[0] ?? {}, { txt_content: `-----BEGIN PRIVATE KEY-----\n${secret}\n` });
    const at = await borutaProject({}, { seed });
    const pulled = await succeeded(at.idops('pull --format json'));
    expect(pulled.stderr).toContain('txt_content contains a credential, which must not be written to a file');
    expectDocumented('A pull', JSON.parse(pulled.stdout));
    const { to_set } = JSON.parse(pulled.stdout) as { to_set: { name: string }[] };
    const label = 'IDOPS_ORGANIZATION_ACME_LABEL';
    const user = { address: `User/${ids.ada}`, path: 'metadata.api_token.value' };
    expect(to_set.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: label, address: 'Organization/acme', path: 'label' },
      { name: expect.stringMatching(/^IDOPS_USER_/), ...user },
    ]);
    const texts = Object.values(await at.files()).join('\n') + pulled.stdout + pulled.stderr;
    const demo = ['demo-smtp-password', 'demo-ldap-password', 'demo-client-secret'];
    for (const one of [secret, ...demo, at.sandbox.token]) expect(texts).not.toContain(one);
    // Until they are set, their values are unknown, and nothing changes.
    expect((await at.idops('pull --check')).stdout).toContain('0 objects added, 0 updated');
    const env = Object.fromEntries(to_set.map(({ name }) => [name, secret]));
    env[label] = `Bearer ${secret}0123`;
    for (const args of ['plan --detailed-exitcode', 'pull --check']) await succeeded(at.idops(args, { env }));
  });
});

describe('idops list', () => {
  it('escapes names of the server, and refuses invalid arguments', async () => {
    const at = await project({});
    Object.assign(at.sandbox.data.organizations[0] ?? {}, { name: 'a\u001b[31m\n::error::b' });
    const listed = await at.idops('list Organization');
    expect(listed.stdout.split('\n')).toHaveLength(5);
    expect(listed.stdout).not.toContain('\u001b');
    await failed(at.idops('list Organisation'), /choices are Scope, Role, Organization/);
    await failed(at.idops('list --backend ..'), 'error[wrong-option]');
    await refused(at.idops('list EmailTemplate --backend nobody'), 'error[not-found]');
  });
});
