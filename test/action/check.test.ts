import { describe, expect, it } from 'vitest';
import { type ActionOptions, pullRequest, repository, type Workspace, workspace } from './running.js';

const acme = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
});
const check = { command: 'check' };
const queue = 'gh-readonly-queue/main/pr-7-0123abcd';
const group = (head = queue, base = 'main'): ActionOptions => ({
  event: 'merge_group',
  payload: { merge_group: { head_ref: `refs/heads/${head}`, base_ref: `refs/heads/${base}` }, repository },
  env: { GITHUB_REF: `refs/heads/${head}` },
});

/** A pull request with a plan, not merged. */
async function planned(): Promise<Workspace> {
  const site = await workspace(acme('Approved'));
  await site.run({}, pullRequest());
  Object.assign(site.github.merge(7, 'abc123'), { merged_at: null });
  site.github.requests.splice(0);
  return site;
}

function nothingWritten({ github, writes }: Workspace): void {
  expect(writes()).toEqual([]);
  expect(github.requests.filter((request) => !/^(GET |POST \/graphql$)/.test(request))).toEqual([]);
}

describe('check', () => {
  it.each([
    ['a merge group', group()],
    ['a pull request', pullRequest()],
  ])('passes for %s whose comment shows this plan, and writes nothing', async (_, options) => {
    const site = await planned();
    const { code, outputs, summary, log } = await site.run(check, options);
    expect(code, log).toBe(0);
    expect(outputs).toMatchObject({ 'exit-code': '0', changed: 'true', 'plan-file': '', update: '1' });
    expect(outputs.summary).toMatch(/^approved: /);
    expect(summary).toMatch(/^## idops check .*: approved\n/);
    nothingWritten(site);
  });

  it('fails where the manifests or the server moved, or somebody edited the comment', async () => {
    const site = await planned();
    await site.write(acme('Another'));
    expect((await site.run(check, group())).log).toContain('something else would be sent now');
    await site.write(acme('Approved'));
    const [one] = site.sandbox.data.organizations.filter(({ name }) => name === 'acme');
    if (one !== undefined) one.label = 'somebody was here';
    const moved = await site.run(check, group());
    expect(moved).toMatchObject({ code: 1, outputs: { 'exit-code': '1', failed: 'true' } });
    expect(moved.outputs.summary).toMatch(/^stale-plan: /);
    expect(moved.summary).toContain('not approved');
    const [comment] = site.github.comments;
    if (comment !== undefined) site.github.edit(comment, { id: 5, login: 'mallory' }, comment.body);
    expect((await site.run(check, pullRequest())).log).toContain('was edited by mallory');
    nothingWritten(site);
  });

  it.each<[string, ActionOptions]>([
    ['for another branch', group('gh-readonly-queue/develop/pr-7-0123abcd', 'develop')],
    ['whose branch names another one than its base', group(queue, 'develop')],
    ['whose branch names no pull request', group('topic')],
    ['of a pull request without a comment', group(queue.replace('pr-7', 'pr-8'))],
  ])('fails for a merge group %s', async (_, options) => {
    const site = await planned();
    Object.assign(site.github.merge(8, 'def456'), { merged_at: null });
    const { code, outputs } = await site.run(check, options);
    expect(code).toBe(1);
    expect(outputs.summary).toMatch(/^not-approved: /);
    nothingWritten(site);
  });

  it('fails for a fork, passes where there is nothing to approve, and takes a digest', async () => {
    const site = await planned();
    const fork = await site.run({ ...check, token: '' }, pullRequest(7, { from: 'mallory/identity' }));
    expect(fork).toMatchObject({
      code: 1,
      outputs: { summary: expect.stringMatching(/^not-approved: .*fork/) },
    });
    const { outputs } = await site.run(check, group());
    const given = { ...check, 'expect-digest': outputs.digest ?? '' };
    expect((await site.run(given, { event: 'schedule' })).code).toBe(0);
    await site.write({ 'manifests/organizations.yaml': '' });
    expect((await site.run(check, group('topic'))).outputs.summary).toMatch(/^nothing to approve: /);
    nothingWritten(site);
  });
});
