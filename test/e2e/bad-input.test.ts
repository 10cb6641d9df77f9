import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ids } from '../sandbox/asking.js';
import { cli, config, type Files, project } from './running.js';

const good = 'kind: Organization\nname: acme\nlabel: New\n';

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

it('a manifest that is wrong is refused with its place', async () => {
  const manifest = 'kind: User\nid: u\nblocked: 1\n';
  await expectRefused({ 'manifests/bad.yaml': manifest }, 'manifests/bad.yaml:3:10');
});

describe('a configuration', () => {
  it('of another version is refused with its place', async () => {
    await expectRefused({ 'idops.yaml': 'version: 2\n' }, 'idops.yaml:1:10');
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

  it('is told of together with the manifests', async () => {
    const files = {
      'idops.yaml': 'version: 1\nserver: {base_url: "not a url", auth: {token: x}}\n',
      'manifests/bad.yaml': 'kind: Usr\n',
    };
    const env = { IDOPS_BASE_URL: undefined };
    await expectRefused(files, 'bad-address', env);
    await expectRefused(files, 'unknown-kind', env);
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

describe('an answer to a read', () => {
  const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new\n`;

  it.each<[string, unknown]>([
    ['is no JSON', '<html>Welcome</html>'],
    ['has no data', '{}'],
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
    [422, { code: 'X', message: 'Both.', errors: { page: ['is strange'] } }, 'Both.: page: is strange'],
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
});
