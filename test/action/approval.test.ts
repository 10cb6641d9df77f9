import { describe, expect, it } from 'vitest';
import { markerLine, readMarker } from '../../src/action/marker.js';
import { actionsBot, type DoubleRemark } from './github-double.js';
import { type ActionOptions, pullRequest, repository, type Workspace, workspace } from './running.js';

const acme = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
});
const inputs = { command: 'apply', 'expect-digest': 'from-pull-request' };
const mallory = { id: 5, login: 'mallory' };
const push: ActionOptions = { sha: 'abc123' };

/** A pull request that was planned, and not merged yet. */
async function planned(): Promise<{ site: Workspace; comment: DoubleRemark }> {
  const site = await workspace(acme('Approved'));
  await site.run({}, pullRequest());
  const [comment] = site.github.comments;
  if (comment === undefined) throw new Error('no comment');
  return { site, comment };
}

/** The pull request as it is when it was merged as this commit. */
function closed({ github }: Workspace, sha = 'abc123'): ActionOptions {
  const { merged_at, merge_commit_sha } = github.merge(7, sha);
  const { payload } = pullRequest() as { payload: { pull_request: object } };
  const pull = { ...payload.pull_request, merged: true, merged_at, merge_commit_sha };
  const base = { ref: 'main', repo: { id: 1, full_name: 'acme/identity' } };
  const head = { sha: 'beadfeed0123', repo: { id: 1, full_name: 'acme/identity' } };
  return {
    event: 'pull_request',
    sha,
    payload: { action: 'closed', pull_request: { ...pull, base, head }, repository, sender: { login: 'jo' } },
    env: { GITHUB_REF: 'refs/heads/main' },
  };
}

async function refused(
  site: Workspace,
  told: string | RegExp,
  options: ActionOptions = push,
): Promise<string> {
  const { code, log } = await site.run(inputs, options);
  expect(log).toMatch(told);
  expect(code).toBe(1);
  expect(site.writes()).toEqual([]);
  return log;
}

async function applied(site: Workspace, options: ActionOptions = push, given: object = {}): Promise<void> {
  const { code, log } = await site.run({ ...inputs, ...given }, options);
  expect(code, log).toBe(0);
  expect(site.writes()).toHaveLength(1);
}

