import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readEvent } from '../../src/action/event.js';
import { type ActionOptions, acme, pullRequest, workspace } from '../action/running.js';
import { temporaryFolder } from '../cleanups.js';

describe('a project with its own credentials', () => {
  const fork = pullRequest(7, { from: 'jo/identity' });
  const own = pullRequest();
  const repository = { full_name: 'acme/identity', id: 1 };
  const event = (path: string, of: ActionOptions): ActionOptions => ({
    ...of,
    env: { GITHUB_EVENT_PATH: path },
  });
  const broken = fileURLToPath(import.meta.url);

  it.each<[string, ActionOptions]>([
    ['a pull request from a fork', fork],
    ['a workflow_run', { event: 'workflow_run' }],
  ])('is used for %s only with the inputs base-url and token', async (_, event) => {
    const site = await workspace(acme('One'));
    const env = { ...event.env, IDOPS_TOKEN: site.sandbox.token };
    for (const inputs of [{ token: '' }, {}, { token: '', 'base-url': site.sandbox.url }]) {
      const { code, log } = await site.run({ command: 'apply', ...inputs }, { ...event, env });
      expect(code).toBe(1);
      expect(log).toContain('error[foreign-files]');
      expect(log).toContain('set both inputs, base-url and token');
      const planned = await site.run(inputs, { ...event, env });
      expect(planned.code).toBe(0);
      for (const text of [planned.log, planned.summary, planned.outputs.summary])
        expect(text).toMatch(/There is no plan for this (run|pull request): .*It was only validated\./);
      expect(planned.outputs).toMatchObject({ changed: 'false', digest: '' });
    }
    expect(site.sandbox.requests).toEqual([]);
    const { outputs } = await site.run({ 'base-url': site.sandbox.url }, event);
    expect(outputs).toMatchObject({ update: '1' });
  });

  /** Why the files of such a run are foreign, according to its event. */
  async function foreign(of: ActionOptions): Promise<string | null> {
    const { event: name = 'push', payload = { repository }, env = {} } = of;
    const path = join(await temporaryFolder('event'), 'event.json');
    await writeFile(path, JSON.stringify(payload));
    const { full_name } = repository;
    const own = { GITHUB_EVENT_PATH: path, GITHUB_EVENT_NAME: name, GITHUB_REPOSITORY: full_name };
    return readEvent({ ...own, ...env }).untrustedReason;
  }

  it.each<[string, ActionOptions]>([
    ['a pull request from a fork', fork],
    ['a pull request whose event is broken', event(broken, own)],
    ['a pull request whose event is missing', event('/nonexistent/event.json', own)],
    ['a pull request without an event', event('', own)],
    ['a pull request whose event has no pull request', { event: 'pull_request', payload: {} }],
    [
      'a pull request whose event has no repository',
      { event: 'pull_request', payload: { pull_request: { number: 7 } } },
    ],
    ...[
      ...['workflow_run', 'check_run', 'status', 'deployment', 'repository_dispatch', 'issue_comment'],
      ...['merge_group', 'new', ''],
    ].map((name): [string, ActionOptions] => [`the event "${name}"`, { event: name }]),
    ['a review of a pull request from a fork', { ...fork, event: 'pull_request_review' }],
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
    ['pull_request_target of the same repository', { ...own, event: 'pull_request_target' }],
    ['a deleted fork', { event: 'pull_request_review', payload: { pull_request: { number: 7, head: {} } } }],
  ])('is foreign to %s', async (_, event) => {
    expect(await foreign(event)).toMatch(/repository/);
  });

  it.each<[string, ActionOptions]>([
    ['a pull request of the same repository', own],
    ['a push', { event: 'push' }],
    ['a schedule', { event: 'schedule' }],
    ['a push without an event', event('', { event: 'push' })],
    ['a schedule whose event is broken', event(broken, { event: 'schedule' })],
    ['a workflow_dispatch whose event is missing', event('/nonexistent', { event: 'workflow_dispatch' })],
    ['a release', { event: 'release' }],
  ])('is not foreign to %s', async (_, event) => {
    expect(await foreign(event)).toBeNull();
  });

  it('is not used for the pull request that pr-number names', async () => {
    const site = await workspace(acme('One'));
    const dispatched: ActionOptions = { event: 'workflow_dispatch' };
    const { code, log } = await site.run({ 'pr-number': '7' }, dispatched);
    expect(code).toBe(0);
    expect(log).toContain('pull request #7 may be of another repository');
    expect(site.sandbox.requests).toEqual([]);
    const { outputs } = await site.run({ 'pr-number': '7', 'base-url': site.sandbox.url }, dispatched);
    expect(outputs.update).toBe('1');
  });
});
