import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSeed } from '../../src/sandbox/seed.js';
import { ids } from '../sandbox/asking.js';
import {
  boruta,
  borutaProject,
  config,
  failed,
  project,
  refused,
  succeeded,
  sure,
  type TestProject,
} from './running.js';
import { expectToBeTold } from './schemas.js';

describe('idops pull into an empty project', () => {
  it('writes manifests and bodies, and the plan right after it is empty', async () => {
    const at = await borutaProject();
    const pulled = await succeeded(at.idops('pull'));
    expect(pulled.stdout).toContain('wrote manifests/users.yaml\n');
    expect(pulled.stdout).toContain(`wrote manifests/emails/${ids.backend}/tx_code.html\n`);
    expect(pulled.stdout).toContain('Next: idops plan');
    expect(pulled.stdout).toContain('wrote manifests/clients.yaml\n');
    expect(await at.read('manifests/users.yaml')).toMatch(/^kind: User\nusername: ada@acme\.example\n/);
    expect(await at.idops('validate')).toMatchObject({ code: 0, stdout: '20 objects are valid.\n' });
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    const { '.idops/state.json': recorded, ...rest } = await at.files();
    expect(Object.keys(rest).some((path) => path.startsWith('.idops'))).toBe(false);
    expect(await at.idops('pull --check')).toMatchObject({ code: 0 });
    const missing = await at.idops('pull --user 40000000-0000-4000-8000-000000000099');
    expect(missing).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Next: fix the problems above'),
    });
    expect(at.writes()).toEqual([]);
    // What is known already is not recorded again.
    expect((await at.idops('pull')).code).toBe(0);
    expect(await at.read('.idops/state.json')).toBe(recorded);
  });

  it('accepts the bodies that the server has, whatever they lack', async () => {
    const strict = config.replace('server:\n', 'server:\n  profile: boruta\n');
    const at = await project({ 'idops.yaml': strict }, { profile: 'boruta' });
    const { templates, pageTemplates, identityProviders } = at.sandbox.data;
    const [provider] = identityProviders;
    for (const one of templates) Object.assign(one, { txt_content: 'Hello', html_content: 'Hello' });
    pageTemplates.push({
      id: ids.nobody,
      identity_provider_id: provider?.id ?? '',
      type: 'layout',
      content: '<b>Closed</b>',
    });
    await succeeded(at.idops('pull'));
    expect(await at.read('manifests/page-templates.yaml')).toContain('identity_provider: Company accounts\n');
    const validated = await succeeded(at.idops('validate'));
    expect(validated.stderr).toContain('warning[missing-link]: no body shows {{ tx_code }}');
    expect(validated.stderr).toContain(
      "warning[missing-link]: the content doesn't show {{> inner_content }}",
    );
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    await at.write({ [`manifests/pages/${provider?.id}/layout.html`]: '<b>Closed today</b>' });
    for (const command of ['validate', 'plan'])
      expect(await at.idops(command), command).toMatchObject({ code: 1 });
  });

  it('leaves out an algorithm that the key of a client does not fit', async () => {
    const at = await borutaProject();
    const [client] = at.sandbox.data.clients;
    Object.assign(client ?? {}, {
      key_pair_type: { type: 'ec', curve: 'P-256' },
      id_token_signature_alg: 'RS512',
    });
    const pulled = await succeeded(at.idops('pull --kind Client'));
    expect(pulled.stderr).toMatch(/warning\[left-out\].* id_token_signature_alg.* RS512/);
    const written = await at.read('manifests/clients.yaml');
    expect(written).toContain('curve: P-256');
    expect(written).not.toContain('id_token_signature_alg: RS512');
    await succeeded(at.idops('validate'));
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('under the documented profile says what can not be read, and what to do', async () => {
    const at = await project({ 'idops.yaml': sure });
    const pulled = await succeeded(at.idops('pull'));
    expect(pulled.stderr).toContain("clients, users and key pairs can't be read with the profile documented");
    expect(pulled.stderr).toContain('--backend ID');
    expect(await at.idops(`pull --backend ${ids.backend}`)).toMatchObject({ code: 0 });
    expect(await at.read('manifests/email-templates.yaml')).toContain('type: tx_code');
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    expect(await at.idops('pull --kind User')).toMatchObject({ code: 1 });
  });
});

