import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Safety, safetyChanges, stricter } from '../../src/base/safety.js';
import { type ActionOptions, pullRequest, type Workspace, went, workspace } from './running.js';

const inputs = { command: 'apply', 'expect-digest': 'from-pull-request' };
const user = 'User/40000000-0000-4000-8000-000000000001';

const configOf = (safety: string) => `version: 1
server: {base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}
safety: ${safety}
`;
const grant = `kind: User
id: 40000000-0000-4000-8000-000000000001
authorized_scopes: [{id: all, name: "users:manage:all", label: All}]
`;

/** A pull request that grants a scope, with these settings; `before` are the settings of its base, null if it has none. */
async function planned(safety: string, before: string | null = safety, users = grant) {
  const site = await workspace({ 'idops.yaml': configOf(safety), 'manifests/users.yaml': users });
  if (before !== null) site.github.contents.set('ba5e:idops.yaml', configOf(before));
  const event = pullRequest();
  const { pull_request: pull } = event.payload as { pull_request: { base: object } };
  Object.assign(pull.base, { sha: 'ba5e' });
  const { log } = await site.run({}, event);
  return { site, comment: site.github.comments[0]?.body ?? log };
}

const byHand: ActionOptions = { sha: 'abc123', event: 'workflow_dispatch' };
const push: ActionOptions = { sha: 'abc123', payload: { before: 'ba5e' } };

/** The log of the apply after the merge, if it failed; null if it succeeded. */
async function applied(site: Workspace, given: object = inputs, options = push): Promise<string | null> {
  if (site.github.pulls.length === 0) site.github.merge(7, 'abc123');
  const { code, log } = await site.run({ command: 'apply', ...given }, options);
  expect(site.writes()).toHaveLength(code === 0 ? 1 : 0);
  return code === 0 ? null : log;
}

describe('a pull request that changes safety', () => {
  it('is announced first, and the stricter of both versions applies', async () => {
    const { site, comment } = await planned('{max_privileged: 1}', '{max_privileged: 0}');
    const notice = comment.indexOf('**This changes `safety`:** `max_privileged: 0 → 1`');
    expect(notice).toBeGreaterThan(0);
    expect(notice).toBeLessThan(comment.indexOf('privileged change**'));
    expect(await applied(site)).toContain('too-privileged');
  });

  it('takes effect with the next pull request', async () => {
    const { site } = await planned('{max_privileged: 1}');
    expect(await applied(site)).toBeNull();
  });

  it("can't change what it removes from protect", async () => {
    const { comment } = await planned('{max_privileged: 1}', `{max_privileged: 1, protect: [${user}]}`);
    expect(comment).toContain('no plan changes it');
  });

  it('is held to the stricter version too if a person applies its merge', async () => {
    const { site } = await planned('{max_privileged: 1}', '{max_privileged: 0}');
    Object.assign(site.github.merge(7, 'abc123').base, { sha: 'ba5e' });
    expect(await applied(site, {}, byHand)).toContain('too-privileged');
    expect(await applied(site, { 'allow-privileged': '1' }, byHand)).toBeNull();
  });

  it('is reported as unknown if the configuration is new or was moved', async () => {
    const { site, comment } = await planned('{max_privileged: 1}', null);
    const note = '**Whether this changes `safety` is unknown:** there is no `idops.yaml` before';
    expect(comment.indexOf(note)).toBeLessThan(comment.indexOf('authorized_scopes'));
    expect(comment).toContain(note);
    expect(await applied(site)).toBeNull();
  });

  it("applies nothing if the former version can't be read", async () => {
    const { site } = await planned('{max_privileged: 1}');
    site.github.forbid('GET', /contents/);
    expect(await applied(site)).toContain('idops.yaml before this change');
  });
});

describe('access with an end', () => {
  const until = grant.replace('label: All}', 'label: All, until: 2090-01-02}');
  afterEach(() => vi.useRealTimers());

  it.each<[string, string, string | null]>([
    ['before its end is granted as approved', '2090-01-01', null],
    ['after its end is not granted, because another plan was approved', '2090-01-03', 'stale-plan'],
  ])('%s', async (_, day, refusal) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2089-12-31') });
    const { site } = await planned('{max_privileged: 1}', '{max_privileged: 1}', until);
    vi.setSystemTime(new Date(day));
    expect(await applied(site)).toEqual(refusal && expect.stringContaining(refusal));
  });

  it('is removed without an approver', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2089-12-31') });
    const approvers = '{max_privileged: 1, approvers: [{for: destructive, users: [ada]}]}';
    const { site } = await planned(approvers, approvers, until);
    expect(await applied(site)).toBeNull();
    vi.setSystemTime(new Date('2090-01-03'));
    const nightly = { sha: 'abc123', event: 'schedule' };
    const { summary } = await went(site.run({ command: 'apply', args: '--ended' }, nightly));
    expect(summary).toContain('1 applied');
  });
});

