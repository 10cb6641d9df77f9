import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ids } from '../sandbox/asking.js';
import { cli, config, type Files, project } from './running.js';

const good = 'kind: Organization\nname: acme\nlabel: New\n';
const record = { format_version: 1, serial: 1, lineage: 'l', salt: 's', resources: {} };

/** Applies, and expects it to fail with that message, send nothing and leave every file as it was. */
async function expectRefused(files: Files, message: string, env = {}): Promise<void> {
  const { idops, sandbox, files: all } = await project({ 'manifests/good.yaml': good, ...files });
  const before = await all();
  const { code, stdout, stderr } = await idops('apply --yes', { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(sandbox.requests).toEqual([]);
  expect(await all()).toEqual(before);
}

describe('a manifest', () => {
  it.each<[string, string, string]>([
    ['of an unknown kind', 'kind: Organisation\n', 'manifests/bad.yaml:1:7'],
    ['with an unknown field', `kind: User\nid: u\nlable: x\n`, 'manifests/bad.yaml:3:1'],
    ['with a field that can not be declared', `kind: Client\nid: c\nsecret: x\n`, 'manifests/bad.yaml:3:1'],
    ['with a wrong type', `kind: User\nid: u\nblocked: 1\n`, 'manifests/bad.yaml:3:10'],
    ['without its id', 'kind: KeyPair\nis_default: true\n', 'missing-field'],
    ['that is a list', '- kind: User\n', 'manifests/bad.yaml:1:1'],
    ['that does not parse', 'kind: "User\n', 'yaml-syntax'],
    ['with a key twice', 'kind: User\nid: u\nid: v\n', 'manifests/bad.yaml:3:1'],
    ['of an object that another one declares', good, 'manifests/good.yaml:1:1'],
    ['with an unresolved variable', `kind: User\nid: u\ngroup: \${NOWHERE}\n`, 'unresolved-variable'],
    ['with a process variable that is not allowed', `kind: User\nid: u\ngroup: \${HOME}\n`, 'HOME'],
    ['with a missing body', `kind: User\nid: u\ngroup: {file: missing.txt}\n`, 'manifests/bad.yaml:3'],
    ['with a body outside', `kind: User\nid: u\ngroup: {file: ../../outside.txt}\n`, 'manifests/bad.yaml:3'],
    ['with an id that is a path step', `kind: User\nid: ".."\n`, 'manifests/bad.yaml:2:5'],
    [
      'that takes a template away and declares it',
      `kind: EmailTemplate\nbackend_id: b\ntype: t\nstate: absent\ntxt_content: x\n`,
      'manifests/bad.yaml:5:1',
    ],
    [
      'with two defaults',
      `kind: KeyPair\nid: a\nis_default: true\n---\nkind: KeyPair\nid: b\nis_default: true\n`,
      'two-defaults',
    ],
    [
      'with a generation that is no number',
      'kind: Client\nid: c\ndid_generation: two\n',
      'manifests/bad.yaml:3:17',
    ],
    ['with a negative generation', 'kind: Client\nid: c\ndid_generation: -1\n', 'manifests/bad.yaml:3:17'],
    ['with a scope without a label', `kind: User\nid: u\nauthorized_scopes: [{name: a}]\n`, 'label'],
    ['with a membership twice', `kind: User\nid: u\norganizations: [acme, acme]\n`, 'duplicate-element'],
  ])('%s is refused with its place', async (_, manifest, message) => {
    await expectRefused({ 'manifests/bad.yaml': manifest }, message);
  });
});

describe('a configuration', () => {
  it.each<[string, string, string]>([
    ['of another version', 'version: 2\n', 'idops.yaml:1:10'],
    ['with an unknown section', `${config}manifest: [x]\n`, 'did you mean "manifests"?'],
    ['that does not parse', 'version: [\n', 'yaml-syntax'],
    [
      'with an address that is none',
      'version: 1\nserver: {base_url: "not a url", auth: {token: x}}\n',
      'bad-address',
    ],
    [
      'with plain http to another host',
      'version: 1\nserver: {base_url: "http://id.example.com", auth: {token: x}}\n',
      'insecure-http',
    ],
    [
      'with an unknown profile',
      'version: 1\nserver: {profile: brouta, base_url: "https://x", auth: {token: x}}\n',
      'idops.yaml:2',
    ],
    ['with globs that lead out', `${config}manifests: [../*.yaml]\n`, 'manifest-outside'],
    ['with a negative limit', `${config}safety: {max_destructive: -1}\n`, 'idops.yaml:6'],
  ])('%s is refused with its place', async (_, text, message) => {
    await expectRefused({ 'idops.yaml': text }, message, { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: 'x' });
  });

  it('with a limit from a variable is checked by validate and plan, as far as the variable is known', async () => {
    const { idops, sandbox } = await project({
      'idops.yaml': `${config}safety: {max_destructive: "\${IDOPS_LIMIT}"}\n`,
      'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n',
    });
    for (const command of ['validate', 'plan']) {
      for (const [value, why] of [
        ['-1', 'must be 0 or more'],
        ['abc', 'expected a number'],
      ] as const) {
        const { code, stderr } = await idops(command, { env: { IDOPS_LIMIT: value } });
        expect([code, stderr], `${command} ${value}`).toEqual([1, expect.stringContaining(why)]);
        expect(stderr).toContain('idops.yaml:6');
      }
      expect(sandbox.requests).toEqual([]);
      expect((await idops(command, { env: { IDOPS_LIMIT: '3' } })).code).toBe(0);
      expect((await idops(command)).code).toBe(0);
      sandbox.requests.splice(0);
    }
    expect((await idops('validate')).stderr).toContain('warning[unset-variable]');
  });

  it('that is not there is told of', async () => {
    const { idops } = await project({});
    const { code, stderr } = await idops('plan --config nowhere.yaml');
    expect(code).toBe(1);
    expect(stderr).toContain('error[no-config]');
  });

  it('without a server or a token says how to name them', async () => {
    await expectRefused({ 'idops.yaml': 'version: 1\n' }, '--base-url', {
      IDOPS_BASE_URL: undefined,
      IDOPS_TOKEN: undefined,
    });
  });

  it('is told of together with the manifests', async () => {
    const files = {
      'idops.yaml': 'version: 1\nserver: {base_url: "not a url", auth: {token: x}}\n',
      'manifests/bad.yaml': 'kind: Usr\n',
    };
    const env = { IDOPS_BASE_URL: undefined };
    await expectRefused(files, 'bad-address', env);
    await expectRefused(files, 'unknown-kind', env);
  });

  it('with an empty token file is refused', async () => {
    const { idops, sandbox } = await project({ 'manifests/good.yaml': good, token: ' \n' });
    expect(await idops('plan --token-file token')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('token file token is empty'),
    });
    expect(sandbox.requests).toEqual([]);
  });
});

it.skipIf(process.platform === 'win32')(
  'a folder that is removed under a command is told as what it is',
  () => {
    const gone = [
      '-c',
      'd=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$0" "$1" plan',
      process.execPath,
      cli,
    ];
    const { status, stdout, stderr } = spawnSync('sh', gone, { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining("error[file-unreadable]: the folder that this runs in isn't there any more"),
    ]);
  },
);

describe('a state', () => {
  it.each<[string, string, string]>([
    ['that is not JSON', '{', 'error[state-unreadable]'],
    ['that is no state', '{"format_version": 1}', 'error[state-unreadable]'],
    ['of a newer format', '{"format_version": 2}', 'error[state-newer]'],
    [
      'of another server',
      JSON.stringify({ ...record, server: 'https://other.example' }),
      'error[state-other-server]',
    ],
  ])('%s is refused and kept', async (_, text, message) => {
    await expectRefused({ '.idops/state.json': text }, message);
  });

  it('that can not be written keeps everything from being sent', async () => {
    const { idops, writes } = await project({ 'manifests/good.yaml': good, '.idops/runs': 'in the way' });
    expect(await idops('apply --yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error['),
    });
    expect(writes()).toEqual([]);
  });

  it('that is a folder is refused', async () => {
    const { idops, sandbox, folder } = await project({ 'manifests/good.yaml': good });
    await mkdir(join(folder, '.idops', 'state.json'), { recursive: true });
    expect((await idops('apply --yes')).stderr).toContain('error[state-unreadable]');
    expect(sandbox.requests).toEqual([]);
  });
});