describe('idops pull into a project that has manifests', () => {
  it('takes in a metadata key that somebody added, with one GET for the users', async () => {
    const at = await borutaProject();
    expect((await at.idops('pull --kind User')).code).toBe(0);
    const ada = at.sandbox.data.users.find(({ id }) => id === ids.ada);
    Object.assign(ada?.metadata ?? {}, { desk: { value: '4-12', status: 'valid' } });
    expect(await at.idops('pull --check')).toMatchObject({ code: 1 });
    expect((await at.idops('plan')).stdout).toContain('metadata.desk');
    expect(await at.idops('pull')).toMatchObject({ code: 0 });
    expect(await at.read('manifests/users.yaml')).toContain('desk:');
    expect(await at.idops('pull --check')).toMatchObject({ code: 0 });
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    const lists = at.sandbox.requests
      .map(({ path }) => path)
      .filter((path) => path.startsWith('/api/users?'));
    expect(new Set(lists)).toEqual(new Set(['/api/users?page_size=1000']));
  });

  const organizations = `# All of them.
kind: Organization   # the first
id: ${ids.acme}
label: "Old"  # to be mended
---
{kind: Organization, name: globex, label: "Globex Corporation"}
`;

  it('changes what differs and nothing else, adds what is new behind it, and keeps comments', async () => {
    const at = await borutaProject({ 'manifests/all.yaml': organizations });
    const checked = await at.idops('pull --kind Organization --check');
    expect(checked).toMatchObject({ code: 1 });
    expect(checked.stdout).toContain('would update manifests/all.yaml\n');
    const json = await at.idops(`pull --check --format json --user 40000000-0000-4000-8000-000000000099`);
    expectToBeTold('A pull', JSON.parse(json.stdout));
    expect(JSON.parse(json.stdout)).toMatchObject({
      check: true,
      left: [{ code: 'not-found', place: null }],
    });
    expect(await at.read('manifests/all.yaml')).toBe(organizations);
    expect(await at.idops('pull --kind Organization --force --format json')).toMatchObject({ code: 0 });
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
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('follows an organization that was renamed on the server, in its document and where others name it', async () => {
    const at = await borutaProject();
    await succeeded(at.idops('pull'));
    const acme = at.sandbox.data.organizations.find(({ name }) => name === 'acme');
    if (acme !== undefined) acme.name = 'acme-group';
    const pulled = await succeeded(at.idops('pull'));
    expect(pulled.stdout).toContain('0 objects added, 2 updated');
    expect(await at.read('manifests/organizations.yaml')).toMatch(/^kind: Organization\nname: acme-group\n/);
    expect(await at.read('manifests/users.yaml')).toContain('acme-group');
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('leaves a former name that comes from a variable, or beside a document of the new name', async () => {
    const at = await project(
      {
        'idops.yaml': `${boruta}vars: {ACME: acme}\n`,
        'manifests/a.yaml': 'kind: Organization\nname: ${ACME}\n',
      },
      { profile: 'boruta' },
    );
    await succeeded(at.idops('pull --declared'));
    Object.assign(at.sandbox.data.organizations.find(({ name }) => name === 'acme') ?? {}, { name: 'group' });
    for (const [declared, problem] of [
      ['kind: Organization\nname: ${ACME}\n', 'name comes from a variable'],
      ['kind: Organization\nname: acme\n---\nkind: Organization\nname: group\n', 'no organization "acme"'],
    ] as const) {
      await at.write({ 'manifests/a.yaml': declared });
      await failed(at.idops('pull --kind Organization'), problem);
      expect((await at.read('manifests/a.yaml')).startsWith(declared)).toBe(true);
    }
  });

  it('writes bodies anew where documents name their files, and leaves what is shared, a link or from a variable', async () => {
    const template = (type: string, rest: string): string =>
      `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${type}\n${rest}`;
    const manifest = [
      template('tx_code', 'txt_content: {file: a.txt}\nhtml_content: {file: shared.html}\n'),
      template(
        'reset_password_instructions',
        'txt_content: {file: link.txt}\nhtml_content: {file: shared.html}\n',
      ),
      `kind: User\nid: ${ids.ada}\ngroup: \${group}\n`,
    ].join('---\n');
    const files = { 'manifests/all.yaml': manifest, 'manifests/a.txt': 'a', 'manifests/shared.html': 'b' };
    const at = await project(
      { 'idops.yaml': `${boruta}vars: {group: other}\n`, ...files },
      { profile: 'boruta' },
    );
    await writeFile(join(at.folder, 'elsewhere.txt'), 'c');
    await symlink('../elsewhere.txt', join(at.folder, 'manifests/link.txt'));
    const pulled = await at.idops('pull --kind EmailTemplate --kind User --force');
    expect(pulled.code).toBe(1);
    expect(pulled.stderr).toContain(
      'manifests/shared.html is named in several places that need different texts',
    );
    expect(pulled.stderr).toContain('manifests/link.txt is a link');
    expect(pulled.stderr).toContain('group comes from a variable');
    expect(await at.read('manifests/a.txt')).toContain('your transaction code is');
    expect(await at.read('elsewhere.txt')).toBe('c');
    expect(await at.read('manifests/shared.html')).toBe('b');
    expect((await at.read('manifests/all.yaml')).startsWith(manifest)).toBe(true);
  });

  it('says of what it did not ask for that it did not, and what follows a refusal', async () => {
    const at = await borutaProject({}, { tokens: { limited: ['users:manage:all'] } });
    await refused(at.idops('pull'), 'Nothing was written', '--kind');
    const plain = await project({ 'idops.yaml': sure });
    const { stderr } = await plain.idops('list --type foo');
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
    expect(await odd.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('with --check, leaves out the kinds whose scope the token lacks, says so and fails', async () => {
    const tokens = { users: ['users:manage:all'] as const };
    const at = await borutaProject({}, { tokens });
    expect(await at.idops('pull')).toMatchObject({ code: 1, stdout: '' });
    expect(await at.idops('pull --kind User')).toMatchObject({ code: 0 });
    const checked = await at.idops('pull --check --client 60000000-0000-4000-8000-000000000001');
    expect(checked).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/would write .*organizations.yaml.*unchanged .*users.yaml/s),
    });
    for (const [kinds, scope] of [
      ['Client and KeyPair', 'clients:manage:all'],
      ['Backend and IdentityProvider and EmailTemplate and PageTemplate', 'identity-providers:manage:all'],
    ]) {
      const refused = new RegExp(`error\\[server-forbidden\\]: left out ${kinds}: .*${scope}`);
      expect(checked.stderr).toMatch(refused);
    }
    expect(await at.idops('pull --check --kind KeyPair')).toMatchObject({ code: 1, stdout: '' });
  });

  it('refuses manifests that are not valid, and tells what the server has no longer', async () => {
    const at = await borutaProject({ 'manifests/a.yaml': 'kind: Organisation\n' });
    expect(await at.idops('pull')).toMatchObject({ code: 1, stdout: '' });
    // What the server has is listed all the same.
    const listed = await at.idops('list Organization');
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('acme') });
    // What goes elsewhere has nothing to do with them.
    expect(await at.idops('pull --kind Organization --out fresh')).toMatchObject({ code: 0 });
    await at.write({ 'manifests/a.yaml': 'kind: Organization\nname: nobody\n' });
    const pulled = await at.idops('pull --kind Organization --check');
    expect(pulled.code).toBe(1);
    expect(pulled.stderr).toContain('the server has no organization "nobody"');
    expect(pulled.stderr).toContain('--> manifests/a.yaml:1:1');
  });
});

/** A Boruta with a second backend, and a user of it. */
async function partners(username: string): Promise<TestProject> {
  const at = await borutaProject();
  const { users, backends } = at.sandbox.data;
  const second = { id: '20000000-0000-4000-8000-000000000002', name: 'Partners', is_default: false };
  for (const home of backends.slice(0, 1)) backends.push({ ...home, ...second });
  const of = { id: '40000000-0000-4000-8000-000000000003', backend_id: second.id, username };
  for (const ada of users.slice(0, 1)) users.push({ ...structuredClone(ada), ...of });
  return at;
}

describe('names', () => {
  it('stand for ids if they are unique and no document takes them for something else; --by id writes ids', async () => {
    const at = await partners('ada@acme.example');
    const names = ['7d000000-0000-4000-8000-000000000000', 'a${b}', 'twin', 'twin'];
    for (const [index, one] of at.sandbox.data.organizations.entries()) one.name = names[index] ?? '';
    expect(await at.idops('pull')).toMatchObject({ code: 0 });
    const written = await at.read('manifests/users.yaml');
    expect(written).toContain('username: ada@acme.example\nbackend: Company directory\n');
    expect(written).toContain('username: ada@acme.example\nbackend: Partners\n');
    expect(written).toContain('username: grace@globex.example\nmetadata');
    expect(written).toContain('- billing:read\n');
    expect(written).toContain(`- id: ${ids.acme}\n`);
    expect(await at.read('manifests/email-templates.yaml')).toContain('backend: Company directory\n');
    expect((await at.read('manifests/organizations.yaml')).match(/^id: /gm)).toHaveLength(4);
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    expect(await at.idops('pull --check')).toMatchObject({ code: 0 });
    expect(await at.idops('pull --out fresh --by id')).toMatchObject({ code: 0 });
    expect(await at.read('fresh/users.yaml')).toContain(`kind: User\nid: ${ids.ada}\n`);
    expect(await at.read('fresh/users.yaml')).not.toMatch(/^ +- \w+$/m);
  });
});

describe('sets that add or remove, and documents about many', () => {
  const users = `kind: User
username: ada@acme.example
organizations: {add: [acme, initech], remove: [globex]} # mine
---
kind: Users
match: {organization: globex}
organizations: {add: [globex, umbrella]}
`;

  it('pull takes out of a document what differs, leaves other members alone, and only tells what a document about many declares', async () => {
    const at = await borutaProject({ 'manifests/users.yaml': users });
    const pulled = await at.idops('pull --kind User --force');
    expect(pulled).toMatchObject({ code: 0 });
    expect(pulled.stderr).toContain('warning[not-pulled]: organizations of User/');
    const expected = users.replace('acme, initech', 'acme').replace('[globex]} #', '[]} #');
    // Grace is covered by the second document.
    expect(await at.read('manifests/users.yaml')).toBe(expected);
    expect(await at.idops('pull --kind User --check')).toMatchObject({ code: 1 });
    await at.write({ 'manifests/users.yaml': expected.replace('add: [globex, umbrella]', 'add: [globex]') });
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    expect(await at.idops('pull --kind User --check')).toMatchObject({ code: 0 });
    expect(await at.idops(`pull --user ${ids.grace} --kind User --force`)).toMatchObject({ code: 0 });
    expect(await at.read('manifests/users.yaml')).toContain('username: grace@globex.example\n');
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('a user whom only a document about many covers is found, and needs no document', async () => {
    const many = `kind: Users\nusers: [{id: ${ids.ada}}]\norganizations: {add: [acme]}\n`;
    const at = await borutaProject({ 'manifests/a.yaml': many });
    for (const options of ['--declared', `--declared --user ${ids.ada}`]) {
      const checked = await succeeded(at.idops(`pull ${options} --check`));
      expect(checked.stdout).toContain('0 objects added, 0 updated, 0 unchanged.');
    }
    const nobody = await refused(at.idops(`pull --declared --user ${ids.grace} --check`));
    expect(nobody.stderr).toContain('error[nothing-to-pull]');
  });

  it('a whole set takes in no member that a document about many names', async () => {
    const whole = users.replace(/organizations: .* # mine/, 'organizations: [acme]');
    const declared = whole.replace('add: [globex, umbrella]', 'add: [globex]');
    const at = await borutaProject({ 'manifests/a.yaml': declared });
    expect(await at.idops('pull --kind User --declared --check')).toMatchObject({ code: 0 });
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });
});

describe('idops pull --declared', () => {
  it('brings up to date what is declared, asks for nothing else, and adds no document and no field', async () => {
    const declared = 'kind: User\nusername: ada@acme.example\ngroup: other\norganizations: []\n';
    const at = await borutaProject({ 'manifests/a.yaml': declared });
    expect(await at.idops('pull --declared --check')).toMatchObject({ code: 1 });
    expect(await at.idops('pull --declared --force')).toMatchObject({ code: 0 });
    expect(await at.files()).toMatchObject({
      'manifests/a.yaml':
        'kind: User\nusername: ada@acme.example\ngroup: staff finance\norganizations:\n  - acme\n  - globex\n',
    });
    expect(Object.keys(await at.files()).filter((path) => path.startsWith('manifests'))).toHaveLength(1);
    expect(await at.idops('pull --declared --check')).toMatchObject({ code: 0 });
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

  it('tells which name in a document finds nothing', async () => {
    const lost =
      'kind: User\nusername: nobody\ngroup: x\n---\nkind: EmailTemplate\nbackend: Nowhere\ntype: tx_code\n';
    const gone = 'kind: EmailTemplate\nbackend: Gone\ntype: tx_code\nstate: absent\n';
    const files = {
      'idops.yaml': boruta,
      ...documents,
      'manifests/b.yaml': `${lost}txt_content: x\n---\n${gone}`,
    };
    const at = await project(files, { profile: 'boruta' });
    const { stdout, stderr } = await failed(
      at.idops('pull --declared --check'),
      'error[not-pulled]: User/nobody: the server has no user "nobody"',
      'error[not-pulled]: EmailTemplate/Nowhere/tx_code: the server has no backend "Nowhere"',
    );
    // With its backend it is as absent as its document says.
    expect(stderr).not.toContain('Gone');
    expect(stdout).toContain('0 objects added, 0 updated, 2 unchanged.');
    await succeeded(at.idops(`pull --declared --kind User --user ${ids.ada} --check`));
  });

  it('tells which of them the server does not have, or can not show', async () => {
    const at = await borutaProject({ ...documents });
    await at.refused(
      `pull --declared --user ${ids.nobody} --user ${ids.ada} --check`,
      `the server has no user with the id ${ids.nobody}`,
    );
    const plain = await project({ 'idops.yaml': sure, 'manifests/b.yaml': documents['manifests/b.yaml'] });
    await plain.refused(
      `pull --declared --user ${ids.nobody}`,
      'no user can be read with the profile documented',
    );
  });
});

describe('idops pull --backend', () => {
  it.each([
    ['an id', ids.backend],
    ['a name', 'Company directory'],
  ])('by %s limits users and templates, and asks for nothing else', async (_, backend) => {
    const at = await partners('eve');
    expect(await at.idopsWith(['pull', '--backend', backend])).toMatchObject({ code: 0 });
    const paths = Object.keys(await at.files()).filter((path) => /^manifests[/][^/]*$/.test(path));
    expect(paths).toEqual(['manifests/email-templates.yaml', 'manifests/users.yaml']);
    expect(await at.read('manifests/users.yaml')).not.toContain('eve');
    const kinds = at.sandbox.requests.map(({ path }) => /^[/]api[/]([a-z-]+)/.exec(path)?.[1]);
    expect(new Set(kinds)).toEqual(new Set(['backends', 'users', 'organizations', 'scopes', 'roles']));
    expect(at.sandbox.requests.every(({ path }) => !path.includes('000000000002'))).toBe(true);
    await at.write({ 'manifests/many.yaml': 'kind: Users\nusers: [eve]\ngroup: other\n' });
    expect(await at.idops('pull --backend Partners --kind User --check')).toMatchObject({ code: 1 });
    expect(await at.idopsWith(['pull', '--backend', backend, '--kind', 'User', '--check'])).toMatchObject({
      code: 0,
    });
    const lost = await at.idops('pull --backend Nowhere');
    expect(lost).toMatchObject({ code: 1, stdout: '' });
    expect(lost.stderr).toContain('error[not-found]: --backend: the server has no backend "Nowhere"');
  });
});

describe('an edit', () => {
  const file = 'manifests/organizations.yaml';
  const change = (at: TestProject, label: string) => {
    const [first] = at.sandbox.data.organizations;
    if (first !== undefined) first.label = label;
  };

  it('in a work tree of git is what no commit has', async () => {
    const at = await project({ 'idops.yaml': sure, [file]: 'kind: Organization\nname: acme\nlabel: Mine\n' });
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

  it('outside git is also what neither pull nor init is known to have written', async () => {
    const declared = 'kind: Organization\nname: acme\nlabel: Mine\n';
    const at = await project({ 'idops.yaml': sure, [file]: declared });
    expect(await at.idops('pull --declared --check')).toMatchObject({ code: 1 });
    await refused(at.idops('pull --declared'), `error[edited-file]: ${file} has an edit that`);
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

  it('is not overwritten by new documents behind it, and still one then', async () => {
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

  it('of one object stays one when others of its file are pulled', async () => {
    const at = await borutaProject();
    await succeeded(at.idops('pull'));
    const users = 'manifests/users.yaml';
    const edited = (await at.read(users)).replace('group: staff finance', 'group: wanted');
    await at.write({ [users]: edited });
    for (const others of [
      `--user ${ids.grace}`,
      '--kind KeyPair',
      `--declared --user ${ids.grace} --force`,
    ]) {
      await at.idops(`pull ${others}`);
      await refused(at.idops('pull'), `error[edited-file]: ${users}`);
    }
    expect(await at.read(users)).toBe(edited);
    const grace = at.sandbox.data.users.find(({ id }) => id === ids.grace);
    Object.assign(grace ?? {}, { group: 'theirs' });
    await refused(at.idops(`pull --user ${ids.grace}`), `error[edited-file]: ${users}`);
    await succeeded(at.idops(`pull --user ${ids.grace} --force`));
    await refused(at.idops('pull'), `error[edited-file]: ${users}`);
    expect(await at.read(users)).toMatch(/group: wanted(.|\n)*group: theirs/);
    await succeeded(at.idops('pull --force'));
    // A pull of one object leaves a file that holds no edit.
    Object.assign(grace ?? {}, { group: 'again' });
    await succeeded(at.idops(`pull --user ${ids.grace}`));
    Object.assign(grace ?? {}, { group: 'once more' });
    await succeeded(at.idops('pull'));
  });
});

describe('idops pull --out', () => {
  it('writes a fresh set elsewhere, and overwrites nothing there', async () => {
    const at = await borutaProject();
    expect(await at.idops('pull --out fresh')).toMatchObject({ code: 0 });
    expect(await at.idops('pull --out fresh')).toMatchObject({ code: 0 });
    await at.write({ 'fresh/users.yaml': 'mine' });
    const again = await at.idops('pull --out fresh');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('error[file-exists]: fresh/users.yaml exists with another content');
    expect(await at.read('fresh/users.yaml')).toBe('mine');
    await succeeded(at.idops('pull --out manifests'));
    expect(await at.idops('pull --out manifests/again')).toMatchObject({ code: 1 });
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('says what to do with the folder: by where it lies', async () => {
    const at = await project({ 'idops.yaml': sure, 'p/idops.yaml': sure, afile: 'x' });
    const cwd = join(at.folder, 'p');
    const out = async (folder: string) => await at.idops(`pull --kind Organization --out ${folder}`, { cwd });
    for (const folder of ['fresh', '../outside', '.'])
      expect((await out(folder)).stdout).toContain('Next: name the folder under "manifests"');
    expect((await out('fresh')).stdout).toContain('0 objects added, 0 updated, 4 unchanged.');
    expect((await out('manifests')).stdout).toContain('Next: idops plan,');
    for (const hidden of ['.idops', '.git/x', '../.git']) {
      expect((await out(hidden)).stderr).toContain('error[wrong-option]: --out names a hidden folder');
    }
    expect((await out('../afile')).stderr).toContain('error[not-writable]');
    expect(Object.keys(await at.files()).filter((path) => /^(?:p\/)?\.(?:idops|git)/.test(path))).toEqual([
      'p/.idops/state.json',
    ]);
  });

  it('writes nothing where the state is to be', async () => {
    const state = `${boruta}state: {path: manifests/users.yaml}\n`;
    const at = await project({ 'idops.yaml': state }, { profile: 'boruta' });
    for (const args of ['pull', 'pull --out manifests']) {
      await refused(at.idops(args), /error\[output-is-input\]: \S*manifests\/users\.yaml is not written/);
    }
    expect(Object.keys(await at.files())).toEqual(['idops.yaml']);
  });

  it('writes through no link', async () => {
    const at = await borutaProject();
    await mkdir(join(at.folder, 'outside'));
    await mkdir(join(at.folder, 'manifests'));
    await symlink('../outside', join(at.folder, 'manifests/emails'));
    for (const args of ['pull', 'pull --check']) {
      await refused(at.idops(args), 'is behind a link');
    }
    expect(Object.keys(await at.files())).toEqual(['idops.yaml']);
  });
});

describe('secrets', () => {
  it('become variables with a list of what to set, and reach neither a file nor an output', async () => {
    const seed = loadSeed('demo');
    const secret = 'Zm9vYmFyLXNlY3JldA';
    const api_token = { value: secret, status: 'valid' };
    const metadata = { api_token, plain: { value: '${IDOPS_TOKEN}$$', status: '$' } };
    Object.assign(seed.users[0] ?? {}, { metadata });
    Object.assign(seed.organizations[0] ?? {}, { label: `Bearer ${secret}0123` });
    Object.assign(seed.templates[0] ?? {}, { txt_content: `-----BEGIN PRIVATE KEY-----\n${secret}\n` });
    const at = await borutaProject({}, { seed });
    const pulled = await succeeded(at.idops('pull --format json'));
    expect(pulled.stderr).toContain('txt_content has a credential in it, which no file may hold');
    expectToBeTold('A pull', JSON.parse(pulled.stdout));
    const { to_set } = JSON.parse(pulled.stdout) as { to_set: { name: string }[] };
    const label = 'IDOPS_ORGANIZATION_ACME_LABEL';
    const user = { address: `User/${ids.ada}`, path: 'metadata.api_token.value' };
    expect(to_set.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: label, address: 'Organization/acme', path: 'label' },
      { name: expect.stringMatching(/^IDOPS_USER_/), ...user },
    ]);
    const all = Object.values(await at.files()).join('\n') + pulled.stdout + pulled.stderr;
    const demo = ['demo-smtp-password', 'demo-ldap-password', 'demo-client-secret'];
    for (const one of [secret, ...demo, at.sandbox.token]) expect(all).not.toContain(one);
    // While they aren't set nothing is known of them, and nothing is changed.
    const unset = await at.idops('pull --check');
    expect(unset.stdout).toContain('0 objects added, 0 updated');
    const env = Object.fromEntries(to_set.map(({ name }) => [name, secret]));
    env[label] = `Bearer ${secret}0123`;
    expect(await at.idops('plan --detailed-exitcode', { env })).toMatchObject({ code: 0 });
    expect(await at.idops('pull --check', { env })).toMatchObject({ code: 0 });
  });
});

describe('idops list', () => {
  it('escapes what a server calls its objects, and refuses what can not be asked for', async () => {
    const seed = loadSeed('demo');
    const [first] = seed.organizations;
    if (first !== undefined) first.name = 'a\u001b[31m\n::error::b';
    const at = await project({}, { seed });
    const listed = await at.idops('list Organization');
    expect(listed.stdout.split('\n')).toHaveLength(5);
    expect(listed.stdout).not.toContain('\u001b');
    expect((await at.idops('list Organisation')).stderr).toMatch(/choices are Scope, Role, Organization/);
    expect((await at.idops('list --backend ..')).stderr).toContain('error[wrong-option]');
    await refused(at.idops('list EmailTemplate --backend nobody'), 'error[not-found]');
  });
});
