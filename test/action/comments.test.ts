import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import {
  type ActionOptions,
  acme,
  failed,
  nobody,
  nothing,
  planned,
  pullRequest,
  repository,
  type Workspace,
  went,
  workspace,
} from './running.js';

/** The only comment of idops, and its heading. */
function comment({ github }: Workspace): { readonly heading: string; readonly body: string } {
  expect(github.comments).toHaveLength(1);
  const body = github.comments[0]?.body ?? '';
  const heading = body.split('\n').find((line) => line.startsWith('## ')) ?? '';
  return { heading, body };
}

/** The host of the server, as headings show it. */
const host = ({ sandbox }: Workspace): string => sandbox.url.replace('http://', '');

describe('the heading of a comment', () => {
  it('names environment and server, and the configuration if it is not the default', async () => {
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
    const { log, summary } = await site.run({ 'working-directory': 'infra' }, pullRequest());
    expect(log).toContain('::notice file=infra/manifests/a.yaml,line=1,');
    const heading = `## idops plan of \`infra/idops.yaml\` at \`${host(site)}\`: 1 to update, 0 unchanged`;
    expect(comment(site).heading).toBe(heading);
    expect(summary).toContain(heading);
  });

  it('names them in the drift issue too', async () => {
    const site = await workspace(acme('Renamed'));
    const inputs = { 'drift-issue': 'true', environment: 'production' };
    await site.run(inputs, { event: 'schedule' });
    const [issue] = site.github.issues;
    expect(issue?.title).toBe(`Identity server is not as declared for production at ${host(site)}`);
    await site.write(nothing);
    await site.run(inputs, { event: 'schedule' });
    expect(issue?.body).toContain(`## idops plan for \`production\` at \`${host(site)}\`: no drift`);
  });
});

describe('the commit in a comment for pr-number', () => {
  const dispatched: ActionOptions = { event: 'workflow_dispatch', sha: 'c0ffee'.padEnd(40, '0') };

  /** A workspace with the open pull request 8, whose last commit is `head`. */
  async function open(head: string) {
    const site = await workspace(acme('Renamed'));
    const pull = Object.assign(site.github.merge(8, ''), { merged_at: null, merge_commit_sha: null });
    pull.head = { sha: head };
    const planned = async (event = dispatched, more = {}) =>
      await site.run({ 'pr-number': '8', 'base-url': site.sandbox.url, comment: 'true', ...more }, event);
    return { site, plan: planned };
  }

  /** Commits the workspace with these parents, and checks the commit out. */
  function commit({ folder }: Workspace, ...parents: readonly string[]): string {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=jo', '-c', 'user.email=jo@example.com', ...args], {
        cwd: folder,
        encoding: 'utf8',
      }).trim();
    git('init', '--quiet');
    git('add', '--all');
    const of = parents.flatMap((parent) => ['-p', parent]);
    const made = git('commit-tree', git('write-tree'), '-m', `after ${parents.join()}`, ...of);
    git('checkout', '--quiet', '--detach', made);
    return made;
  }

  const head = 'beadfeed'.padEnd(40, '0');
  it.each<ActionOptions>([
    dispatched,
    {
      ...dispatched,
      event: 'issue_comment',
      payload: { issue: { number: 8, pull_request: {} }, repository },
    },
  ])('is the last commit of the branch, also in links ($event)', async (event) => {
    const { site, plan } = await open(head);
    const { summary } = await plan(event, { 'drift-issue': 'true' });
    for (const text of [comment(site).body, summary]) expect(text).toContain(`/blob/${head}/manifests/`);
    expect(comment(site).body).toContain(`<sub>Commit \`${head}\``);
    expect(comment(site).body + summary).not.toContain('c0ffee');
    expect(site.github.issues).toEqual([]);
  });

  it('must be checked out, or merged into what is checked out', async () => {
    const { site, plan } = await open(head);
    const main = commit(site);
    await failed(plan(), `of the commit ${main.slice(0, 12)}`);
    expect(comment(site).body).toContain('error[other-commit]');
    expect(comment(site).body).not.toContain('digest=');
    expect(site.sandbox.requests).toEqual([]);
    const topic = commit(site, main);
    for (const checkedOut of [topic, commit(site, main, topic)]) {
      execFileSync('git', ['checkout', '--quiet', checkedOut], { cwd: site.folder });
      for (const pull of site.github.pulls) pull.head = { sha: topic };
      await went(plan());
      expect(comment(site).body).toContain(`<sub>Commit \`${topic}\``);
      expect(comment(site).body).toContain('digest=');
    }
    const target = { ...pullRequest(8, { sha: main }), event: 'pull_request_target' };
    expect((await plan(target)).log).toContain('other-commit');
  });

  it('prevents the comment if the branch has a newer commit', async () => {
    const { site, plan } = await open(head);
    const [pull] = site.github.pulls;
    // The settings of the base are read before the plan is made.
    const heads = [head, head, 'fade'.padEnd(40, '0')];
    Object.defineProperty(pull, 'head', { enumerable: true, get: () => ({ sha: heads.shift() }) });
    expect((await went(plan())).log).toContain('pull request #8 ends with fade00000000 now');
    expect(site.github.comments).toEqual([]);
  });
});

