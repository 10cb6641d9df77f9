import { describe, expect, it } from 'vitest';
import { ids } from '../sandbox/asking.js';
import { pullRequest, type Workspace, workspace } from './running.js';

const acme = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
});

/** The one comment that idops wrote, and its heading. */
function comment({ github }: Workspace): { readonly heading: string; readonly body: string } {
  expect(github.comments).toHaveLength(1);
  const body = github.comments[0]?.body ?? '';
  const heading = body.split('\n').find((line) => line.startsWith('## ')) ?? '';
  return { heading, body };
}

/** The server's address as headings show it. */
const host = ({ sandbox }: Workspace): string => sandbox.url.replace('http://', '');

describe('the heading of a comment', () => {
  it('names the environment and the server, and the configuration where it is not where it is looked for', async () => {
    const site = await workspace(acme('Renamed'));
    await site.run({ environment: 'production' }, pullRequest());
    expect(comment(site).heading).toBe(
      `## idops plan for \`production\` at \`${host(site)}\`: 1 to update, 0 unchanged`,
    );
    site.github.comments.splice(0);
    await site.write({
      'infra/idops.yaml': 'version: 1\n',
      'infra/manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: X\n',
    });
    const { summary } = await site.run({ 'working-directory': 'infra' }, pullRequest());
    const heading = `## idops plan of \`infra/idops.yaml\` at \`${host(site)}\`: 1 to update, 0 unchanged`;
    expect(comment(site).heading).toBe(heading);
    expect(summary).toContain(heading);
  });

  it('names them in the issue about drift as well', async () => {
    const site = await workspace(acme('Renamed'));
    const inputs = { 'drift-issue': 'true', environment: 'production' };
    await site.run(inputs, { event: 'schedule' });
    const [issue] = site.github.issues;
    expect(issue?.title).toBe(`Identity server is not as declared for production at ${host(site)}`);
    await site.write({ 'manifests/organizations.yaml': '' });
    await site.run(inputs, { event: 'schedule' });
    expect(issue?.body).toContain(`## idops plan for \`production\` at \`${host(site)}\`: no drift`);
  });
});

describe('a plan in which nothing is sent', () => {
  it('is no outdated one where nothing was planned before', async () => {
    const site = await workspace({ 'manifests/organizations.yaml': 'kind: Organization\nname: acme\n' });
    for (const run of [1, 2]) {
      await site.run({ comment: 'true' }, pullRequest());
      expect(comment(site).heading, String(run)).toMatch(/: nothing to change, 1 unchanged$/);
      expect(comment(site).body).not.toContain('earlier');
    }
    expect(comment(site).body).toMatch(/^<!-- idops-plan [^>]*digest=sha256:/);
  });

  it('says that it takes the place of another one, and not why', async () => {
    const site = await workspace(acme('Renamed'));
    await site.run({}, pullRequest());
    await site.write({ 'manifests/organizations.yaml': 'kind: Organization\nname: acme\n' });
    await site.run({}, pullRequest());
    const { heading, body } = comment(site);
    expect(heading).toMatch(/: outdated, nothing to change, 1 unchanged$/);
    expect(body).toContain("An earlier run planned changes here. This run's plan sends nothing.");
    expect(body).not.toMatch(/Renamed|is done|no longer declared/);
  });

  it('says that what is to be adopted is only recorded', async () => {
    const site = await workspace(
      {
        'idops.yaml': `version: 1\nserver: {profile: boruta, base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}\n`,
        'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
      },
      { profile: 'boruta' },
    );
    await site.run({ comment: 'true' }, pullRequest());
    const { heading, body } = comment(site);
    expect(heading).toMatch(/: 1 to adopt, 0 unchanged$/);
    expect(body).toContain('only recorded: nothing is sent');
    expect(body).not.toContain('outdated');
  });
});

describe('a comment', () => {
  it('says that apply refuses what is blocked', async () => {
    const site = await workspace({
      'manifests/organizations.yaml': 'kind: Organization\nname: nobody\nlabel: x\n',
    });
    await site.run({}, pullRequest());
    expect(comment(site).heading).toMatch(/: 1 blocked, 0 unchanged$/);
    expect(comment(site).body).toContain('`apply` refuses the whole plan');
  });

  it('leads to the attempt of the run, whose page has the summary, and says what was selected', async () => {
    const site = await workspace(acme('Renamed'));
    const args = `--target 'Organization/*' --kind Organization --only changes --assert`;
    await site.run({ args }, { ...pullRequest(), env: { GITHUB_RUN_ATTEMPT: '3' } });
    const { body } = comment(site);
    expect(body).toContain('](https://github.example/acme/identity/actions/runs/77/attempts/3)');
    expect(body).toContain(
      "Made with `--target 'Organization/*' --kind Organization --only changes --assert`.",
    );
  });
});

