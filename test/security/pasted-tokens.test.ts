import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { project, type TestProject } from '../e2e/running.js';
import { bytesOf } from '../marks.js';

const jwt = `eyJ${bytesOf('1', 30).toString('hex')}.eyJ${bytesOf('2', 30).toString('hex')}.sig`;
const opaque = `a1B2${bytesOf('3', 16).toString('hex')}`;
const allScopes = ['clients:manage:all', 'users:manage:all', 'identity-providers:manage:all'] as const;
const short = 'hunter2-hunter3';

async function expectHidden(
  at: TestProject,
  args: readonly string[],
  secret: string,
  { token }: { readonly token?: string } = { token: short },
): Promise<void> {
  const { code, stdout, stderr } = await at.idopsWith(args, { env: { IDOPS_TOKEN: token } });
  expect(code, args.join(' ')).toBe(1);
  expect(stdout + stderr, args.join(' ')).not.toContain(secret.slice(0, 12));
  expect(stderr).toMatch(/^error/m);
}

describe('a token in the wrong argument is not shown', () => {
  it.each([
    ['a token of another server, a JWT', jwt],
    ['an opaque token of another server', opaque],
    ['the token of IDOPS_TOKEN', short],
  ])('%s', async (_, token) => {
    const at = await project({});
    for (const args of [
      ['plan', '--env', token],
      ['plan', token],
      ['plan', `--${token}`],
      ['plan', `-${token}`],
      [token],
      ['plan', '--concurrency', token],
      ['plan', '--kind', token],
      ['plan', '--concurrency', token, '--format', 'github'],
      ['plan', `--${token}`, '--format=github'],
      ['runs', token],
      ['plan', '--target', token, '--debug'],
      ['plan', '--format', token],
      ['plan', '--format', 'github', '--env', token],
      ['plan', '--config', token],
      ['apply', token],
      ['runs', 'show', token],
      ['schema', token],
    ]) {
      await expectHidden(at, args, token);
    }
  });

  it('the token of a token file', async () => {
    const at = await project({ token: `${short}\n` });
    for (const option of ['--env', '--concurrency'])
      await expectHidden(at, ['plan', '--token-file', 'token', option, short], short, {});
  });

  it('the token of a token file that the configuration names', async () => {
    const config = 'version: 1\nserver: {base_url: "https://id.example.com", auth: {token_file: token}}\n';
    const at = await project({ 'idops.yaml': config, token: `${short}\n` });
    for (const args of [`--env ${short}`, `--${short}`, `--concurrency=${short}`])
      await expectHidden(at, ['plan', ...args.split(' ')], short, {});
  });

  it('but other names are shown', async () => {
    const at = await project({});
    const { stderr } = await at.idops('plan --env produktion');
    expect(stderr).toContain('there is no environment "produktion"');
  });
});

describe('an organization whose name is the token', () => {
  it('appears in no journal and in no output of runs', async () => {
    const token = `idops_${bytesOf('4', 20).toString('hex')}`;
    const at = await project({}, { tokens: { [token]: allScopes } });
    const acme = at.sandbox.data.organizations.find(({ id }) => id === ids.acme);
    if (acme === undefined) throw new Error('the sandbox has no acme');
    acme.name = token;
    await at.write({ 'manifests/all.yaml': `kind: Organization\nid: ${ids.acme}\nlabel: New\n` });
    expect((await at.idops('apply --yes')).code).toBe(0);
    const files = Object.entries(await at.files());
    expect(files.some(([path]) => path.includes('runs/'))).toBe(true);
    for (const [path, text] of files) expect(text, path).not.toContain(token);
    const name = files.map(([path]) => /([^/]+)\.jsonl$/.exec(path)?.[1]).find((one) => one !== undefined);
    for (const args of [
      'runs',
      'runs --format json',
      `runs show ${name}`,
      `runs show ${name} --format json`,
    ]) {
      const { code, stdout, stderr } = await at.idops(args);
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(token);
    }
    expect((await at.idops(`undo ${name} --yes`)).code).toBe(0);
    expect(acme.label).not.toBe('New');
  });

  it('is masked in the output of runs if a journal contains it', async () => {
    const at = await project({ 'manifests/all.yaml': `kind: Organization\nid: ${ids.acme}\nlabel: New\n` });
    expect((await at.idops('apply --yes')).code).toBe(0);
    const files = Object.entries(await at.files());
    const [path = '', text = ''] = files.find(([name]) => name.endsWith('.jsonl')) ?? [];
    const token = `idops_${bytesOf('5', 20).toString('hex')}`;
    await at.write({ [path]: text.replaceAll('Organization/acme', `Organization/${token}`) });
    const name = /([^/]+)\.jsonl$/.exec(path)?.[1];
    const asked = await at.idops(`runs show ${name}`, { env: { IDOPS_TOKEN: token } });
    expect(asked.stdout).toContain('Organization/(sensitive)');
    expect(asked.stdout).not.toContain(token);
    await at.write({ token });
    const fromFile = await at.idops(`runs show ${name} --token-file token`, {
      env: { IDOPS_TOKEN: undefined },
    });
    expect(fromFile.stdout).toContain('Organization/(sensitive)');
  });
});