describe('a plan that sends nothing', () => {
  it('is announced as nothing to change', async () => {
    const site = await workspace({ 'manifests/organizations.yaml': 'kind: Organization\nname: acme\n' });
    for (const run of [1, 2]) {
      await site.run({ comment: 'true' }, pullRequest());
      expect(comment(site).heading, String(run)).toMatch(/: nothing to change, 1 unchanged$/);
    }
    expect(comment(site).body).toMatch(/^<!-- idops-plan [^>]*digest=sha256:/);
  });

  it('is announced as only recorded if it adopts', async () => {
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
  });
});

describe('a comment', () => {
  it('warns that apply refuses a blocked plan', async () => {
    const site = await workspace(nobody);
    await site.run({}, pullRequest());
    expect(comment(site).heading).toMatch(/: 1 blocked, 0 unchanged$/);
    expect(comment(site).body).toContain('`apply` refuses the whole plan');
  });

  it('links the attempt of the run and its artifacts, and names the selection', async () => {
    const site = await workspace(acme('Renamed'));
    const args = `--target 'Organization/*' --kind Organization --only changes --assert`;
    await site.run({ args }, { ...pullRequest(), env: { GITHUB_RUN_ATTEMPT: '3' } });
    const { body } = comment(site);
    expect(body).toContain('](https://github.example/acme/identity/actions/runs/77/attempts/3)');
    expect(body).toContain('](https://github.example/acme/identity/actions/runs/77#artifacts)');
    expect(body).toContain(`Made with \`${args}\`.`);
  });
});

describe('the last line of a comment', () => {
  const last = (site: Workspace): string | undefined => comment(site).body.trimEnd().split('\n').at(-1);
  const env = { environment: 'production' };
  const ifRequired = 'after a review of the environment if it requires one.';
  const reviewed = `Merging applies this to \`production\`, after an approving review of this plan, ${ifRequired}`;
  const merged = `Merging applies this to \`production\`, ${ifRequired}`;
  const unknown = reviewed.replace('plan, after', 'plan if the branch requires reviews, after');
  const same = { 'manifests/organizations.yaml': 'kind: Organization\nname: acme\n' };

  it.each([
    ['a review is required', acme('A'), { approve: 'reviewed' }, reviewed],
    ['the merge suffices', acme('A'), { approve: 'merged' }, merged],
    ['it is unknown which', acme('A'), {}, unknown],
    [
      'it shows a part of the objects',
      acme('A'),
      { args: '--kind Organization' },
      /^This comment approves nothing, since/,
    ],
    ['a change is blocked', nobody, {}, /^Merging applies nothing to `production`: `apply` refuses/],
    ['nothing changes', same, { comment: 'true' }, /^Merging sends nothing to `production`: /],
  ])('explains what happens next if %s', async (_, files, inputs: { [name: string]: string }, line) => {
    const site = await workspace(files);
    await site.run({ ...env, ...inputs }, pullRequest());
    if (typeof line === 'string') expect(last(site)).toBe(line);
    else expect(last(site)).toMatch(line);
  });

  it('depends on what the base branch requires', async () => {
    const site = await workspace(acme('Renamed'));
    await site.run(env, pullRequest(7, { ref: 'main' }));
    expect(last(site)).toBe(merged);
    site.github.required.byRuleset = 1;
    await site.run(env, pullRequest(7, { ref: 'main' }));
    expect(last(site)).toBe(reviewed);
  });
});

describe('a comment with an earlier plan', () => {
  it.each<[string, { readonly [path: string]: string }]>([
    ['is broken', { 'idops.yaml': 'version: [' }],
    ['has an unknown version', { 'idops.yaml': 'version: 77\n' }],
  ])('is no approval any more if the configuration %s', async (_, files) => {
    const site = await planned('Renamed');
    await site.write(files);
    await site.run({}, pullRequest());
    expect(comment(site).heading).toBe('## idops plan: failed');
    expect(comment(site).body).not.toContain('digest=');
  });

  it('is no approval any more if a commit was only validated', async () => {
    const site = await planned('Renamed');
    await site.run({ token: '' }, pullRequest(7, { sender: 'dependabot[bot]' }));
    expect(comment(site).heading).toBe('## idops plan: validated only');
    expect(comment(site).body).toContain('it comes from Dependabot');
    expect(comment(site).body).toContain('1 object is valid.');
    expect(comment(site).body).not.toContain('digest=');
  });

  it('is no approval any more if a later push reverts the manifests', async () => {
    const paths = 'idops.yaml manifests/**';
    const site = await workspace(acme('Renamed'));
    site.github.files.push('README.md', 'manifests/organizations.yaml');
    await site.run({ paths }, pullRequest());
    expect(comment(site).body).toMatch(/^<!-- idops-plan [^>]*digest=sha256:/);
    site.github.files.pop();
    const { code, outputs } = await site.run({ paths }, pullRequest());
    expect({ code, ...outputs }).toMatchObject({ code: 0, changed: 'false', 'comment-file': '' });
    expect(comment(site).heading).toBe('## idops plan: nothing to plan');
    expect(comment(site).body).not.toContain('digest=');
    await site.run({ paths }, pullRequest(8));
    expect(site.github.comments).toHaveLength(1);
  });

  it('causes no warning about a permission that runs for forks never have', async () => {
    const site = await planned('Renamed');
    site.github.forbid('GET', /comments/);
    const { log } = await site.run({ token: '' }, pullRequest(7, { from: 'mallory/identity' }));
    expect(log).not.toContain('::warning');
  });
});
