import { describe, expect, it } from 'vitest';
import { ids } from '../sandbox/asking.js';
import { config, project, sure } from './running.js';
import { expectToFit } from './schemas.js';

const renamed = 'kind: Organization\nname: acme\nlabel: ACME Corporation\n';
const unchanged = 'kind: Organization\nname: globex\nlabel: Globex Corporation\n';
const blocked = 'kind: Organization\nname: hooli\nlabel: Hooli\n';
const user = `kind: User\nid: ${ids.ada}\ngroup: staff\n`;
const client = `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`;

describe('a plan', () => {
  it('says what would change, and closes with a summary', async () => {
    const { idops, sandbox } = await project({ 'manifests/all.yaml': `${renamed}---\n${unchanged}` });
    const { code, stdout } = await idops('plan');
    expect(code).toBe(0);
    expect(stdout).toContain('update Organization/acme  at manifests/all.yaml:1');
    expect(stdout).toContain('label: "ACME Corp" → "ACME Corporation"');
    expect(stdout).not.toContain('globex');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'Plan: 1 to update, 0 to delete, 0 to regenerate, 1 unchanged.',
    );
    expect(sandbox.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/organizations?page=1',
    ]);
  });

  it('counts what is adopted, blocked, and compared with a record', async () => {
    const { idops, write } = await project({ 'manifests/all.yaml': user });
    expect((await idops('apply --yes')).code).toBe(0);
    await write({ 'manifests/more.yaml': `${client}---\n${blocked}` });
    const { code, stdout } = await idops('plan');
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'Plan: 0 to update, 0 to delete, 0 to regenerate, 1 to adopt, 1 blocked, 1 unchanged, 1 of them by record.',
    );
  });

  it('of nothing says so', async () => {
    const { idops, sandbox } = await project({});
    const { code, stdout } = await idops('plan --detailed-exitcode');
    expect(code).toBe(0);
    expect(stdout).toContain('Nothing is declared');
    expect(sandbox.requests).toEqual([]);
  });

  it('of a selection that nothing declared is in says so, whatever the format', async () => {
    const { idops } = await project({ 'manifests/all.yaml': renamed });
    const { code, stdout } = await idops('plan --kind User');
    expect(code).toBe(0);
    expect(stdout).toContain('Nothing of what is selected is declared');
    expect((await idops('plan --kind User --format github')).stdout).toContain(
      'idops plan: nothing of what is selected is declared',
    );
  });

  it('reads only the kinds that the manifests name', async () => {
    const { idops, reads } = await project({
      'idops.yaml': sure,
      'manifests/all.yaml': `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\nstate: absent\n---\n${user}---\n${client}`,
    });
    expect((await idops('plan')).code).toBe(0);
    expect(reads()).toEqual([`GET /api/backends/${ids.backend}/email-templates/tx_code`]);
  });

  it('reads the organizations once, for themselves and for who refers to them', async () => {
    const { idops, reads } = await project({
      'idops.yaml': sure,
      'manifests/all.yaml': `${renamed}---\n${user}organizations: [acme, globex]\n`,
    });
    expect((await idops('plan')).code).toBe(0);
    expect(reads()).toEqual(['GET /api/organizations?page=1']);
  });

  it('shows memberships as sets and bodies as diffs', async () => {
    const { idops, write } = await project({
      'manifests/all.yaml': `${user}organizations: [acme, initech]\n`,
    });
    expect((await idops('apply --yes')).code).toBe(0);
    await write({
      'manifests/all.yaml': `${user}organizations: [acme, globex]\n---\nkind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: {file: body.txt}\n`,
      'manifests/body.txt': 'Hello {{ user.username }},\n\nyour code is {{ tx_code }}\n',
    });
    const { stdout } = await idops('plan');
    expect(stdout).toMatch(/^\s+\+ globex\b/m);
    expect(stdout).toMatch(/^\s+- initech\b/m);
    // Without a list of roles the ids stand beside the names.
    expect(stdout).toMatch(/- initech \(id [-0-9a-f]{36}\)/);
    expect(stdout).toMatch(/^\s+│ \+ ?your code is \{\{ tx_code \}\}$/m);
  });
});

