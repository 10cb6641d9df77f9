import { describe, expect, it } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/options.js';
import { ids } from '../sandbox/asking.js';
import { type ActionRun, pullRequest, type Workspace, workspace } from './running.js';

const acme = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
});
const sha = 'abc123';

/** A pull request that was planned and merged. */
async function merged(
  files: { readonly [path: string]: string },
  inputs: { readonly [name: string]: string } = {},
  options: Parameters<typeof workspace>[1] = {},
): Promise<Workspace> {
  const site = await workspace(files, options);
  await site.run(inputs, pullRequest());
  site.github.merge(7, sha);
  return site;
}

function apply(site: Workspace, inputs: { readonly [name: string]: string } = {}): Promise<ActionRun> {
  return site.run({ command: 'apply', ...inputs }, { sha, env: { GITHUB_RUN_ATTEMPT: '2' } });
}

/** The one comment, and its first line. */
function comment({ github }: Workspace): { readonly first: string; readonly body: string } {
  expect(github.comments).toHaveLength(1);
  const body = github.comments[0]?.body ?? '';
  return { first: body.split('\n')[0] ?? '', body };
}

describe('the comment after apply', () => {
  it('tells the result, how it is undone and where the run is, over the plan that it had', async () => {
    const site = await merged(acme('Renamed'), { environment: 'production' });
    const before = comment(site);
    const { code, summary } = await apply(site, {
      environment: 'production',
      'expect-digest': 'from-pull-request',
    });
    expect(code).toBe(0);
    const { first, body } = comment(site);
    expect(first).toBe(before.first);
    const host = site.sandbox.url.replace('http://', '');
    const [, run = ''] = /Run `([\w-]+)`/.exec(summary) ?? [];
    expect(run).not.toBe('');
    const [result = '', planned = ''] = body.split('<details><summary>What was planned</summary>');
    expect(result).toContain(`## idops apply for \`production\` at \`${host}\`: 1 applied\n`);
    expect(result).toContain(`\`idops undo ${run} --env production\``);
    expect(result.indexOf('idops undo')).toBeLessThan(result.indexOf('- applied `Org'));
    expect(result).toContain('- applied `Organization/acme` (update)');
    expect(result).toContain('/actions/runs/77/attempts/2)');
    expect(planned).toContain('## idops plan for `production`');
    expect(planned).toContain('Renamed');
    expect(body).not.toContain('another plan');
  });

  it('says where what was applied is another plan than the one that stands below', async () => {
    const site = await merged(acme('Renamed'));
    await site.write(acme('Another'));
    expect((await apply(site)).code).toBe(0);
    const { body } = comment(site);
    const [result = '', planned = ''] = body.split('<details><summary>What was planned</summary>');
    expect(result).toContain('**What was applied is another plan than the one below:**');
    expect(planned).toContain('Renamed');
  });

  it('keeps the result of before where a repeated run has nothing to do, and has one of a further run in its place', async () => {
    const site = await merged(acme('Renamed'));
    await apply(site);
    const { body, first } = comment(site);
    await apply(site);
    expect(comment(site).body).toBe(body);
    await site.write(acme('Another'));
    await apply(site);
    const again = comment(site);
    expect(again.first).toBe(first);
    expect(again.body).not.toBe(body);
    expect(again.body.match(/## idops apply/g)).toHaveLength(1);
    expect(again.body.match(/What was planned/g)).toHaveLength(1);
    expect(again.body.match(/## idops plan/g)).toHaveLength(1);
    expect(again.body).toContain('Renamed');
    await site.run({}, pullRequest());
    expect(comment(site).body).not.toContain('idops apply');
  });

  it('keeps a result that sent something, with its undo line, below a refusal of a repeated run', async () => {
    let refuses = true;
    const intercept = ({ method, path }: SandboxRequest): Intercept | undefined =>
      refuses && method === 'PATCH' && path.endsWith(ids.globex)
        ? { kind: 'answer', status: 400, body: {} }
        : undefined;
    const other = 'kind: Organization\nname: globex\nlabel: Other\n';
    const site = await merged({ ...acme('Renamed'), 'manifests/b.yaml': other }, {}, { intercept });
    const approved = { 'expect-digest': 'from-pull-request' };
    expect((await apply(site, approved)).code).toBe(1);
    const [undo = ''] = /idops undo [\w-]+/.exec(comment(site).body) ?? [];
    expect(undo).not.toBe('');
    expect((await apply(site, approved)).code).toBe(1);
    const refused = comment(site).body;
    const [first = -1, second = -1] = [': not applied\n', ': 1 failed, 1 applied\n'].map((text) =>
      refused.indexOf(text),
    );
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first);
    expect(refused.indexOf(undo)).toBeGreaterThan(second);
    await apply(site, approved);
    expect(comment(site).body.match(/: not applied\n/g)).toHaveLength(1);
    refuses = false;
    expect((await apply(site)).code).toBe(0);
    const { body } = comment(site);
    expect(body).not.toContain('not applied');
    expect(body).toMatch(/## idops apply at `[^`]+`: 1 applied\n/);
    expect(body).toMatch(new RegExp(`^- idops apply at .*: 1 failed, 1 applied\\. Run .*${undo}`, 'm'));
  });

  it('is not touched by a run for another commit than the merge', async () => {
    const site = await merged(acme('Renamed'));
    await apply(site);
    const { body } = comment(site);
    await site.write(acme('Another'));
    const inputs = { command: 'apply', 'pr-number': '7', 'expect-digest': 'from-pull-request' };
    const { code, log } = await site.run(inputs, { sha: 'fff999', event: 'workflow_dispatch' });
    expect(code).toBe(1);
    expect(log).toContain('the merge of pull request #7 is abc123');
    expect(comment(site).body).toBe(body);
  });

  it('stays as it is where somebody else edited it, and a warning says so', async () => {
    const site = await merged(acme('Renamed'));
    const [written] = site.github.comments;
    if (written !== undefined) site.github.edit(written, { id: 5, login: 'mallory' }, `${written.body}x`);
    const { body } = comment(site);
    for (const inputs of [
      { 'expect-digest': 'from-pull-request' },
      { 'expect-digest': 'from-pull-request' },
      {},
    ]) {
      const { code, log } = await apply(site, inputs);
      expect(code).toBe('expect-digest' in inputs ? 1 : 0);
      expect(log).toContain(
        "::warning title=idops::The result can't be written: the comment with the plan of pull",
      );
      expect(log).toContain('was edited by mallory');
      expect(comment(site).body).toBe(body);
    }
  });

  it('says that there was nothing to apply where no run told anything', async () => {
    const site = await merged(acme('Renamed'));
    await site.write({ 'manifests/organizations.yaml': '' });
    await apply(site);
    expect(comment(site).body).toContain(': there was nothing to apply\n');
    expect(comment(site).body).not.toContain('idops undo');
  });

  it('tells what failed', async () => {
    const intercept = ({ method }: SandboxRequest): Intercept | undefined =>
      method === 'PATCH' ? { kind: 'answer', status: 400, body: {} } : undefined;
    const site = await merged(acme('Renamed'), {}, { intercept });
    expect((await apply(site)).code).toBe(1);
    const { body } = comment(site);
    expect(body).toMatch(/## idops apply at `[^`]+`: 1 failed\n/);
    expect(body).not.toContain('idops undo');
    expect(body).toContain('## idops plan');
  });

  it.each<[string, (site: Workspace) => Promise<unknown>, { readonly [name: string]: string }, string]>([
    [
      'another plan than the approved one',
      (site) => site.write(acme('Another')),
      { 'expect-digest': 'from-pull-request' },
      'stale plan',
    ],
    [
      'a plan that nobody approved',
      async () => {},
      { 'expect-digest': `sha256:${'0'.repeat(64)}` },
      'stale plan',
    ],
    [
      'a plan with something blocked',
      (site) => site.write({ 'manifests/b.yaml': 'kind: Organization\nname: nobody\nlabel: x\n' }),
      {},
      'blocked',
    ],
    ['wrong inputs', async () => {}, { args: '--bogus' }, 'wrong-option'],
    ['wrong inputs', async () => {}, { 'plan-file': 'a', args: '--prune', 'pr-number': '7' }, 'wrong-option'],
    ['a broken configuration', (site) => site.write({ 'idops.yaml': 'version: [' }), {}, 'error['],
  ])('says that nothing was sent of %s', async (_, move, inputs, told) => {
    const site = await merged(acme('Renamed'));
    const { first } = comment(site);
    await move(site);
    expect((await apply(site, inputs)).code).toBe(1);
    const after = comment(site);
    expect(after.first).toBe(first);
    expect(after.body).toMatch(/## idops apply[^\n]*: not applied\n/);
    expect(after.body).toContain('Nothing was sent:');
    expect(after.body).toContain(told);
    expect(site.writes()).toEqual([]);
  });

  it('is written where there was none and something was sent, and approves nothing', async () => {
    const site = await merged(acme('Renamed'), { comment: 'false' });
    expect(site.github.comments).toEqual([]);
    await apply(site, { 'expect-digest': `sha256:${'0'.repeat(64)}` });
    await apply(site, { comment: 'false' });
    expect(site.github.comments).toEqual([]);
    await site.write(acme('Another'));
    await apply(site);
    const { first, body } = comment(site);
    expect(first).toMatch(/^<!-- idops-plan key=[0-9a-f]{16} run=77 -->$/);
    expect(body).toContain(': 1 applied');
    expect(body).toContain('Another');
  });

  it('stays as it is for a commit that no pull request brought as it is', async () => {
    const site = await merged(acme('Renamed'));
    const { body } = comment(site);
    expect((await site.run({ command: 'apply' }, { sha: 'another' })).code).toBe(0);
    expect(comment(site).body).toBe(body);
  });

  it('that may not be written is a warning, and the run stands', async () => {
    const site = await merged(acme('Renamed'));
    const message = 'Resource not accessible by integration.';
    site.github.faults.push({ method: 'PATCH', path: /comments/, status: 403, message });
    const { code, log } = await apply(site);
    expect(code).toBe(0);
    expect(log).toContain("::warning title=idops::The result can't be written");
    expect(log).toContain('pull-requests: write');
    expect(log).not.toContain('..');
  });

  it('has no secret in it', async () => {
    const site = await merged(
      {
        'manifests/users.yaml': `kind: User\nid: ${ids.ada}\nwhole: [metadata]\nmetadata: {note: {value: "\${IDOPS_NOTE}", status: valid}}\n`,
      },
      { comment: 'false' },
    );
    const env = { IDOPS_NOTE: 'note-that-is-private' };
    const { code, log } = await site.run({ command: 'apply' }, { sha, env });
    expect(code, log).toBe(0);
    expect(comment(site).body).toContain(': 1 applied');
    const sent = site.github.received.join('\n');
    for (const secret of [env.IDOPS_NOTE, site.sandbox.token]) expect(sent).not.toContain(secret);
  });

  it('is never longer than GitHub takes, and names every change of the plan as far as there is room', async () => {
    const organizations = Array.from({ length: 400 }, (_, index) => ({
      id: `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      name: `organization-${index}`,
      label: `label ${index}`,
    }));
    const none = { users: [], backends: [], keyPairs: [], clients: [], scopes: [], roles: [], templates: [] };
    const files = {
      'manifests/a.yaml': organizations
        .map(({ name }) => `kind: Organization\nname: ${name}\nlabel: "ünïcode ${'x'.repeat(150)} ${name}"\n`)
        .join('---\n'),
    };
    const site = await merged(files, {}, { seed: { ...none, organizations } });
    const before = comment(site);
    expect(before.body.length).toBeGreaterThan(60_000);
    expect((await apply(site, { 'expect-digest': 'from-pull-request' })).code).toBe(0);
    const { first, body } = comment(site);
    expect(first).toBe(before.first);
    expect(body.length).toBeLessThanOrEqual(65_536);
    expect(body).toContain(': 400 applied');
    expect(body).toMatch(/and \d+ more results, see the log/);
    expect(body).toContain("[the run's summary](");
    expect(body.match(/<details>/g)?.length).toBe(body.match(/<\/details>/g)?.length);
  });
});