describe('an answer to a read', () => {
  const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new\n`;

  it.each<[string, unknown]>([
    ['is no JSON', '<html>Welcome</html>'],
    ['is empty', ''],
    ['is a list', '[]'],
    ['has no data', '{}'],
    ['has data of another type', '{"data": {"id": 1}}'],
    ['is not whole', '{"data": [{"id": "1"'],
    ['counts in words', '{"data": [], "total_pages": "many"}'],
  ])('that %s ends everything: nothing is written', async (_, body) => {
    const { idops, writes, files } = await project(
      { 'manifests/all.yaml': `${good}---\n${template}` },
      { intercept: () => ({ kind: 'answer', status: 200, body }) },
    );
    const before = await files();
    const { code, stdout, stderr } = await idops('apply --yes');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('list organizations: GET /api/organizations?page=1 answered 200 with');
    expect(stderr).toContain('show an email template: GET');
    expect(writes()).toEqual([]);
    expect(await files()).toEqual(before);
  });

  it.each<[number, unknown, string]>([
    [401, { code: 'UNAUTHORIZED', message: 'The token is too old.' }, 'The token is too old.'],
    [403, { code: 'FORBIDDEN', message: 'Not yours.' }, 'users:manage:all'],
    [400, { errors: { page: ['is strange'] } }, 'page: is strange'],
    [422, { code: 'X', message: 'Both.', errors: { page: ['is strange'] } }, 'Both.: page: is strange'],
    [500, 'a bare text', 'answered 500'],
    [404, null, 'answered 404'],
    [301, '', 'redirect'],
  ])('with %i names the operation, the status and the message', async (status, body, message) => {
    const { idops, writes } = await project(
      { 'manifests/all.yaml': good },
      { intercept: () => ({ kind: 'answer', status, body }) },
    );
    const { code, stderr } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain(`list organizations: GET /api/organizations?page=1 answered ${status}`);
    expect(stderr).toContain(message);
    expect(writes()).toEqual([]);
  });

  it('by a server that is not there is told of', async () => {
    const { idops, sandbox } = await project({ 'manifests/all.yaml': good });
    const env = { IDOPS_BASE_URL: sandbox.url };
    await sandbox.close();
    const { code, stderr } = await idops('plan', { env });
    expect(code).toBe(1);
    expect(stderr).toContain('the connection was refused');
  });

  it('by a list that never adds up is told of', async () => {
    const rows = { data: [{ id: 'a', name: 'acme' }], total_pages: 1, total_entries: 2 };
    const { idops, writes } = await project(
      { 'manifests/all.yaml': good },
      { intercept: () => ({ kind: 'answer', status: 200, body: rows }) },
    );
    expect(await idops('apply --yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error[unstable-list]'),
    });
    expect(writes()).toEqual([]);
  });
});