describe('a comment with a plan of before', () => {
  async function planned(inputs: { readonly [name: string]: string } = {}): Promise<Workspace> {
    const site = await workspace(acme('Renamed'));
    await site.run(inputs, pullRequest());
    expect(comment(site).body).toMatch(/^<!-- idops-plan [^>]*digest=sha256:/);
    return site;
  }

  it.each<[string, { readonly [name: string]: string }, string]>([
    ['args', { args: '--evil' }, '--evil'],
    ['another input', { 'fail-on-changes': 'maybe' }, 'fail-on-changes'],
    ['the mode of comments', { comment: 'sometimes' }, 'comment'],
    ['the command', { command: 'paln' }, 'paln'],
    ['allow-destructive', { command: 'plan', 'allow-destructive': '-1' }, 'allow-destructive'],
  ])('approves nothing any more where %s of a later run are wrong', async (_, wrong, told) => {
    const site = await planned({ environment: 'production' });
    const { code } = await site.run({ environment: 'production', ...wrong }, pullRequest());
    expect(code).toBe(1);
    const { heading, body } = comment(site);
    expect(heading).toBe('## idops plan for `production`: failed');
    expect(body).not.toContain('digest=');
    expect(body).toContain('approves nothing any more');
    expect(body).toContain(told);
  });

  it.each<[string, { readonly [path: string]: string }]>([
    ['is broken', { 'idops.yaml': 'version: [' }],
    ['is of no known version', { 'idops.yaml': 'version: 77\n' }],
  ])('approves nothing any more where the configuration %s', async (_, files) => {
    const site = await planned();
    await site.write(files);
    await site.run({}, pullRequest());
    expect(comment(site).heading).toBe('## idops plan: failed');
    expect(comment(site).body).not.toContain('digest=');
  });

  it('stays as it is where another command has wrong inputs', async () => {
    const site = await planned();
    const { body } = comment(site);
    for (const command of ['apply', 'validate']) await site.run({ command, args: '--evil' }, pullRequest());
    await site.run({ args: '--evil', comment: 'false' }, pullRequest());
    await site.run({ args: '--evil', environment: 'production' }, pullRequest());
    expect(comment(site).body).toBe(body);
  });

  it('is none where there was none and a command is wrong', async () => {
    const site = await workspace(acme('Renamed'));
    await site.run({ command: 'paln', comment: 'true' }, pullRequest());
    expect(site.github.comments).toEqual([]);
    await site.run({ args: '--evil', comment: 'true' }, pullRequest());
    expect(comment(site).heading).toBe('## idops plan: failed');
  });

  it('repeats no credential that stands in a wrong input', async () => {
    const site = await workspace(acme('Renamed'));
    const token = `eyJ${'aB3'.repeat(20)}.eyJ${'cD4'.repeat(20)}`;
    await site.run({ environment: token, args: '--evil', comment: 'true' }, pullRequest());
    expect(comment(site).heading).toMatch(/^## idops plan for `\(a value of \d+ characters\)`: failed$/);
    expect(site.github.received.join()).not.toContain(token.slice(0, 20));
  });

  it('approves nothing any more where a commit was validated alone', async () => {
    const site = await planned();
    await site.run({ token: '' }, pullRequest(7, { sender: 'dependabot[bot]' }));
    expect(comment(site).heading).toBe('## idops plan: validated only');
    expect(comment(site).body).toContain('it comes from Dependabot');
    expect(comment(site).body).toContain('1 object is valid.');
    expect(comment(site).body).not.toContain('digest=');
  });

  it('is no reason to warn of a permission that runs for forks never get', async () => {
    const site = await planned();
    const message = 'Resource not accessible by integration';
    site.github.faults.push({ method: 'GET', path: /comments/, status: 403, message });
    const { log } = await site.run({ token: '' }, pullRequest(7, { from: 'mallory/identity' }));
    expect(log).not.toContain('::warning');
  });
});