describe('what the comment of a pull request approves', () => {
  it('is nothing where somebody else edited it before the merge, also back to what it was', async () => {
    const { site, comment } = await planned();
    const { body } = comment;
    site.github.edit(comment, mallory, `${body}\nLooks good.`);
    site.github.edit(comment, mallory, body);
    site.github.merge(7, 'abc123');
    const log = await refused(
      site,
      /the comment with the plan of pull request #7 was edited by mallory at 2026-/,
    );
    expect(log).toContain('expect-digest');
  });

  it.each<[string, { id: number; login: string } | null, string]>([
    ['somebody else', mallory, 'was edited by mallory'],
    [
      'somebody of the same name as our bot',
      { id: 6, login: 'github-actions' },
      'was edited by github-actions at',
    ],
    ['somebody whose account is gone', null, 'was edited by an account that GitHub does not name'],
  ])('is nothing where %s edited it after the merge', async (_, by, told) => {
    const { site, comment } = await planned();
    site.github.merge(7, 'abc123');
    site.github.edit(comment, by, comment.body);
    await refused(site, told);
  });

  it('is nothing where another author copied it', async () => {
    const { site, comment } = await planned();
    site.github.comments.splice(0, 1, { ...comment, id: 1, user: mallory });
    site.github.merge(7, 'abc123');
    await refused(site, 'shows no plan');
  });

  it('is nothing where it was written after the merge', async () => {
    const { site } = await planned();
    site.github.comments.splice(0);
    site.github.merge(7, 'abc123');
    await site.run({}, pullRequest());
    expect(site.github.comments).toHaveLength(1);
    await refused(site, 'shows no plan');
  });

  it('is what it said at the merge, where idops itself wrote more into it since', async () => {
    const { site, comment } = await planned();
    site.github.merge(7, 'abc123');
    site.github.edit(comment, actionsBot, `${comment.body}\nApplied.`);
    await applied(site);
  });

  it.each<[string, (comment: DoubleRemark) => void]>([
    [
      'has another version there',
      (comment) =>
        comment.versions?.splice(0, 1, { at: comment.created_at ?? '', by: mallory, text: comment.body }),
    ],
    ['has lost that version', (comment) => comment.versions?.splice(0, 1)],
    [
      'has lost its text',
      (comment) =>
        comment.versions?.splice(0, 1, { at: comment.created_at ?? '', by: actionsBot, text: null }),
    ],
    [
      'keeps something else than texts',
      (comment) =>
        comment.versions?.splice(0, 1, { at: comment.created_at ?? '', by: actionsBot, text: '@@ -1 +1 @@' }),
    ],
  ])('is nothing where idops wrote into it since the merge, and the history %s', async (_, change) => {
    const { site, comment } = await planned();
    site.github.merge(7, 'abc123');
    site.github.edit(comment, actionsBot, comment.body);
    change(comment);
    await refused(site, /not-approved/);
  });

  it('is nothing that idops put there after the merge', async () => {
    const { site, comment } = await planned();
    await site.write(acme('Another'));
    site.github.merge(7, 'abc123');
    await site.run({}, pullRequest());
    expect(comment.body).toContain('Another');
    await refused(site, 'something else would be sent now');
  });

  it('is what the newest of several says: nothing, where it shows no plan', async () => {
    const { site, comment } = await planned();
    const marker = readMarker(comment.body);
    if (marker === null) throw new Error('no marker');
    const body = `${markerLine({ ...marker, digest: null })}\nThere is no plan.`;
    site.github.comments.push({ ...comment, id: 3000, body, created_at: '2026-01-01T00:01:30Z' });
    site.github.merge(7, 'abc123');
    await refused(site, 'shows no plan');
  });

  it('is for what the server had: a change of what the plan changes stops it, also where the same would be sent', async () => {
    const { site } = await planned();
    site.github.merge(7, 'abc123');
    const [one] = site.sandbox.data.organizations.filter(({ name }) => name === 'acme');
    if (one !== undefined) one.label = 'somebody was here';
    const log = await refused(site, 'for what the server had then, and it was changed since');
    expect(log).toContain('Organization/acme: the server has something else there now');
  });

  it('names what differs also where there was no room for names, and says where the rest is shown', async () => {
    const { site, comment } = await planned();
    const marker = readMarker(comment.body);
    const [one] = marker?.changes ?? [];
    if (marker === null || one === undefined) throw new Error('no marker');
    const nameless = { ...one, address: null };
    const changes = [nameless, { ...nameless, id: '0123456789' }];
    comment.body = comment.body.replace(/^.*/, markerLine({ ...marker, changes }));
    expect(comment.body).toContain('compact=');
    site.github.merge(7, 'abc123');
    await site.write(acme('Another'));
    const log = await refused(site, 'Organization/acme: something else would be sent now');
    expect(log).toContain(
      'approved, and not in the plan any more: 1; https://github.example/acme/identity/actions/runs/77 shows what was approved',
    );
  });

  it('is nothing where GitHub does not tell who edited it', async () => {
    const { site } = await planned();
    site.github.merge(7, 'abc123');
    site.github.faults.push({ method: 'POST', path: /graphql/, status: 403, message: 'no' });
    const log = await refused(site, "what was approved can't be read");
    expect(log).toContain('run it again when that is put right or over');
  });

  it('says which permissions are missing where GraphQL says that one is', async () => {
    const { site } = await planned();
    site.github.merge(7, 'abc123');
    const message = 'Resource not accessible by integration';
    const body = JSON.stringify({ data: null, errors: [{ type: 'FORBIDDEN', message }] });
    site.github.faults.push({ method: 'POST', path: /graphql/, status: 200, message, body });
    const log = await refused(site, `what was approved can't be read: GitHub answers: ${message}`);
    expect(log).toContain('the job needs the permissions contents: read and pull-requests: read');
  });
});

