import { describe, expect, it } from 'vitest';
import { version } from '../../src/base/version.js';
import { jsonSchema } from '../../src/session/json-schema.js';
import { schemaNames } from '../../src/session/schema-names.js';
import { project } from './running.js';

const organization = { 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' };

describe('the command line', () => {
  it('tells its version', async () => {
    const { idops } = await project({});
    expect(await idops('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    ['an unknown command', 'plam'],
    ['an unknown option', 'plan --targets User/1'],
    ["another command's option", 'plan --yes'],
    ['an option of apply', 'plan --allow-destructive 1'],
    ['an option without its value', 'plan --target'],
    ['an empty target', 'plan --target='],
    ['an unknown kind', 'plan --kind Users'],
    ['an unknown format', 'plan --format yaml'],
    ['two formats for standard output', 'plan --format text --format json'],
    ['a format without its file', 'plan --format json='],
    ['a concurrency of none', 'plan --concurrency 0'],
    ['a concurrency that is no number', 'plan --concurrency many'],
    ['a concurrency with a fraction', 'plan --concurrency 1.5'],
    ['a timeout of none', 'plan --timeout 0'],
    ['a timeout that is no number', 'plan --timeout soon'],
    ['a negative number of destructions', 'apply --yes --allow-destructive=-1'],
    ['an argument too many', 'plan one two'],
    ['a client that is not named', 'regenerate-did --yes'],
    ['an unknown schema', 'schema manifests'],
    ['an unknown profile', 'sandbox --profile full'],
    ['a port that is none', 'sandbox --port 99999'],
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

  it.each(['--format github', '--format=github'])('refuses as an annotation too, with %s', async (format) => {
    const { idops } = await project({});
    expect(await idops(`plan --concurrency 0 ${format}`)).toMatchObject({
      code: 1,
      stdout:
        "::error title=idops wrong-option::option '--concurrency <N>' argument '0' is invalid. It must be a whole number from 1 to 1000.%0Ahelp: idops --help lists what there is\n",
      stderr: `error[wrong-option]: option '--concurrency <N>' argument '0' is invalid. It must be a whole number from 1 to 1000.
   = help: idops --help lists what there is

1 error
`,
    });
  });
});

describe('idops validate', () => {
  it('says how many objects are valid, and asks no server', async () => {
    const { idops, sandbox } = await project(organization);
    expect(await idops('validate')).toMatchObject({ code: 0, stdout: '1 object is valid.\n', stderr: '' });
    expect(sandbox.requests).toEqual([]);
  });

  it('needs neither a server section nor a token', async () => {
    const { idops } = await project({ 'idops.yaml': 'version: 1\n', ...organization });
    const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: undefined };
    expect(await idops('validate', { env })).toMatchObject({ code: 0, stderr: '' });
  });

  it('takes an allowed variable that is not set, with a warning', async () => {
    const { idops } = await project({
      'idops.yaml': 'version: 1\nallow_env: [SMTP_PASSWORD]\n',
      'manifests/user.yaml': `kind: User\nid: u\nbackend: {smtp_password: "\${SMTP_PASSWORD}"}\n`,
    });
    const { code, stderr } = await idops('validate');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning\[.*SMTP_PASSWORD/m);
  });

  it('shows the place of a mistake', async () => {
    const { idops } = await project({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlable: x\n' });
    const { code, stdout, stderr } = await idops('validate');
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe(`error[unknown-field]: unknown field "lable" in Organization, did you mean "label"?
  --> manifests/all.yaml:3:1
   |
 3 | lable: x
   | ^^^^^

1 error
`);
  });

  it('reports every mistake of a project at once', async () => {
    const { idops } = await project({
      'manifests/a.yaml': 'kind: Organization\nlable: x\n---\nkind: Usr\nid: u\n',
      'manifests/b.yaml': `kind: User\nid: u\nblocked: "yes"\nmetadata: {a: "\${NOWHERE}"}\n`,
      'manifests/c.yaml': 'kind: KeyPair\nid: [\n',
    });
    const { code, stdout } = await idops('validate --format json');
    expect(code).toBe(1);
    const { problems } = JSON.parse(stdout);
    const files = problems.map(({ places }: { places: { file: string }[] }) => places[0]?.file);
    expect(new Set(files)).toEqual(new Set(['manifests/a.yaml', 'manifests/b.yaml', 'manifests/c.yaml']));
    expect(problems.length).toBeGreaterThanOrEqual(5);
    expect(problems).toContainEqual(expect.objectContaining({ code: 'unknown-kind', severity: 'error' }));
  });
});

describe('idops schema', () => {
  it.each(schemaNames)('prints the schema of a %s', async (name) => {
    const { idops } = await project({});
    const { code, stdout, stderr } = await idops(`schema ${name}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(jsonSchema(name))));
  });

  it('prints the one of a manifest where none is named', async () => {
    const { idops } = await project({});
    expect(JSON.parse((await idops('schema')).stdout).title).toContain('manifest');
  });
});

describe('idops sandbox', () => {
  async function ask(stdout: string, path: string): Promise<unknown> {
    const [, url, token] = /IDOPS_BASE_URL=(\S+)\nexport IDOPS_TOKEN=(\S+)\n/.exec(stdout) ?? [];
    const answer = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    });
    return await answer.json();
  }

  async function sandbox(...args: string[]) {
    const { begin } = await project({});
    const running = begin(['sandbox', ...args]);
    let stdout = '';
    running.child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    await running.said('IDOPS_TOKEN');
    return { ...running, ask: (path: string) => ask(stdout, path) };
  }

  it('prints an address and a token that work, and ends when it is interrupted', async () => {
    const running = await sandbox();
    expect(await running.ask('/api/organizations')).toMatchObject({ total_entries: 4 });
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
  });
});
