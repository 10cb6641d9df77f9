import { describe, expect, it } from 'vitest';
import { type ActionOptions, pullRequest, workspace } from '../action/running.js';

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

  it.each<[string, ActionOptions]>([
    ['a pull request from a fork', fork],
    ['a review of one', { ...fork, event: 'pull_request_review' }],
    ['pull_request_target', { ...fork, event: 'pull_request_target' }],
    ['pull_request_target, of the same repository', { ...own, event: 'pull_request_target' }],
    [
      'a fork that is gone',
      { event: 'pull_request_review', payload: { pull_request: { number: 7, head: {} } } },
    ],
    ['a workflow_run for a fork', run('jo/identity')],
  ])('is used for %s only with base-url and token as inputs', async (_, event) => {
    const site = await workspace(acme('One'));
    const env = { IDOPS_TOKEN: site.sandbox.token };
    for (const command of ['plan', 'apply']) {
      for (const inputs of [{ token: '' }, {}, { token: '', 'base-url': site.sandbox.url }]) {
        const { code, log } = await site.run({ command, ...inputs }, { ...event, env });
        expect(code).toBe(1);
        expect(log).toContain('error[foreign-files]');
        expect(log).toContain('give both base-url and token as inputs');
      }
    }
    expect(site.sandbox.requests).toEqual([]);
    const { outputs } = await site.run({ 'base-url': site.sandbox.url }, event);
    expect(outputs).toMatchObject({ update: '1' });
  });

  it.each<[string, ActionOptions]>([
    ['a pull request of the same repository', own],
    ['a workflow_run of the same repository', run('acme/identity')],
    ['a push', { event: 'push' }],
    ['a schedule', { event: 'schedule' }],
  ])('is used for %s', async (_, event) => {
    const site = await workspace(acme('One'));
    expect((await site.run({}, event)).outputs).toMatchObject({ update: '1' });
  });
});
