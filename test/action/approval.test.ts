import { describe, expect, it } from 'vitest';
import { markerLine, readMarker } from '../../src/action/marker.js';
import { actionsBot, branchHead, type DoubleRemark, type GithubDouble } from './github-double.js';
import {
  type ActionOptions,
  acme,
  failed,
  planned,
  pullRequest,
  type Workspace,
  went,
  workspace,
} from './running.js';

const inputs = { command: 'apply', 'expect-digest': 'from-pull-request' };
const mallory = { id: 5, login: 'mallory' };
const push: ActionOptions = { sha: 'abc123' };

/** A pull request with a plan, not merged yet. */
async function shown(): Promise<{ site: Workspace; comment: DoubleRemark }> {
  const site = await planned('Approved');
  const [comment] = site.github.comments;
  if (comment === undefined) throw new Error('no comment');
  return { site, comment };
}

/** The same, merged. */
async function merged(): ReturnType<typeof shown> {
  const made = await shown();
  made.site.github.merge(7, 'abc123');
  return made;
}

/** The event of the pull request, merged as this commit. */
function closed({ github }: Workspace, sha = 'abc123'): ActionOptions {
  github.merge(7, sha);
  return { ...pullRequest(), sha, env: { GITHUB_REF: 'refs/heads/main' } };
}

async function refused(site: Workspace, message: string | RegExp, options = push): Promise<string> {
  const { log } = await failed(site.run(inputs, options), message);
  expect(site.writes()).toEqual([]);
  return log;
}

async function applied(site: Workspace, options: ActionOptions = push, given: object = {}): Promise<void> {
  await went(site.run({ ...inputs, ...given }, options));
  expect(site.writes()).toHaveLength(1);
}

/** Merges the pull request again, after an approving review. */
async function appliedOnceReviewed(site: Workspace): Promise<void> {
  site.github.pulls.splice(0);
  site.github.review(7);
  site.github.merge(7, 'abc123');
  await applied(site);
}

