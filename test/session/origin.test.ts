import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRedactor } from '../../src/secrets/redactor.js';
import { originOf } from '../../src/session/origin.js';
import { temporaryFolder } from '../cleanups.js';

const commit = 'a'.repeat(40);
const head = 'b'.repeat(40);

const github = {
  GITHUB_ACTIONS: 'true',
  GITHUB_ACTOR: 'ada',
  GITHUB_SHA: commit,
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/identity',
  GITHUB_RUN_ID: '77',
};
const run_url = 'https://github.com/acme/identity/actions/runs/77';

const gitlab = {
  GITLAB_CI: 'true',
  GITLAB_USER_LOGIN: 'grace',
  CI_COMMIT_SHA: commit,
  CI_PIPELINE_URL: 'https://gitlab.com/acme/identity/-/pipelines/9',
};

const pipeline = { actor: 'grace', commit, run_url: gitlab.CI_PIPELINE_URL };

it.each([
  ['a push on GitHub', github, { actor: 'ada', commit, run_url }],
  [
    'a pull request on GitHub',
    { ...github, GITHUB_REF: 'refs/pull/12/merge' },
    { actor: 'ada', commit, pull_request: 12, run_url },
  ],
  [
    'a run that another person restarted',
    { ...github, GITHUB_TRIGGERING_ACTOR: 'grace' },
    { actor: 'grace', commit, run_url },
  ],
  ['a GitLab pipeline', gitlab, pipeline],
  [
    'a merge request of GitLab',
    { ...gitlab, CI_MERGE_REQUEST_IID: '5', CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head },
    { ...pipeline, commit: head, pull_request: 5 },
  ],
  ['no CI and no git', {}, {}],
  ["variables of a CI that doesn't run", { ...github, GITHUB_ACTIONS: 'false' }, {}],
])('contains who ran it: %s', async (_, env, expected) => {
  const root = await temporaryFolder('origin');
  expect(await originOf(env, root, undefined, createRedactor())).toEqual(expected);
});

it('contains the pull request and the commit of the event on GitHub', async () => {
  const root = await temporaryFolder('origin');
  const path = join(root, 'event.json');
  await writeFile(path, JSON.stringify({ pull_request: { number: 8, head: { sha: head } } }));
  const origin = await originOf({ ...github, GITHUB_EVENT_PATH: path }, root, undefined, createRedactor());
  expect(origin).toMatchObject({ commit: head, pull_request: 8 });
});

it('contains the author of the newest commit without a CI', async () => {
  const root = await temporaryFolder('origin');
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
  git('init', '--quiet');
  expect(await originOf({}, root, undefined, createRedactor())).toEqual({});
  const who = ['-c', 'user.name=Ada Lovelace', '-c', 'user.email=ada@acme.example'];
  git(...who, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  expect(await originOf({}, root, undefined, createRedactor())).toEqual({
    author: 'Ada Lovelace <ada@acme.example>',
    commit: git('rev-parse', 'HEAD'),
  });
});

it('shortens a message to one line without secrets and control characters', async () => {
  const root = await temporaryFolder('origin');
  const redactor = createRedactor();
  redactor.add('s3cret-token-of-idops');
  const message = `why:\n\u001b[31m s3cret-token-of-idops ${'x'.repeat(900)}`;
  const { message: kept = '' } = await originOf({}, root, message, redactor);
  expect(kept).toMatch(/^why: \[31m \(sensitive\) x+…$/);
  expect(kept).toHaveLength(500);
});