describe('the exit code of a plan', () => {
  it.each([
    ['0 where something changes and nobody asked', renamed, 'plan', 0],
    ['2 where something changes', renamed, 'plan --detailed-exitcode', 2],
    ['0 where nothing changes', unchanged, 'plan --detailed-exitcode', 0],
    ['0 where something is adopted', client, 'plan --detailed-exitcode', 0],
    ['1 where something is blocked', blocked, 'plan', 1],
    [
      '1 where something is blocked and something changes',
      `${renamed}---\n${blocked}`,
      'plan --detailed-exitcode',
      1,
    ],
    [
      '2 where what is blocked is left out',
      `${renamed}---\n${blocked}`,
      'plan --detailed-exitcode --target Organization/acme',
      2,
    ],
  ])('is %s', async (_, manifest, args, expected) => {
    const { idops, writes } = await project({ 'manifests/all.yaml': manifest });
    expect((await idops(args)).code).toBe(expected);
    expect(writes()).toEqual([]);
  });
});

describe('a plan in JSON', () => {
  const all = [renamed, unchanged, blocked, user, client].join('---\n');

  it('is alone on standard output, and fits its schema', async () => {
    const { idops, sandbox } = await project({ 'manifests/all.yaml': all });
    const { stdout } = await idops('plan --format json');
    const plan = JSON.parse(stdout);
    expectToFit('plan', plan);
    expect(plan).toMatchObject({
      format_version: 1,
      server: sandbox.url,
      profile: 'documented',
      environment: null,
      summary: { update: 2, delete: 0, regenerate: 0, adopt: 1, blocked: 1, unchanged: 1 },
      required_scopes: ['users:manage:all'],
      warnings: [],
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(plan.changes.map(({ action }: { action: string }) => action)).not.toContain('unchanged');
    expect(plan.changes[0]).toMatchObject({
      address: 'Organization/acme',
      kind: 'Organization',
      action: 'update',
      observed: 'live',
      destructive: false,
      requests: [{ method: 'PATCH', path: `/api/organizations/${ids.acme}` }],
      fields: [{ path: 'label', before: 'ACME Corp', after: 'ACME Corporation', sensitive: false }],
      warnings: [],
      reason: null,
      declared_at: { file: 'manifests/all.yaml', line: 1 },
    });
    const [asserted] = plan.changes.filter(({ kind }: { kind: string }) => kind === 'User');
    expect(asserted).toMatchObject({
      observed: 'unknown',
      fields: [{ path: 'group', before: { unknown: true }, after: 'staff' }],
      declared_at: { file: 'manifests/all.yaml', line: 13 },
    });
  });

  it('lists unchanged objects with --debug', async () => {
    const { idops } = await project({ 'manifests/all.yaml': unchanged });
    const plan = JSON.parse((await idops('plan --format json --debug')).stdout);
    expectToFit('plan', plan);
    expect(plan.changes).toMatchObject([{ address: 'Organization/globex', action: 'unchanged' }]);
  });

  it('goes into a file besides the text', async () => {
    const { idops, read } = await project({ 'manifests/all.yaml': renamed });
    const { stdout } = await idops('plan --format json=plan.json');
    expect(stdout).toContain('Plan: 1 to update');
    expectToFit('plan', JSON.parse(await read('plan.json')));
  });

  it('that can not be written is an error', async () => {
    const { idops } = await project({ 'manifests/all.yaml': renamed });
    const { code, stderr } = await idops('plan --format json=manifests');
    expect(code).toBe(1);
    expect(stderr).toContain('error[not-writable]: manifests');
  });
});

describe('a target', () => {
  const files = { 'manifests/all.yaml': [renamed, unchanged, user, client].join('---\n') };
  const addresses = (stdout: string) =>
    JSON.parse(stdout).changes.map(({ address }: { address: string }) => address);

  it.each([
    ['an address', '--target Organization/acme', ['Organization/acme']],
    ['an address by id', `--target Organization/${ids.acme}`, ['Organization/acme']],
    [
      'several',
      `--target User/${ids.ada} --target Organization/acme`,
      ['Organization/acme', `User/${ids.ada}`],
    ],
    ['a wildcard', '--target Organization/*', ['Organization/acme', 'Organization/globex']],
    [
      'a wildcard across /',
      '--target *0001',
      ['Organization/acme', `User/${ids.ada}`, `Client/${ids.portal}`],
    ],
    ['a kind', '--kind User', [`User/${ids.ada}`]],
    ['two kinds', '--kind User --kind Client', [`User/${ids.ada}`, `Client/${ids.portal}`]],
    ['a kind and a target', '--kind Client --target *', [`Client/${ids.portal}`]],
  ])('may be %s', async (_, args, expected) => {
    const { idops } = await project(files);
    expect(addresses((await idops(`plan --format json --debug ${args}`)).stdout)).toEqual(expected);
  });

  it.each(['User/nobody', 'Organization/hooli', 'user/*', 'Client'])(
    'that matches nothing is an error: %s',
    async (target) => {
      const { idops } = await project(files);
      const { code, stdout, stderr } = await idops(`plan --target ${target}`);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(`--target ${target} matches nothing`);
    },
  );

  it('leaves the other kinds unread', async () => {
    const { idops, sandbox } = await project({ 'idops.yaml': sure, ...files });
    expect((await idops(`plan --target User/${ids.ada}`)).code).toBe(0);
    expect(sandbox.requests).toEqual([]);
  });
});

describe('the options for all commands', () => {
  it('name another configuration, whose folder is the root', async () => {
    const { idops } = await project({
      'sub/other.yaml': config,
      'sub/manifests/all.yaml': renamed,
      'manifests/broken.yaml': '[',
    });
    expect((await idops('plan --config sub/other.yaml')).stdout).toContain('sub/manifests/all.yaml:1');
    const env = { IDOPS_CONFIG: 'sub/other.yaml' };
    expect((await idops('plan', { env })).stdout).toContain('Plan: 1 to update');
  });

  it('choose an environment', async () => {
    const { idops } = await project({
      'idops.yaml': `${config}vars: {label: Base}\nenvironments:\n  staging:\n    vars: {label: Staging}\n`,
      'manifests/all.yaml': `kind: Organization\nname: acme\nlabel: \${label}\n`,
    });
    const label = async (args: string, env = {}) => {
      const { stdout } = await idops(`plan --format json ${args}`, { env });
      const plan = JSON.parse(stdout);
      return [plan.environment, plan.changes[0].fields[0].after];
    };
    expect(await label('')).toEqual([null, 'Base']);
    expect(await label('--env staging')).toEqual(['staging', 'Staging']);
    expect(await label('', { IDOPS_ENV: 'staging' })).toEqual(['staging', 'Staging']);
    const { code, stderr } = await idops('plan --env stagign');
    expect(code).toBe(1);
    expect(stderr).toContain('did you mean "staging"?');
  });

  it('name the server and a token file, above the configuration', async () => {
    const { idops, write, sandbox } = await project({
      'idops.yaml': 'version: 1\nserver: {base_url: "https://id.invalid", auth: {token_file: missing}}\n',
      'manifests/all.yaml': renamed,
    });
    await write({ token: `${sandbox.token}\n` });
    const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: undefined };
    const ran = await idops(`plan --base-url ${sandbox.url} --token-file token`, { env });
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to update') });
  });

  it('let the server section be left out', async () => {
    const { idops } = await project({ 'idops.yaml': 'version: 1\n', 'manifests/all.yaml': renamed });
    expect(await idops('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to update') });
  });

  it('limit how much is asked at once', async () => {
    let busy = 0;
    let busiest = 0;
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const types = Array.from({ length: 12 }, (_, index) => `type_${index}`);
    const { idops } = await project(
      {
        'idops.yaml': sure,
        'manifests/all.yaml': types
          .map((type) => `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${type}\nstate: absent\n`)
          .join('---\n'),
      },
      {
        intercept: async () => {
          busy += 1;
          busiest = Math.max(busiest, busy);
          if (busy === 3) open();
          await opened;
          busy -= 1;
          return undefined;
        },
      },
    );
    expect((await idops('plan --concurrency 3')).code).toBe(0);
    expect(busiest).toBe(3);
  });

  it('quieten all but the result', async () => {
    const { idops } = await project({ 'manifests/all.yaml': renamed });
    expect((await idops('plan')).stderr).not.toBe('');
    expect(await idops('plan --quiet')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('1 to update'),
    });
  });

  it('take the colours away', async () => {
    const { idops } = await project({ 'manifests/all.yaml': renamed });
    const env = { FORCE_COLOR: '1' };
    expect((await idops('plan', { env })).stdout).toContain('\u001b[');
    expect((await idops('plan --no-color', { env })).stdout).not.toContain('\u001b[');
    expect((await idops('plan', { env: { ...env, NO_COLOR: '1' } })).stdout).not.toContain('\u001b[');
    expect((await idops('plan')).stdout).not.toContain('\u001b[');
  });

  it('tell more with --debug', async () => {
    const { idops } = await project({ 'manifests/all.yaml': `${renamed}---\n${unchanged}` });
    const { stdout } = await idops('plan --debug');
    expect(stdout).toContain(`sends PATCH /api/organizations/${ids.acme}`);
    expect(stdout).toContain('unchanged Organization/globex');
  });
});