describe('the comment of a pull request', () => {
  it('approves nothing if another user edited it before the merge, even back to the original', async () => {
    const { site, comment } = await shown();
    const { body } = comment;
    site.github.edit(comment, mallory, `${body}\nLooks good.`);
    site.github.edit(comment, mallory, body);
    site.github.merge(7, 'abc123');
    const log = await refused(site, /the comment with the plan of pull request #7 was edited by mallory/);
    expect(log).toContain('expect-digest');
  });

  it.each([
    ['another user', mallory, 'was edited by mallory'],
    ['a user with the name of the bot', { id: 6, login: 'github-actions' }, 'edited by github-actions'],
    ['a deleted user', null, 'was edited by an account that GitHub does not name'],
    ['idops itself', actionsBot, 'the comment with the plan of pull request #7 was changed after the merge'],
  ])('approves nothing if %s edited it after the merge', async (_, by, message) => {
    const { site, comment } = await merged();
    site.github.edit(comment, by, comment.body);
    await refused(site, message);
  });

  const permissions = 'the job needs the permissions actions: read, contents: read and pull-requests: read';
  const forbidden = { type: 'FORBIDDEN', message: 'Resource not accessible by integration' };
  const unanswered = {
    ...{ method: 'POST', path: /graphql/, status: 200, message: '' },
    body: JSON.stringify({ data: null, errors: [forbidden] }),
  };

  it.each<[string, (site: Workspace, comment: DoubleRemark) => void, string | RegExp]>([
    [
      'another author copied it',
      ({ github }, comment) => github.comments.splice(0, 1, { ...comment, id: 1, user: mallory }),
      'approves no plan',
    ],
    [
      'it was written after the merge',
      (_, comment) => void Object.assign(comment, { created_at: '2026-01-02T00:00:00Z' }),
      'approves no plan',
    ],
    [
      'GitHub does not name its editor',
      ({ github }) => github.forbid('POST', /graphql/),
      "the approval can't be read",
    ],
    ['the token may not read pull requests', ({ github }) => github.forbid('GET', /pulls$/), permissions],
    [
      'GraphQL reports a missing permission',
      ({ github }) => github.faults.push(unanswered),
      new RegExp(`the approval can't be read: GitHub answers: .*not accessible[^]*${permissions}`),
    ],
    [
      'the server was changed, even if the plan sends the same',
      (site) => site.setLabel('somebody was here'),
      'and the server has changed since',
    ],
  ])('approves nothing if %s', async (_, happen, message) => {
    const { site, comment } = await merged();
    happen(site, comment);
    await refused(site, message);
  });

  it("approves what it showed at the merge: a later plan doesn't change it", async () => {
    const { site, comment } = await merged();
    const { log } = await site.run({}, pullRequest());
    expect(log).toContain('pull request #7 is merged, so its comment must stay as it was approved');
    expect(site.github.comments).toEqual([comment]);
    await applied(site);
  });

  it("belongs to the last commit: a repeated older run doesn't change it", async () => {
    const { site, comment } = await shown();
    Object.assign(site.github.merge(7, 'abc123'), { merged_at: null });
    const { log } = await went(site.run({}, pullRequest(7, { sha: 'c0ffee' })));
    expect(log).toContain(`pull request #7 ends with ${branchHead} now, and this run is for c0ffee`);
    expect(site.github.comments).toEqual([comment]);
  });

  it('is kept next to that of a plan by pr-number, which approves nothing', async () => {
    const { site, comment } = await shown();
    Object.assign(site.github.merge(7, 'abc123'), { merged_at: null, merge_commit_sha: null });
    const pinned = { 'base-url': site.sandbox.url, 'pr-number': '7' };
    await site.run(pinned, { event: 'workflow_dispatch' });
    const [first, second] = site.github.comments;
    expect(first).toEqual(comment);
    expect(second?.body).toContain('This comment approves nothing');
    expect(readMarker(second?.body ?? '')?.kind).toBe('shown');
  });

  it('is the newest of several: it approves nothing if it has no plan', async () => {
    const { site, comment } = await shown();
    const marker = readMarker(comment.body);
    if (marker === null) throw new Error('no marker');
    const body = `${markerLine({ ...marker, plan: null })}\nThere is no plan.`;
    site.github.comments.push({ ...comment, id: 3000, body, created_at: '2026-01-01T00:03:30Z' });
    site.github.merge(7, 'abc123');
    await refused(site, 'approves no plan');
  });
});

describe('a planning run', () => {
  it.each([
    [{ path: '.github/workflows/evil.yml' }, 'its workflow is not .github/workflows/idops-pull-request.yml'],
    [{ event: 'push' }, 'its event is not pull_request'],
    [{ head_sha: 'ffff' }, 'it is of the commit ffff, and pull request #7 ends with beadfeed0123'],
    [{ head_repository: { full_name: 'mallory/identity' } }, 'it is of another repository'],
  ])('approves nothing if it has %j', async (change, message) => {
    const { site } = await shown();
    Object.assign(site.github.runs[0] ?? {}, change);
    site.github.merge(7, 'abc123');
    await refused(site, message);
  });

  it.each<[string, (site: Workspace) => void, string]>([
    ['uploaded nothing', ({ github }) => void github.artifacts.splice(0), 'uploaded no artifact idops-plan…'],
    [
      'uploaded its plan only after the merge',
      ({ github }) => {
        github.artifacts.splice(0);
        github.merge(7, 'abc123');
        github.upload(77, { 'comment.md': github.comments[0]?.body ?? '' });
      },
      'uploaded no artifact',
    ],
    [
      'uploaded an expired artifact',
      ({ github }) => void Object.assign(github.artifacts[0] ?? {}, { expired: true }),
      'or it has expired',
    ],
    [
      'uploaded another plan than its comment has, which another workflow wrote',
      ({ github: { comments } }) => {
        for (const comment of comments) comment.body = `${comment.body}\nNothing to see here.`;
      },
      'is not what its run wrote',
    ],
    [
      'was deleted',
      ({ github }) => void github.runs.splice(0),
      "the approval can't be read: GitHub answers 404",
    ],
  ])('approves nothing if it %s', async (_, happen, message) => {
    const { site } = await shown();
    happen(site);
    if (site.github.pulls.length === 0) site.github.merge(7, 'abc123');
    await refused(site, message);
  });

  it('may belong to the workflow in plan-workflow', async () => {
    const { site } = await shown();
    Object.assign(site.github.runs[0] ?? {}, { path: '.github/workflows/plan.yml@refs/pull/7/merge' });
    site.github.merge(7, 'abc123');
    await applied(site, push, { 'plan-workflow': '.github/workflows/plan.yml' });
  });
});

describe('a required review', () => {
  const nobody = 'nobody with push access approved it before the merge';
  const dependabot = { id: 4, login: 'dependabot[bot]' };

  it.each<[string, (site: Workspace) => unknown, string]>([
    ['is missing', () => {}, nobody],
    ["is a bot's", ({ github }) => github.review(7, { by: dependabot }), nobody],
    ["is a user's without write access", ({ github }) => github.review(7, { mayPush: false }), nobody],
    [
      'was submitted after the merge',
      ({ github }) => {
        github.merge(7, 'abc123');
        github.review(7);
      },
      nobody,
    ],
    [
      'is of an earlier commit',
      ({ github }) => github.review(7, { commit: 'ffff' }),
      'jo approved an earlier commit',
    ],
    [
      'is older than the plan, even with the same digest',
      async (site) => {
        site.github.review(7);
        await site.run({}, pullRequest());
      },
      'the plan was made again after jo approved it',
    ],
  ])('prevents apply if it %s', async (_, happen, message) => {
    const { site } = await shown();
    await happen(site);
    if (site.github.pulls.length === 0) site.github.merge(7, 'abc123');
    await failed(site.run({ ...inputs, approve: 'reviewed' }, push), message);
    expect(site.writes()).toEqual([]);
  });

  it.each(['byRuleset', 'byProtection', 'byCodeOwners'] as const)(
    'is needed if the base branch requires reviews %s',
    async (how) => {
      const { site } = await shown();
      site.github.required[how] = 1;
      site.github.merge(7, 'abc123');
      await refused(site, 'nobody with push access');
      await appliedOnceReviewed(site);
    },
  );

  it('is not approving if its author requested changes last', async () => {
    const { site } = await shown();
    site.github.required.byRuleset = 1;
    site.github.review(7);
    site.github.review(7, { state: 'CHANGES_REQUESTED' });
    site.github.merge(7, 'abc123');
    await refused(site, 'the last review of jo requests changes');
    await appliedOnceReviewed(site);
  });

  it('is not needed with approve: merged', async () => {
    const { site } = await shown();
    site.github.required.byRuleset = 1;
    site.github.merge(7, 'abc123');
    await applied(site, push, { approve: 'merged' });
  });
});

describe('a pull request', () => {
  const none = 'is not the merge of a pull request';
  const tagged = { ...push, env: { GITHUB_REF: 'refs/tags/v1' } };
  const opened = (github: GithubDouble) => Object.assign(github.merge(7, 'abc123'), { merged_at: null });

  it.each<[string, (github: GithubDouble) => void, string, ActionOptions?]>([
    [
      'was merged into another branch',
      (github) => github.merge(7, 'abc123', 'develop'),
      `the commit abc123 of main ${none}`,
    ],
    ['came with the commit in one push', (github) => github.merge(7, 'fff000').commits.push('abc123'), none],
    ['is not merged', opened, none],
    ['is not merged, according to the event', opened, 'is not the merge of pull request #7', pullRequest()],
    [
      'is one of several',
      (github) => [7, 8].map((number) => github.merge(number, 'abc123')),
      'the commit abc123 of main is the merge of several pull requests (#7, #8)',
    ],
    [
      'is of another repository',
      (github) => Object.assign(github.merge(7, 'abc123').base, { repo: { full_name: 'mallory/identity' } }),
      none,
    ],
    ['was merged for a tag', (github) => github.merge(7, 'abc123'), `the commit abc123 ${none}`, tagged],
  ])('approves nothing if it %s', async (_, happen, message, options) => {
    const { site } = await shown();
    happen(site.github);
    await refused(site, message, options);
  });

  it('approves nothing if two merges in one push have another plan together', async () => {
    const { site } = await shown();
    await site.write({ 'manifests/more.yaml': 'kind: Organization\nname: globex\nlabel: X\n' });
    site.github.merge(7, 'abc123').commits.push('fff000');
    site.github.merge(8, 'fff000');
    await refused(site, 'stale plan: pull request #7 approved sha256:');
  });

  it('approves nothing if other content was pushed after the approval', async () => {
    const { site } = await shown();
    await site.write(acme('Forced'));
    site.github.merge(7, 'abc123');
    const log = await refused(site, 'stale plan: pull request #7 approved sha256:');
    expect(log).toContain('https://github.example/acme/identity/actions/runs/77 shows what was approved');
  });

  it('is the one of the event that closed it', async () => {
    const { site } = await shown();
    const options = closed(site);
    site.github.merge(8, 'abc123');
    await applied(site, options);
  });

  it.each<[string, ActionOptions]>([
    ['for another commit', { sha: 'fff000' }],
    ['for another branch', { env: { GITHUB_REF: 'refs/heads/develop' } }],
  ])('of a closing event %s approves nothing', async (_, change) => {
    const { site } = await shown();
    await refused(site, 'is not the merge of pull request #7', { ...closed(site), ...change });
  });

  it('may be named by pr-number, with the same checks', async () => {
    const { site } = await merged();
    site.github.merge(8, 'abc123');
    site.github.merge(9, 'abc123', 'develop');
    const dispatched: ActionOptions = { event: 'workflow_dispatch', sha: 'abc123' };
    const pinned = { 'base-url': site.sandbox.url };
    for (const [number, message] of [
      ['8', 'approves no plan'],
      ['9', 'is not the merge of pull request #9'],
      ['10', 'GitHub answers 404'],
    ] as const) {
      await failed(site.run({ ...inputs, ...pinned, 'pr-number': number }, dispatched), message);
    }
    const named = { ...pinned, 'pr-number': '7' };
    const earlier = { ...dispatched, sha: 'fff000', env: { GITHUB_RUN_ID: '70' } };
    const other = 'the commit fff000 of main is not the merge of pull request #7';
    await failed(site.run({ ...inputs, ...named }, earlier), other);
    expect(site.writes()).toEqual([]);
    await applied(site, dispatched, named);
  });

  it('named by pr-number gets the comment of the plan', async () => {
    const site = await workspace(acme('Approved'));
    Object.assign(site.github.merge(8, 'abc123'), { merged_at: null, merge_commit_sha: null });
    await site.run({ 'pr-number': '8', 'base-url': site.sandbox.url }, { event: 'workflow_dispatch' });
    expect(site.github.comments).toEqual([expect.objectContaining({ number: 8 })]);
    for (const number of ['0', '7.5', 'seven'])
      await failed(site.run({ 'pr-number': number }), `the input pr-number is "${number}"`);
  });
});
