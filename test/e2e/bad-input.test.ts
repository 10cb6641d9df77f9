import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { cli, config, failed, project, refused } from './running.js';

describe('a configuration', () => {
  it('with a limit from a variable is checked by validate and plan, if the variable is set', async () => {
    const { idops, sandbox } = await project({
      'idops.yaml': `${config}safety: {max_destructive: "\${IDOPS_LIMIT}"}\n`,
      'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n',
    });
    for (const command of ['validate', 'plan']) {
      for (const [value, why] of [
        ['-1', 'must be 0 or more'],
        ['abc', 'expected a number'],
      ] as const) {
        await failed(idops(command, { env: { IDOPS_LIMIT: value } }), why, 'idops.yaml:6');
      }
      expect(sandbox.requests).toEqual([]);
      expect((await idops(command, { env: { IDOPS_LIMIT: '3' } })).code).toBe(0);
      expect((await idops(command)).code).toBe(0);
      sandbox.requests.splice(0);
    }
    expect((await idops('validate')).stderr).toContain('warning[unset-variable]');
  });

  it('is reported together with the manifests', async () => {
    const { idops, sandbox, files } = await project({
      'idops.yaml': 'version: 1\nserver: {base_url: "not a url", auth: {token: x}}\n',
      'manifests/bad.yaml': 'kind: Usr\n',
    });
    const before = await files();
    const env = { IDOPS_BASE_URL: undefined };
    const places = ['bad-address', 'idops.yaml:2:', 'unknown-kind', 'manifests/bad.yaml:1:7'];
    const { stderr } = await refused(idops('apply --yes', { env }), ...places);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(sandbox.requests).toEqual([]);
    expect(await files()).toEqual(before);
  });
});

it.skipIf(process.platform === 'win32')('a deleted current folder is reported', () => {
  const script = 'd=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$0" "$1" plan';
  const gone = ['-c', script, process.execPath, cli];
  const { status, stdout, stderr } = spawnSync('sh', gone, { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([
    1,
    '',
    expect.stringContaining('error[file-unreadable]: the current folder no longer exists'),
  ]);
});