describe('safety.approvers', () => {
  const settings = '{max_privileged: 1, approvers: [{for: privileged, users: [Ada], teams: [security]}]}';
  const by = (login: string) => ({ by: { id: 11, login } });

  it('are named in the comment, but not mentioned', async () => {
    const { comment } = await planned(settings);
    const by = 'an approving review of this plan by `Ada` or a member of the team `security`';
    expect(comment).toContain(`${by} for privileged changes`);
    expect(comment).not.toMatch(/@(?:Ada|security)/i);
  });

  it.each<[string, (site: Workspace) => void, boolean]>([
    ['without a review', () => {}, false],
    ["with another user's review", ({ github }) => github.review(7, by('jo')), false],
    ['with a review of an approver', ({ github }) => github.review(7, by('ada')), true],
    [
      'with a review of a member of the team',
      ({ github }) => {
        github.teams.set('security', ['jo']);
        github.review(7, by('jo'));
      },
      true,
    ],
    [
      'with a review of an earlier commit',
      ({ github }) => github.review(7, { ...by('ada'), commit: 'old' }),
      false,
    ],
    [
      'with a review older than the plan',
      ({ github }) => github.review(7, { ...by('ada'), at: '2026-01-01T00:00:00Z' }),
      false,
    ],
    [
      'after an approver requested changes',
      ({ github }) => {
        github.review(7, by('ada'));
        github.review(7, { ...by('ada'), state: 'CHANGES_REQUESTED' });
      },
      false,
    ],
  ])('decide whether a plan is applied: %s', async (_, review, isApplied) => {
    const { site } = await planned(settings);
    review(site);
    const refusal = expect.stringContaining(
      'privileged changes need an approving review of this plan by Ada',
    );
    expect(await applied(site, { ...inputs, approve: 'merged' })).toEqual(isApplied ? null : refusal);
  });

  it('must start the workflow if it is started by hand', async () => {
    const { site } = await planned(settings);
    const options = (actor: string): ActionOptions => ({
      sha: 'abc123',
      event: 'workflow_dispatch',
      env: { GITHUB_TRIGGERING_ACTOR: actor },
    });
    expect(await applied(site, {}, options('jo'))).toContain('privileged changes need to be started by Ada');
    expect(await applied(site, {}, options('ada'))).toBeNull();
  });

  it('for protected objects allow changes of them', async () => {
    const guarded = `{max_privileged: 1, protect: [${user}], approvers: [{for: protected, users: [ada]}]}`;
    const { site, comment } = await planned(guarded);
    expect(comment).toContain('for changes of protected objects');
    site.github.review(7, by('ada'));
    expect(await applied(site)).toBeNull();
  });
});

describe('the stricter of two versions', () => {
  const one: Safety = {
    maxDestructive: 5,
    maxPrivileged: 0,
    maxChanges: Number.POSITIVE_INFINITY,
    privileged: ['a'],
    protect: ['User/a'],
    keep: [{ scope: 'a', at_least: 2 }],
    approvers: [{ for: 'privileged', users: ['ada'] }],
  };
  const other: Safety = {
    ...one,
    maxDestructive: 1,
    maxPrivileged: 9,
    maxChanges: 3,
    privileged: ['b'],
    protect: [],
    keep: [],
    approvers: [{ for: 'protected', users: ['mallory'] }],
  };

  it('has the lower limits and all guards; only approvers of both open protected objects', () => {
    const both = { ...one, maxDestructive: 1, maxChanges: 3, privileged: ['a', 'b'] };
    expect(stricter(one, other)).toEqual(both);
    expect(stricter(other, other)).toEqual(other);
  });

  it('is described by its differences', () => {
    expect(safetyChanges(one, { ...one, maxChanges: 3, protect: [] })).toEqual([
      'max_changes: none → 3',
      'protect: ["User/a"] → []',
    ]);
  });
});