describe('the pull request whose comment approves', () => {
  it.each<[string, (site: Workspace) => void, string]>([
    [
      'was merged into another branch',
      ({ github }) => void github.merge(7, 'abc123', 'develop'),
      'no merged pull request brought the commit abc123 to main',
    ],
    [
      'was merged as another commit of the same push',
      ({ github }) => void github.merge(7, 'fff000').commits.push('abc123'),
      'no merged pull request',
    ],
    [
      'is not merged',
      ({ github }) => void Object.assign(github.merge(7, 'abc123'), { merged_at: null }),
      'no merged pull request',
    ],
    [
      'is one of several',
      ({ github }) => void [github.merge(7, 'abc123'), github.merge(8, 'abc123')],
      'several merged pull requests brought the commit abc123: #7, #8',
    ],
    [
      'is of another repository',
      ({ github }) =>
        void Object.assign(github.merge(7, 'abc123').base, { repo: { full_name: 'mallory/identity' } }),
      'no merged pull request',
    ],
  ])('is none that %s', async (_, happen, told) => {
    const { site } = await planned();
    happen(site);
    await refused(site, told);
  });

  it('is none for a tag', async () => {
    const { site } = await planned();
    site.github.merge(7, 'abc123');
    await refused(site, 'this run is for no branch', { ...push, env: { GITHUB_REF: 'refs/tags/v1' } });
  });

  it('shows another plan than two merges in one push have together', async () => {
    const { site } = await planned();
    await site.write({ 'manifests/more.yaml': 'kind: Organization\nname: globex\nlabel: X\n' });
    site.github.merge(7, 'abc123').commits.push('fff000');
    site.github.merge(8, 'fff000');
    await refused(site, 'Organization/globex: update is new');
  });

  it('shows what was pushed over it after the approval, and nothing before', async () => {
    const { site } = await planned();
    await site.write(acme('Forced'));
    site.github.merge(7, 'abc123');
    await refused(site, 'something else would be sent now');
  });

  it('is that of the event which closed it, without asking which one brought the commit', async () => {
    const { site } = await planned();
    const options = closed(site);
    site.github.requests.splice(0);
    await applied(site, options);
    expect(site.github.requests.filter((request) => request.includes('/pulls'))).toEqual([]);
  });

  it.each<[string, (options: ActionOptions) => ActionOptions, string]>([
    ['for another commit', (options) => ({ ...options, sha: 'fff000' }), 'this run is for fff000'],
    [
      'for another branch',
      (options) => ({ ...options, env: { GITHUB_REF: 'refs/heads/develop' } }),
      'this run is for develop',
    ],
  ])('is not that of the event which closed it %s', async (_, change, told) => {
    const { site } = await planned();
    await refused(site, told, change(closed(site)));
  });

  it('is none that is open', async () => {
    const { site } = await planned();
    Object.assign(site.github.merge(7, 'abc123'), { merged_at: null });
    await refused(site, 'pull request #7 is not merged', pullRequest());
  });

  it.each<[string, object, (sha: string) => ActionOptions]>([
    ['closes the pull request', {}, () => ({ ...pullRequest(), sha: 'abc123' })],
    ['names it', { 'pr-number': '7' }, (sha) => ({ event: 'workflow_dispatch', sha })],
  ])(
    'is not what an apply before the merge, which %s, leaves of what somebody wrote',
    async (_, given, run) => {
      const { site, comment } = await planned();
      Object.assign(site.github.merge(7, 'abc123'), { merged_at: null, merge_commit_sha: null });
      site.github.edit(
        comment,
        mallory,
        comment.body.replace(/digest=\S+/, `digest=sha256:${'a'.repeat(64)}`),
      );
      const before = comment.body;
      const { code, log } = await site.run({ ...inputs, ...given }, run('abc123'));
      expect(code).toBe(1);
      expect(log).toContain('pull request #7 is not merged');
      expect(comment.body).toBe(before);
      site.github.pulls.splice(0);
      site.github.merge(7, 'abc123');
      await refused(site, 'edited by mallory');
    },
  );

  it('is named by pr-number where the event names none, and held to the same', async () => {
    const { site } = await planned();
    site.github.merge(7, 'abc123');
    site.github.merge(8, 'abc123');
    site.github.merge(9, 'abc123', 'develop');
    const dispatched: ActionOptions = { event: 'workflow_dispatch', sha: 'abc123' };
    for (const [number, told] of [
      ['8', 'shows no plan'],
      ['9', 'was merged into develop'],
      ['10', 'GitHub answers 404'],
    ] as const) {
      const { code, log } = await site.run({ ...inputs, 'pr-number': number }, dispatched);
      expect(log).toContain(told);
      expect(code).toBe(1);
    }
    const { log } = await site.run({ ...inputs, 'pr-number': '7' }, { ...dispatched, sha: 'fff000' });
    expect(log).toContain('the merge of pull request #7 is abc123, and this run is for fff000');
    expect(site.writes()).toEqual([]);
    await applied(site, dispatched, { 'pr-number': '7' });
  });

  it('gets the comment of a plan whose event names none', async () => {
    const site = await workspace(acme('Approved'));
    Object.assign(site.github.merge(8, 'abc123'), { merged_at: null, merge_commit_sha: null });
    await site.run({ 'pr-number': '8' }, { event: 'workflow_dispatch' });
    expect(site.github.comments).toEqual([expect.objectContaining({ number: 8 })]);
    for (const number of ['0', '7.5', 'seven'])
      expect((await site.run({ 'pr-number': number })).log).toContain(`the input pr-number is "${number}"`);
  });
});
