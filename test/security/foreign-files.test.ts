import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readEvent } from '../../src/action/event.js';
import { type ActionOptions, pullRequest, type Workspace, workspace } from '../action/running.js';
import { afterwards } from '../cleanups.js';

const acme = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
});

describe('a project with credentials of its own', () => {
  const fork = pullRequest(7, { from: 'jo/identity' });
  const own = pullRequest();
  const run = (from: string): ActionOptions => ({
    event: 'workflow_run',
    payload: {
      workflow_run: { head_repository: { full_name: from } },
      repository: { full_name: 'acme/identity' },
    },
  });

  const repository = { full_name: 'acme/identity', id: 1 };
  const pulls = (id: number) => [{ head: { repo: { id } }, base: { repo: { id: 1 } } }];
  const check = (event: string, from: object): ActionOptions => ({
    event,
    payload: { [event]: event === 'check_run' ? { check_suite: from } : from, repository },
  });
  const told = (event: string, payload: object): ActionOptions => ({
    event,
    payload: { ...payload, repository },
  });
  const comment = (issue: object): ActionOptions => told('issue_comment', { issue });
  const deployment = (ref: string): ActionOptions => told('deployment', { deployment: { ref } });
  const dispatch = (client_payload: object): ActionOptions => told('repository_dispatch', { client_payload });
  const event = (path: string, of: ActionOptions): ActionOptions => ({
    ...of,
    env: { GITHUB_EVENT_PATH: path },
  });
  const broken = fileURLToPath(import.meta.url);

  it.each<[string, ActionOptions]>([
    ['a pull request from a fork', fork],
    ['a workflow_run for a fork', run('jo/identity')],
  ])('is used for %s only with base-url and token as inputs', async (_, event) => {
    const site = await workspace(acme('One'));
    const env = { ...event.env, IDOPS_TOKEN: site.sandbox.token };
    for (const inputs of [{ token: '' }, {}, { token: '', 'base-url': site.sandbox.url }]) {
      const { code, log } = await site.run({ command: 'apply', ...inputs }, { ...event, env });
      expect(code).toBe(1);
      expect(log).toContain('error[foreign-files]');
      expect(log).toContain('give both base-url and token as inputs');
      const planned = await site.run(inputs, { ...event, env });
      expect(planned.code).toBe(0);
      for (const text of [planned.log, planned.summary, planned.outputs.summary])
        expect(text).toMatch(/There is no plan for this (run|pull request): .*It was validated alone\./);
      expect(planned.outputs).toMatchObject({ changed: 'false', digest: '' });
    }
    expect(site.sandbox.requests).toEqual([]);
    const { outputs } = await site.run({ 'base-url': site.sandbox.url }, event);
    expect(outputs).toMatchObject({ update: '1' });
  });

  /** Why the files of such a run are foreign, as far as its event tells. */
  function foreign({
    event: name = 'push',
    payload = { repository },
    env = {},
  }: ActionOptions): string | null {
    const folder = mkdtempSync(join(tmpdir(), 'idops-event-'));
    afterwards(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'event.json');
    writeFileSync(path, JSON.stringify(payload));
    return readEvent({
      GITHUB_EVENT_PATH: path,
      GITHUB_EVENT_NAME: name,
      GITHUB_REPOSITORY: repository.full_name,
      ...env,
    }).foreign;
  }

  it.each<[string, ActionOptions]>([
    ['a pull request from a fork', fork],
    ['a pull request whose event is broken', event(broken, own)],
    ['a pull request whose event is not there', event('/nonexistent/event.json', own)],
    ['a pull request without an event', event('', own)],
    ['a pull request whose event names none', { event: 'pull_request', payload: {} }],
    ['a pull request of no repository', { event: 'pull_request', payload: { pull_request: { number: 7 } } }],
    ['another event that is not there', event('', { event: 'release' })],
    ['a workflow_run that names none', told('workflow_run', {})],
    [
      'a workflow_run for a pull request from a fork',
      told('workflow_run', { workflow_run: { head_repository: repository, pull_requests: pulls(2) } }),
    ],
    ['a check of a fork', check('check_run', { head_branch: 'main', pull_requests: pulls(2) })],
    ['checks of a fork', check('check_suite', { head_branch: 'main', pull_requests: pulls(2) })],
    ['a check that names no branch', check('check_run', { head_branch: null, pull_requests: [] })],
    ['checks that name no branch', check('check_suite', { head_branch: null, pull_requests: [] })],
    ['a status of no branch', told('status', { branches: [] })],
    ['a deployment of a pull request', deployment('refs/pull/2/merge')],
    ['a deployment of a commit', deployment('c0ffee0000000000000000000000000000000000')],
    ['a dispatch for a pull request from a fork', dispatch({ pull_request: pulls(2)[0] })],
    ['a dispatch for a pull request of no repository', dispatch({ pull_request: { number: 7 } })],
    ['a comment on a pull request', comment({ number: 7, pull_request: { url: 'https://x.example' } })],
    ['a review of one', { ...fork, event: 'pull_request_review' }],
    [
      'a pull request from a fork of the same name',
      {
        event: 'pull_request',
        payload: {
          pull_request: {
            number: 7,
            head: { repo: { id: 2, full_name: 'acme/identity' } },
            base: { repo: { id: 1, full_name: 'acme/identity' } },
          },
        },
      },
    ],
    ['pull_request_target', { ...fork, event: 'pull_request_target' }],
    ['pull_request_target, of the same repository', { ...own, event: 'pull_request_target' }],
    [
      'a fork that is gone',
      { event: 'pull_request_review', payload: { pull_request: { number: 7, head: {} } } },
    ],
    ['a workflow_run for a fork', run('jo/identity')],
  ])('is foreign to %s', (_, event) => {
    expect(foreign(event)).toMatch(/repository|gives secrets/);
  });

  it.each<[string, ActionOptions]>([
    ['a pull request of the same repository', own],
    ['a workflow_run of the same repository', run('acme/identity')],
    ['a push', { event: 'push' }],
    ['a schedule', { event: 'schedule' }],
    ['a push without an event', event('', { event: 'push' })],
    ['a schedule whose event is broken', event(broken, { event: 'schedule' })],
    ['a workflow_dispatch whose event is not there', event('/nonexistent', { event: 'workflow_dispatch' })],
    ['a check of its own branch', check('check_run', { head_branch: 'main', pull_requests: pulls(1) })],
    ['a status of its own branch', told('status', { branches: [{ name: 'main' }] })],
    ['a deployment of its own branch', deployment('main')],
    ['a dispatch of no pull request', dispatch({})],
    ['a dispatch for its own pull request', dispatch({ pull_request: pulls(1)[0] })],
    ['checks of its own branch', check('check_suite', { head_branch: 'main', pull_requests: [] })],
    ['a comment on an issue', comment({ number: 8 })],
  ])('is not foreign to %s', (_, event) => {
    expect(foreign(event)).toBeNull();
  });

  it.each<[string, (site: Workspace) => unknown]>([
    [
      'of a fork',
      ({ github }) => Object.assign(openPull(github, 7).head, { repo: { full_name: 'jo/identity' } }),
    ],
    ['of a fork that is gone', ({ github }) => Object.assign(openPull(github, 7).head, { repo: null })],
    ['that GitHub does not know', () => {}],
  ])('is not used for a pull request %s that is named by hand', async (_, arrange) => {
    const site = await workspace(acme('One'));
    arrange(site);
    const dispatched: ActionOptions = { event: 'workflow_dispatch' };
    const { code, log } = await site.run({ 'pr-number': '7' }, dispatched);
    expect(code).toBe(0);
    expect(log).toContain('pull request #7');
    expect(site.sandbox.requests).toEqual([]);
    const { outputs } = await site.run({ 'pr-number': '7', 'base-url': site.sandbox.url }, dispatched);
    expect(outputs.update).toBe('1');
  });

  it('is not used for a merge group of a fork, nor for one of which GitHub says nothing', async () => {
    const site = await workspace(acme('One'));
    const head_ref = 'refs/heads/gh-readonly-queue/main/pr-7-0123abcd';
    const queued = told('merge_group', { merge_group: { head_ref, base_ref: 'refs/heads/main' } });
    expect((await site.run({}, queued)).log).toContain("GitHub doesn't say whose pull request #7 is");
    Object.assign(openPull(site.github, 7).head, { repo: { full_name: 'jo/identity' } });
    const { code, log } = await site.run({ command: 'check' }, queued);
    expect(code).toBe(1);
    expect(log).toContain('pull request #7 is of another repository');
    expect(site.sandbox.requests).toEqual([]);
    const { outputs } = await site.run({ 'base-url': site.sandbox.url }, queued);
    expect(outputs.update).toBe('1');
  });

  it.each<[string, (site: Workspace) => unknown]>([
    ['of the same repository', ({ github }) => openPull(github, 7)],
    [
      'of a fork that is merged',
      ({ github }) => Object.assign(github.merge(7, 'abc123').head, { repo: { full_name: 'jo/identity' } }),
    ],
  ])('is used for a pull request %s that is named by hand', async (_, arrange) => {
    const site = await workspace(acme('One'));
    arrange(site);
    const { outputs } = await site.run({ 'pr-number': '7' }, { event: 'workflow_dispatch' });
    expect(outputs.update).toBe('1');
  });
});

/** A pull request that isn't merged. */
function openPull(github: Workspace['github'], number: number): Workspace['github']['pulls'][number] {
  return Object.assign(github.merge(number, 'abc123'), { merged_at: null, merge_commit_sha: null });
}
