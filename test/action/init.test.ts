import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadSeed } from '../../src/sandbox/seed.js';
import { config, failed, project, refused, succeeded } from '../e2e/running.js';

describe('idops init', () => {
  const workflows = ['drift', 'merge', 'pull-request'].map((name) => `.github/workflows/idops-${name}.yml`);
  it.each([
    ['github', workflows],
    ['gitlab', ['.gitlab-ci.yml']],
  ])('writes a valid project, and the workflows for %s', async (ci, workflows) => {
    const { idops, files, folder } = await project({});
    const { stdout } = await succeeded(idops(`init new --ci ${ci}`));
    const all = Object.keys(await files()).filter((path) => path.startsWith('new/'));
    expect(all).toContain('new/.idops/state.json');
    const written = all.filter((path) => !path.startsWith('new/.idops/'));
    expect(stdout.trim().split('\n').sort()).toEqual(written.map((path) => `wrote ${path}`).sort());
    for (const path of ['idops.yaml', '.gitignore', 'manifests/organizations.yaml', ...workflows]) {
      expect(written).toContain(`new/${path}`);
    }
    expect(written.filter((path) => path.includes('.yml'))).toHaveLength(workflows.length);
    const run = { cwd: `${folder}/new` };
    expect((await succeeded(idops('validate', run))).stdout).toMatch(/objects are valid/);
    // The manifests match the server.
    await succeeded(idops('plan --detailed-exitcode', run));
    await succeeded(idops('plan --detailed-exitcode --env production', run));
  });

  it.each(['github', 'gitlab'])('keeps the state in git if there is a remote: %s', async (ci) => {
    const { idops, read, folder } = await project({});
    execFileSync('git', ['init', '-q', `${folder}/new`]);
    execFileSync('git', ['init', '-q', '--bare', `${folder}/bare`]);
    execFileSync('git', ['-C', `${folder}/new`, 'remote', 'add', 'origin', `${folder}/bare`]);
    await idops(`init new --ci ${ci}`);
    expect(await read('new/idops.yaml')).toMatch(/ {2}production:\n {4}#.*\n {4}state: \{git: \{\}\}\n$/);
    const run = { cwd: `${folder}/new` };
    expect(await idops('plan --env production', run)).toMatchObject({ code: 0 });
    await idops('init other');
    expect(await read('other/idops.yaml')).toContain('  production: {}\n');
  });

  it('writes the workflows of the examples unchanged', async () => {
    const { idops, read } = await project({});
    await idops('init new');
    expect(await read('new/.github/workflows/idops-merge.yml')).toBe(
      await readFile('examples/github/merge.yml', 'utf8'),
    );
  });

  it.each([
    ['without a URL', { IDOPS_BASE_URL: undefined }, 0],
    ['without a token', { IDOPS_TOKEN: undefined }, 0],
    ['with a rejected token', { IDOPS_TOKEN: 'wrong-token-0123456789' }, 1],
    ['with an unreachable server', { IDOPS_BASE_URL: 'http://127.0.0.1:9' }, 1],
  ])('%s writes the documented profile and mentions idops doctor', async (_, env, expected) => {
    const { idops, read, write } = await project({}, { profile: 'boruta' });
    const { stderr, stdout, code } = await idops('init new', { env });
    expect(code).toBe(expected);
    expect(stderr.match(/error\[server-(unauthorized|unreachable)\]/g) ?? []).toHaveLength(expected);
    expect(stdout).toContain('wrote new/manifests/examples.yaml');
    // Even if there is nothing to pull.
    await write({ 'other/manifests/mine.yaml': '' });
    expect((await idops('init other', { env })).code).toBe(expected);
    expect(await read('new/idops.yaml')).toMatch(/# .*idops doctor.*\n {2}profile: documented\n/);
    expect(stderr).not.toContain('wrong-token');
  });

  it('never overwrites files, and lists those that it kept', async () => {
    const mine = { 'idops.yaml': 'mine', '.github/workflows/idops-merge.yml': 'mine too' };
    const { idops, read } = await project(mine);
    const { stdout, stderr } = await succeeded(idops('init'));
    for (const [path, text] of Object.entries(mine)) expect(await read(path)).toBe(text);
    expect(stderr).toContain('idops.yaml already exists');
    expect(stdout).not.toContain('wrote idops.yaml');
    expect((await idops('init')).stdout).toBe('');
  });

  it.each(['documented', 'boruta'] as const)(
    "writes the detected profile and the server's objects, and then the plan is empty (%s)",
    async (profile) => {
      const { idops, files, read, reads, writes, sandbox, folder } = await project({}, { profile });
      const { stderr } = await succeeded(idops('init new --ci none'));
      expect(stderr).toContain(`The profile ${profile} fits ${sandbox.url}`);
      expect(await read('new/idops.yaml')).toContain(`  profile: ${profile}\n`);
      // An existing project doesn't need the server.
      const asked = reads().length;
      await idops('init new --ci none');
      expect(reads()).toHaveLength(asked);
      expect(stderr).toContain('Next: cd new && idops plan');
      const written = Object.keys(await files()).filter((path) => path.startsWith('new/manifests/'));
      expect(written).toContain('new/manifests/organizations.yaml');
      expect(written.includes('new/manifests/users.yaml')).toBe(profile === 'boruta');
      expect(written.some((path) => path.endsWith('.html'))).toBe(profile === 'boruta');
      const run = { cwd: `${folder}/new` };
      expect(await idops('validate', run)).toMatchObject({ code: 0, stderr: '' });
      // The manifests are what a pull would write.
      for (const command of ['plan --detailed-exitcode', 'pull --check', 'apply --yes'])
        await succeeded(idops(command, run));
      expect(writes()).toEqual([]);
    },
  );

  it('declares nothing without a server, and lists what to do', async () => {
    const { idops, read, folder } = await project({});
    const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: undefined };
    const { stderr } = await succeeded(idops('init new', { env }));
    expect(stderr).not.toContain('fits');
    for (const text of [
      'The server was not read, since no address is given',
      "write the server's address into idops.yaml",
      'set IDOPS_TOKEN to a token',
      'create the secrets IDOPS_TOKEN, IDOPS_PLAN_TOKEN in CI',
      'Next: cd new && idops doctor',
    ])
      expect(stderr).toContain(text);
    const examples = await read('new/manifests/examples.yaml');
    expect(examples).toContain('# kind: Organization\n');
    expect(examples.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
    const validated = await idops('validate', { env, cwd: `${folder}/new` });
    expect(validated).toMatchObject({ code: 0, stdout: '0 objects are valid.\n', stderr: '' });
  });

  it('reads the URL, the profile, the token and the CI from options', async () => {
    const { idops, read, sandbox, folder } = await project({ 'secrets/token': '' });
    const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: undefined, MY_TOKEN: sandbox.token };
    const address = `--base-url ${sandbox.url}/`;
    await succeeded(idops(`init one ${address} --token-env MY_TOKEN --ci none`, { env }));
    const one = await read('one/idops.yaml');
    for (const line of [`base_url: ${sandbox.url}\n`, 'token: ${MY_TOKEN}\n', 'allow_env: [MY_TOKEN]\n'])
      expect(one).toContain(line);
    expect(one).not.toContain('environments');
    await succeeded(idops('plan --detailed-exitcode', { env, cwd: `${folder}/one` }));
    // Workflows contain the URL if it is known, or a variable.
    const github = await idops(`init pinned ${address} --token-env MY_TOKEN`, { env });
    expect(github.stderr).not.toContain('IDOPS_BASE_URL in CI');
    for (const name of ['pull-request', 'merge', 'drift']) {
      const text = await read(`pinned/.github/workflows/idops-${name}.yml`);
      expect(text).toContain(`base-url: "${sandbox.url}`);
      expect(text).not.toContain('vars.');
    }
    const asked = await idops('init asked', { env: { ...env, IDOPS_TOKEN: undefined } });
    expect(asked.stderr).toContain('create the variable IDOPS_BASE_URL in CI');
    const two = await idops(`init two ${address} --profile boruta --ci gitlab`, { env });
    expect(two.stderr).toContain('IDOPS_TOKEN is not set');
    const secrets = 'create the secrets IDOPS_PLAN_TOKEN, IDOPS_NOTE_TOKEN, IDOPS_APPLY_TOKEN in CI';
    expect(two.stderr).toContain(secrets);
    const pipeline = await read('two/.gitlab-ci.yml');
    expect(pipeline).toContain('IDOPS_PLAN_TOKEN ');
    expect(pipeline).not.toContain('$IDOPS_BASE_URL');
    expect(await read('two/idops.yaml')).toContain('  profile: boruta\n');
    // A requested profile is written even if it doesn't fit.
    const other = await idops(`init three ${address} --profile boruta --token-env MY_TOKEN`, { env });
    expect(other.stderr).toContain(`The profile documented fits ${sandbox.url}`);
    expect(await read('three/idops.yaml')).toContain('  profile: boruta\n');
  });

  it('adds a token file in the project to .gitignore, and shows the token nowhere', async () => {
    const { idops, read, write, sandbox, files, folder } = await project({});
    await write({ 'new/token': sandbox.token });
    const env = { IDOPS_TOKEN: undefined };
    const ran = await succeeded(idops('init new --token-file new/token --ci none', { env }));
    expect(await read('new/idops.yaml')).toContain('token_file: token\n');
    expect(await read('new/.gitignore')).toBe('.idops/\n/token\n');
    await succeeded(idops('plan --detailed-exitcode', { env, cwd: `${folder}/new` }));
    const { 'new/token': _, ...others } = await files();
    expect(JSON.stringify([ran, others])).not.toContain(sandbox.token);
  });

  it.each([
    ['--token-env 1x', '--token-env takes the name of a variable'],
    [`--token-env ${'aB3'.repeat(12)}`, '--token-env takes the name of a variable'],
    ['--config other.yaml', 'init takes no --config'],
    ['--env production', 'init takes no --env'],
    ['--token-env A --token-file B', "can't be combined"],
    ['--token-file nowhere', 'nowhere'],
    ['--base-url http://id.example.com', 'insecure-http'],
    ['--base-url ftp://id.example.com', 'bad-address'],
    ['--profile other', 'llowed choices are documented, boruta'],
    ['--ci jenkins', 'llowed choices are'],
  ])('refuses %s, and writes nothing', async (args, message) => {
    const { idops, files } = await project({});
    const before = await files();
    await failed(idops(`init new ${args}`), message);
    expect(await files()).toEqual(before);
  });

  it.each([
    ['file', "error[not-writable]: file can't be written"],
    ['blocked', "blocked/schemas/idops-config.schema.json can't be written"],
  ])('refuses the folder %j', async (named, message) => {
    const { idops, files } = await project({ file: '', 'blocked/schemas': '' });
    const before = await files();
    await refused(idops(`init --yes --ci none -- ${named}`), message);
    expect(await files()).toEqual(before);
  });

  it('adds lines to existing git files, once', async () => {
    const ignored = 'node_modules/\r\n/.idops\r\n*.log';
    const attributes = '*.png binary';
    const { idops, read } = await project({ 'new/.gitignore': ignored, 'new/.gitattributes': attributes });
    expect((await idops('init new --ci none')).stdout).toContain('added to new/.gitattributes\n');
    expect(await read('new/.gitignore')).toBe(ignored);
    const added = '\nmanifests/emails/** -text\nmanifests/pages/** -text\n';
    expect(await read('new/.gitattributes')).toBe(attributes + added);
    expect((await idops('init new --ci none')).stdout).toBe('');
  });

  it('adds no manifest to existing ones', async () => {
    const { idops, files } = await project({ 'new/manifests/mine.yaml': '' });
    await idops('init new --ci none');
    const written = Object.keys(await files()).filter((path) => path.startsWith('new/manifests/'));
    expect(written).toEqual(['new/manifests/mine.yaml']);
  });

  it('follows no link out of the folder, and reports what is in the way', async () => {
    const { idops, files, folder } = await project({ 'victim/kept': '', 'two/.github': 'a file' });
    await mkdir(join(folder, 'one'));
    await symlink('../victim', join(folder, 'one/manifests'));
    await symlink('../victim/ignored', join(folder, 'one/.gitignore'));
    const one = await succeeded(idops('init one'));
    expect(one.stderr).toContain('one/.gitignore already exists and was not changed');
    await rm(join(folder, 'victim/kept'));
    await rm(join(folder, 'one/idops.yaml'));
    expect((await idops('init one')).stderr).toContain('it is behind a link, or outside the project');
    await refused(idops('init two'));
    const left = Object.keys(await files());
    expect(left.filter((path) => path.startsWith('victim/'))).toEqual([]);
    expect(left).not.toContain('two/idops.yaml');
  });

  it("explains where CI expects the workflows if the folder is not the repository's root", async () => {
    const { idops, folder } = await project({});
    await mkdir(join(folder, '.git'));
    expect((await idops('init below')).stderr).toContain('move the workflows to the root of the repository');
  });

  it('writes workflows next to an existing configuration, and lists what to do', async () => {
    const { idops, read } = await project({ 'idops.yaml': config });
    const { stderr } = await succeeded(idops('init'));
    expect(await read('idops.yaml')).toBe(config);
    expect(await read('.github/workflows/idops-merge.yml')).toContain('${{ vars.IDOPS_BASE_URL }}');
    expect(stderr).toContain('check the branch (main), the environment (production) and the paths');
    expect(stderr).toContain('create the secrets IDOPS_TOKEN, IDOPS_PLAN_TOKEN in CI');
    expect(stderr).not.toContain('move the workflows');
    // Unchanged files need no edits.
    expect((await idops('init')).stderr).not.toContain('To do:');
  });

  it('gives workflows the secrets that manifests need', async () => {
    const seed = loadSeed('demo');
    const metadata = { api_token: { value: 'Zm9vYmFyLXNlY3JldA', status: 'valid' } };
    Object.assign(seed.users[0] ?? {}, { metadata });
    const { idops, read } = await project({}, { profile: 'boruta', seed });
    const { stderr } = await idops('init new');
    const merge = await read('new/.github/workflows/idops-merge.yml');
    const [name] = /IDOPS_USER_\w+/.exec(stderr) ?? [];
    expect(merge).toContain(`        env:\n          ${name}: \${{ secrets.${name} }}\n        with:\n`);
    expect(parseAllDocuments(merge)[0]?.errors).toEqual([]);
    expect(stderr).toMatch(new RegExp(`create .*${name}.* in CI`));
    expect(stderr).toContain(`set ${name}, here and in CI`);
  });

  it('names the scope that the token lacks, and suggests a later pull', async () => {
    const tokens = { 'token-with-few-scopes': ['users:manage:all'] as const };
    const { idops, files } = await project({}, { profile: 'boruta', tokens });
    const env = { IDOPS_TOKEN: 'token-with-few-scopes' };
    const { stderr } = await failed(idops('init new --ci none', { env }), 'error[server-forbidden]');
    expect(stderr).toContain('identity-providers:manage:all');
    expect(stderr).toContain('run idops pull later');
    const written = Object.keys(await files()).filter((path) => path.startsWith('new/manifests/'));
    expect(written).toEqual(['new/manifests/examples.yaml']);
  });

  it('writes schemas that editors find from each file', async () => {
    const { idops, read, files, folder } = await project({}, { profile: 'boruta' });
    await idops('init new --ci none');
    const yaml = async () => Object.entries(await files()).filter(([path]) => /^new\/.*\.yaml$/.test(path));
    const first = (await yaml()).length;
    expect(first).toBeGreaterThan(3);
    // Files of a later pull begin the same way.
    const cwd = join(folder, 'new');
    await rm(join(cwd, 'manifests/users.yaml'));
    await idops('pull', { cwd });
    await idops('pull --out sub/fresh --kind User', { cwd });
    const named = await yaml();
    expect(named.length).toBe(first + 1);
    for (const [path, text] of named) {
      const [, reference = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
      const schema = JSON.parse(await read(join(path, '..', reference)));
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
      for (const document of parseAllDocuments(text)) expect(validate(document.toJS()), path).toBe(true);
    }
  });
});
