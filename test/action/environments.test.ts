import { beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { afterwards } from '../cleanups.js';
import { type ActionRun, githubToken, pullRequest, type Workspace, workspace } from './running.js';

const config = `version: 1
server: {auth: {token: "\${IDOPS_TOKEN}"}}
environments:
  staging: {vars: {where: staging}}
  production: {vars: {where: production}}
`;
const acme = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: "${label} \${where}"\n`,
});
const sha = 'abc123';

let site: Workspace;
let production: Sandbox;
let productionToken: string;
let lines: { readonly [name: string]: string };

beforeEach(async () => {
  site = await workspace({ 'idops.yaml': config, ...acme('Renamed') });
  production = await startSandbox();
  productionToken = production.token;
  afterwards(() => production.close());
  lines = {
    environments: 'staging, production',
    'base-url': `staging: ${site.sandbox.url}\nproduction: ${production.url}`,
    token: `staging: ${site.sandbox.token}\nproduction: ${productionToken}`,
  };
});

/** Runs with an address and a token for each environment, and no variables that say them. */
function run(
  inputs: { readonly [name: string]: string } = {},
  options: Parameters<Workspace['run']>[1] = pullRequest(),
): Promise<ActionRun> {
  return site.run({ ...lines, ...inputs }, { ...options, env: { IDOPS_BASE_URL: '', ...options.env } });
}

/** The one comment. */
function comment(): string {
  expect(site.github.comments).toHaveLength(1);
  return site.github.comments[0]?.body ?? '';
}

const address = ({ url }: { readonly url: string }): string => url.replace('http://', '');

describe('several environments', () => {
  it('have a plan each, one comment with a part for each, and outputs of all', async () => {
    const { code, outputs, summary, masked } = await run({ 'plan-file': 'plans/{environment}.json' });
    expect(code).toBe(0);
    expect(masked).toEqual(expect.arrayContaining([site.sandbox.token, productionToken, githubToken]));
    const body = comment();
    expect(body.split('\n').slice(0, 3).join('\n')).toMatch(
      /^<!-- idops-plan key=\w{16} run=77 -->\n(?:<!-- idops-plan key=\w{16} digest=sha256:\w{64} [^>]*-->\n?){2}$/,
    );
    for (const text of [body, summary]) {
      expect(text).toContain('## idops plan: 2 environments\n\n- `staging`: 1 to update');
      const parts = [
        `\`staging\` at \`${address(site.sandbox)}\``,
        `\`production\` at \`${address(production)}\``,
      ];
      const [first = 0, second = 0] = parts.map((part) =>
        text.indexOf(`## idops plan for ${part}: 1 to update`),
      );
      expect(first).toBeGreaterThan(0);
      expect(second).toBeGreaterThan(first);
      expect(text).toContain('Renamed staging');
      expect(text).toContain('Renamed production');
    }
    expect(outputs).toMatchObject({
      changed: 'true',
      'exit-code': '2',
      update: '2',
      digest: '',
      summary: expect.stringMatching(/^staging: Plan: 1 to update.*; production: Plan: 1 to update/),
    });
    const digests = JSON.parse(outputs.digests ?? '') as { [name: string]: string };
    expect(Object.keys(digests)).toEqual(['staging', 'production']);
    for (const [name, digest] of Object.entries(digests)) {
      const file = (outputs['plan-file'] ?? '').replace('{environment}', name);
      expect(JSON.parse(await site.read(file))).toMatchObject({ digest, environment: name });
      const page = await site.read((outputs['html-report'] ?? '').replace('{environment}', name));
      expect(page).toContain(`Renamed ${name}`);
    }
    expect([...site.sandbox.requests, ...production.requests].every(({ method }) => method === 'GET')).toBe(
      true,
    );
  });

  it('are each approved by the comment, and get their own result in it', async () => {
    await run();
    const before = comment();
    site.github.merge(7, sha);
    const only = {
      command: 'apply',
      environments: '',
      environment: 'production',
      token: productionToken,
      'base-url': production.url,
      'expect-digest': 'from-pull-request',
    };
    const { code, log } = await run(only, { sha });
    expect(code, log).toBe(0);
    const after = comment();
    expect(after.split('\n').slice(0, 3)).toEqual(before.split('\n').slice(0, 3));
    expect(after.match(/## idops apply/g)).toHaveLength(1);
    expect(after).toContain(`## idops apply for \`production\` at \`${address(production)}\`: 1 applied`);
    expect(after.indexOf('idops apply')).toBeGreaterThan(after.indexOf('## idops plan for `staging`'));
    expect(after.match(/## idops plan for/g)).toHaveLength(2);
    expect(after).toContain('\n- `production`: apply: 1 applied\n');
    expect(after).toContain('\n- `staging`: 1 to update');
    expect(site.sandbox.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('leave the others their plan where one fails, which says so in its part', async () => {
    const token = `staging: ${site.sandbox.token}\nproduction: wrong-token-0123456789`;
    const { code, log, outputs, summary } = await run({ token });
    expect(code).toBe(1);
    expect(outputs).toMatchObject({ 'exit-code': '1', changed: 'true', update: '1', failed: 'true' });
    expect(Object.keys(JSON.parse(outputs.digests ?? ''))).toEqual(['staging']);
    for (const text of [comment(), summary]) {
      expect(text).toContain('- `production`: **failed**');
      expect(text).toContain('## idops plan for `production`: failed');
      expect(text).toContain('server-unauthorized');
      expect(text).toContain('Renamed staging');
    }
    expect(comment().match(/digest=sha256/g)).toHaveLength(1);
    expect(log + comment()).not.toContain('wrong-token');
  });

  it('send no token to another server than its own', async () => {
    await run(
      { token: `production: ${productionToken}` },
      { ...pullRequest(), env: { IDOPS_TOKEN: 'token-of-the-process' } },
    );
    expect(site.sandbox.requests).toEqual([]);
    expect(comment()).toContain('- `staging`: **failed**');
    expect(comment()).toContain('the input token has no line for staging');
    expect(comment()).not.toContain('is not set');
    expect(comment()).toContain('- `production`: 1 to update');
  });

  it.each<[string, { readonly [name: string]: string }, string]>([
    ['one token for several servers', { token: 'one-token-0123456789' }, 'one token is given for several'],
    ['apply', { command: 'apply' }, 'plan and validate alone'],
    ['environment besides', { environment: 'staging' }, 'environment and environments'],
    ['one file for all plans', { 'plan-file': 'plan.json' }, '{environment}'],
    ['one twice', { environments: 'staging, staging' }, 'one twice'],
    ['a name that is a path', { environments: '../x, staging' }, 'names "../x"'],
    ['a token of another', { token: 'nowhere: secret-0123456789' }, 'line 1 of the input token'],
    [
      'an address twice',
      { 'base-url': 'staging: http://a\nstaging: http://b' },
      'line 2 of the input base-url',
    ],
  ])('are refused with %s', async (_, inputs, told) => {
    const { code, log } = await run(inputs);
    expect(code).toBe(1);
    expect(log).toContain(told);
    expect(log).not.toMatch(/one-token|secret-0/);
    expect([...site.sandbox.requests, ...production.requests]).toEqual([]);
  });

  it('may have one token where they have one address', async () => {
    const { code, outputs } = await run({ token: site.sandbox.token, 'base-url': site.sandbox.url });
    expect(code).toBe(0);
    expect(outputs.update).toBe('2');
  });

  it('approve nothing any more where a later run has wrong inputs', async () => {
    await run({ environments: 'production, staging' });
    await run({ args: '--evil' });
    expect(comment()).toContain('## idops plan for `staging, production`: failed');
    expect(comment()).not.toContain('digest=');
  });

  it('are outdated each by itself', async () => {
    await run();
    await site.write({
      'manifests/organizations.yaml': '',
      'production/a.yaml': 'kind: Organization\nname: acme\nlabel: X\n',
      'idops.yaml': config.replace('{vars: {where: production}}', '{manifests: [production/*.yaml]}'),
    });
    await run();
    expect(comment()).toMatch(/## idops plan for `staging` at `[^`]+`: outdated, nothing is declared/);
    expect(comment()).toMatch(/## idops plan for `production` at `[^`]+`: 1 to update/);
    await run();
    expect(comment()).toMatch(/## idops plan for `staging` at `[^`]+`: outdated, nothing is declared/);
  });

  describe('planned apart as well', () => {
    const wrong = 'wrong-token-0123456789';
    const alone = (): { readonly [name: string]: string } => ({
      environments: '',
      environment: 'production',
      token: productionToken,
      'base-url': production.url,
    });
    const applied = async (): Promise<ActionRun> => {
      site.github.merge(7, sha);
      return await run({ ...alone(), command: 'apply', 'expect-digest': 'from-pull-request' }, { sha });
    };
    const bodies = (): string[] => site.github.comments.map(({ body }) => body);

    it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
      [
        'together it fails',
        () => run(alone()),
        () => run({ token: `staging: ${site.sandbox.token}\nproduction: ${wrong}` }),
      ],
      ['together the inputs are wrong', () => run(alone()), () => run({ args: '--evil' })],
      ['alone it fails', () => run(), () => run({ ...alone(), token: wrong })],
      ['alone the inputs are wrong', () => run(), () => run({ ...alone(), args: '--evil' })],
    ])('approve nothing any more where later %s', async (_, first, second) => {
      await first();
      await second();
      expect(bodies()).toHaveLength(2);
      expect(bodies()[0]).toContain('**Superseded**: ');
      const { code, log } = await applied();
      expect(code).toBe(1);
      expect(log).toContain('shows no plan for this environment');
      expect(production.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    });

    it.each([
      ['together', 0],
      ['alone', 1],
    ])('are approved by the later comment, of a plan %s, which gets the result', async (_, later) => {
      const steps = [() => run(alone()), () => run()];
      await steps[1 - later]?.();
      await site.write(acme('Again'));
      await steps[later]?.();
      // One is found again as well.
      await steps[1 - later]?.();
      await steps[later]?.();
      expect(bodies()).toHaveLength(2);
      const [superseded = ''] = bodies();
      const { code, log } = await applied();
      expect(code, log).toBe(0);
      expect(bodies()[0]).toBe(superseded);
      expect(superseded).toContain('**Superseded**: ');
      expect(bodies()[1]).toContain(': 1 applied');
      expect(bodies()[1]).not.toContain('Superseded');
      // What is not in the later one is still approved.
      const all = bodies().join('\n');
      expect(all.match(/^<!-- idops-plan [^>]*digest=/gm)).toHaveLength(2);
      expect(all.match(/^<!-- idops-past /gm)).toHaveLength(1);
    });

    it('carry nothing on that somebody else wrote', async () => {
      await run();
      const [comment] = site.github.comments;
      if (comment !== undefined) site.github.edit(comment, { id: 5, login: 'mallory' }, `${comment.body}x`);
      await run(alone());
      expect(bodies()).toHaveLength(2);
      expect(bodies()[0]).not.toContain('Superseded');
      const { code, log } = await applied();
      expect(code).toBe(1);
      expect(log).toContain('was edited by mallory');
    });

    it('are one where one is named', async () => {
      await run({
        environments: 'production',
        token: `production: ${productionToken}`,
        'base-url': production.url,
      });
      expect(comment()).toContain('## idops plan: 1 environment\n');
    });
  });

  it('are validated each', async () => {
    const { code, outputs } = await run({ command: 'validate', token: '' });
    expect(code).toBe(0);
    expect(outputs.summary).toBe('staging: 1 object is valid; production: 1 object is valid');
    await site.write({
      'idops.yaml': config.replace('{vars: {where: production}}', '{vars: {}}'),
    });
    const broken = await run({ command: 'validate', token: '' });
    expect(broken.code).toBe(1);
    expect(broken.outputs.summary).toBe('staging: 1 object is valid; production: 1 error');
  });

  it('name every change of each in a comment that GitHub takes', async () => {
    const organizations = Array.from({ length: 300 }, (_, index) => ({
      id: `19999999-0000-4000-8000-${String(index).padStart(12, '0')}`,
      name: `organization-${index}`,
      label: 'old',
    }));
    production.data.organizations.push(...organizations);
    await site.write({
      'production/a.yaml': organizations
        .map(({ name }) => `kind: Organization\nname: ${name}\nlabel: "${'ü'.repeat(300)}"\n`)
        .join('---\n'),
      'idops.yaml': config.replace(
        '{vars: {where: production}}',
        '{vars: {where: production}, manifests: [manifests/*.yaml, production/*.yaml]}',
      ),
    });
    await run();
    const body = comment();
    expect(body.length).toBeLessThanOrEqual(65_536);
    for (const { name } of organizations) expect(body).toContain(`Organization/${name}`);
    expect(body).toContain('Renamed staging');
  });
});
