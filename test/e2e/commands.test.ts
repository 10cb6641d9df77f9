import { describe, expect, it } from 'vitest';
import { version } from '../../src/base/version.js';
import { jsonSchema } from '../../src/session/json-schema.js';
import { schemaNames } from '../../src/session/schema-names.js';
import { project } from './running.js';

const organization = { 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' };

describe('the command line', () => {
  it('prints its version', async () => {
    const { idops } = await project({});
    expect(await idops('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    ["another command's option", 'plan --yes'],
    ['an option of apply', 'plan --allow-destructive 1'],
    ['an empty target', 'plan --target='],
    ['an unknown kind', 'plan --kind Users'],
    ['an unknown format', 'plan --format yaml'],
    ['two formats for standard output', 'plan --format text --format json'],
    ['a format without its file', 'plan --format json='],
    ['a timeout of 0', 'plan --timeout 0'],
    ['a negative limit of destructive changes', 'apply --yes --allow-destructive=-1'],
    ['a missing client', 'regenerate-did --yes'],
    ['an unknown schema', 'schema manifests'],
    ['an unknown profile', 'sandbox --profile full'],
    ['an invalid port', 'sandbox --port 99999'],
  ])('refuses %s, and sends nothing', async (_, args) => {
    const { idops, sandbox, files } = await project(organization);
    const before = await files();
    const { code, stdout, stderr } = await idops(args);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error\[wrong-option\]: .+\n( {3}\| .+\n)? {3}= help: .+\n/);
    expect(sandbox.requests).toEqual([]);
    expect(await files()).toEqual(before);
  });
});

describe('idops validate', () => {
  it('prints how many objects are valid, without a server section or a token', async () => {
    const { idops } = await project({ 'idops.yaml': 'version: 1\n', ...organization });
    const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: undefined };
    expect(await idops('validate', { env })).toMatchObject({
      code: 0,
      stdout: '1 object is valid.\n',
      stderr: '',
    });
  });
});

describe('idops schema', () => {
  it.each(schemaNames)('prints the schema of a %s', async (name) => {
    const { idops } = await project({});
    const { code, stdout, stderr } = await idops(`schema ${name}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(jsonSchema(name))));
  });

  it('prints the schema of a manifest by default', async () => {
    const { idops } = await project({});
    expect(JSON.parse((await idops('schema')).stdout).title).toContain('manifest');
  });
});

describe('idops sandbox', () => {
  it('prints a URL and a token that work, and ends when it is interrupted', async () => {
    const running = (await project({})).begin(['sandbox']);
    let stdout = '';
    running.child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    await running.waitFor('IDOPS_TOKEN');
    const [, url, token] = /IDOPS_BASE_URL=(\S+)\nexport IDOPS_TOKEN=(\S+)\n/.exec(stdout) ?? [];
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const answer = await fetch(`${url}/api/organizations`, { headers });
    expect(await answer.json()).toMatchObject({ total_entries: 4 });
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
  });
});