describe('a recorded value', () => {
  it('is compared without a request, and sent all the same with --assert', async () => {
    const { idops, writes } = await project({ 'manifests/all.yaml': user });
    expect((await idops('apply --yes')).code).toBe(0);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect((await idops('plan --detailed-exitcode --assert')).code).toBe(2);
    expect((await idops('apply --yes --assert')).code).toBe(0);
    expect(writes()).toEqual([`PATCH /api/users/${ids.ada}`, `PATCH /api/users/${ids.ada}`]);
  });

  it('tells when it was recorded', async () => {
    const { idops, write } = await project({ 'manifests/all.yaml': user });
    expect((await idops('apply --yes')).code).toBe(0);
    await write({ 'manifests/all.yaml': user.replace('staff', 'guests') });
    expect((await idops('plan')).stdout).toMatch(
      /recorded \d{4}-\d\d-\d\dT[\d:.]+Z, not read from the server/,
    );
  });
});

describe('pruning', () => {
  const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new\n`;

  it('deletes a template that idops applied and no manifest names any more, and never without being told', async () => {
    const { idops, write, writes, sandbox } = await project({ 'manifests/all.yaml': template });
    expect((await idops('apply --yes')).code).toBe(0);
    await write({ 'manifests/all.yaml': unchanged });
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect((await idops('plan --detailed-exitcode --prune')).code).toBe(2);
    expect((await idops('apply --prune --yes')).code).toBe(0);
    expect(writes().at(-1)).toBe(`DELETE /api/backends/${ids.backend}/email-templates/tx_code`);
    expect(sandbox.data.templates.map(({ type }) => type)).not.toContain('tx_code');
    expect((await idops('plan --detailed-exitcode --prune')).code).toBe(0);
  });

  it('leaves a template alone that idops never wrote', async () => {
    const { idops } = await project({ 'manifests/all.yaml': unchanged });
    expect((await idops('plan --detailed-exitcode --prune')).code).toBe(0);
  });
});
