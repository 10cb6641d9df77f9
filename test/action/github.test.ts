import { describe, expect, it } from 'vitest';
import { type GithubApi, openGithub } from '../../src/action/github.js';
import { GithubFailure, type Manner } from '../../src/action/github-client.js';
import { afterwards } from '../cleanups.js';
import { deadlines } from '../deadlines.js';
import { type DoubleFault, type GithubDouble, githubDouble } from './github-double.js';

/** A second of waiting is a millisecond here. */
const second = 1;
const never = new AbortController().signal;

async function opened(
  faults: readonly DoubleFault[],
  manner: Partial<Manner> = {},
): Promise<{ github: GithubDouble; api: GithubApi }> {
  const github = await githubDouble();
  afterwards(() => github.close());
  github.faults.push(...faults);
  // The toolkit takes the address from its environment, once.
  const api = await openGithub(
    'ghs_token',
    { owner: 'acme', repository: 'identity' },
    { signal: never, second, baseUrl: github.url, ...manner },
  );
  return { github, api };
}

const secondary = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
const reading = { method: 'GET', path: /comments$/, message: 'bad gateway' };
const asking = { method: 'POST', path: /graphql$/, message: 'bad gateway' };
const writing = { method: 'POST', path: /comments$/, message: 'bad gateway' };

const list = { method: 'GET', path: /(comments|pulls|issues)$/, message: '' };
const one = { method: 'GET', path: /pulls\/7$/, message: '' };

const broken: [string, Pick<DoubleFault, 'status' | 'body' | 'headers'>, string][] = [
  ['is cut off', { status: 'cut' }, 'broke off'],
  ['stalls', { status: 'stalled' }, 'no answer within'],
  ['is empty', { status: 200, body: '' }, "isn't JSON"],
  ['is a broken list', { status: 200, body: '[{"id":1,' }, "isn't JSON"],
  [
    'is a page',
    { status: 200, body: '<html>portal</html>', headers: { 'content-type': 'text/html' } },
    "isn't JSON",
  ],
  ['is something else', { status: 200, body: '{"hello":1}' }, "isn't what was asked for"],
  ['is a list of something else', { status: 200, body: '[{"hello":1}]' }, "isn't what was asked for"],
];

const reads: [string, typeof list, (api: GithubApi) => Promise<unknown>][] = [
  ['comments', list, (api) => api.comments(7)],
  ['pull requests of a commit', list, (api) => api.pullRequestsOf('abc')],
  ['issues', list, (api) => api.openIssues()],
  ['a pull request', one, (api) => api.pullRequest(7)],
  ['whose a pull request is', one, (api) => api.bringsForeign(7)],
  ['whose the token is', asking, (api) => api.viewer()],
  ['who wrote comments', asking, (api) => api.histories([])],
  ['the versions of a comment', asking, (api) => api.versions('IC_1')],
  ['the text of a version', asking, (api) => api.versionText('UCE_1_0')],
];

describe('an answer that tells nothing', () => {
  it.each(
    reads.flatMap(([what, fault, ask]) =>
      broken
        // The ways to break are the same for all: one list, and one query, show each of them.
        .filter(
          ([how]) =>
            what === 'comments' ||
            what === 'whose the token is' ||
            how === 'is cut off' ||
            how === 'is something else',
        )
        .map(([how, said, words]) => [what, how, fault, ask, said, words] as const),
    ),
  )('fails, and is asked for again: %s, of which the answer %s', async (_, __, fault, ask, said, words) => {
    const time = deadlines();
    const { github, api } = await opened([{ ...fault, ...said, silent: time.pass }], {
      timeout: time.seconds,
    });
    const asked = ask(api);
    await expect(asked).rejects.toThrow(GithubFailure);
    await expect(asked).rejects.toThrow(words);
    expect(github.requests).toHaveLength(4);
  });

  it.each(['{"data":null}', '{"data":{"viewer":null,"nodes":[],"node":{"userContentEdits":1,"diff":1}}}'])(
    'fails by GraphQL where it has no data, or other data: %s',
    async (body) => {
      const { api } = await opened([{ ...asking, status: 200, body }]);
      for (const [, fault, ask] of reads) {
        if (fault === asking)
          await expect(ask(api)).rejects.toThrow("GitHub's answer isn't what was asked for");
      }
    },
  );

  it('is read where it comes whole the next time', async () => {
    const { github, api } = await opened([{ ...list, status: 'cut', times: 1 }]);
    github.comments.push({ id: 1, number: 7, body: 'x', user: { id: 2, login: 'a' } });
    expect(await api.comments(7)).toMatchObject([{ id: 1, body: 'x' }]);
  });

  it('is none of those of an issue, which names no pull request', async () => {
    const { github, api } = await opened([]);
    await api.openIssue('title', 'x');
    const [{ number } = { number: 0 }] = github.issues;
    expect(await api.openIssues()).toMatchObject([{ id: number, body: 'x' }]);
  });

  it('does not matter of a comment that was written', async () => {
    const { github, api } = await opened([{ ...writing, status: 'cut', done: true }]);
    await api.addComment(7, 'x');
    expect(github.comments).toHaveLength(1);
    expect(github.requests).toHaveLength(1);
  });

  it('leads nowhere else for the rest of a list: the token would go there', async () => {
    const other = await githubDouble();
    afterwards(() => other.close());
    const headers = { link: `<${other.url}/repos/acme/identity/issues/7/comments?page=2>; rel="next"` };
    const { api } = await opened([{ ...list, status: 200, body: '[]', headers }]);
    await expect(api.comments(7)).rejects.toThrow(
      "GitHub's answer leads to another server for the rest of a list, and that is not asked",
    );
    expect(other.requests).toEqual([]);
  });
});

describe('what is asked of GitHub', () => {
  it.each<[string, DoubleFault, (api: GithubApi) => Promise<unknown>]>([
    ['a read after a 502', { ...reading, status: 502, times: 3 }, (api) => api.comments(7)],
    ['a read after a lost connection', { ...reading, status: 'lost', times: 3 }, (api) => api.comments(7)],
    ['a query after a 502', { ...asking, status: 502, times: 3 }, (api) => api.viewer()],
    ['a query after a lost connection', { ...asking, status: 'lost', times: 3 }, (api) => api.viewer()],
  ])('is asked again: %s', async (_, fault, ask) => {
    const { github, api } = await opened([fault]);
    await ask(api);
    expect(github.requests).toHaveLength(4);
  });

  it.each<[string, DoubleFault['status']]>([
    ['a 502', 502],
    ['a lost connection', 'lost'],
  ])('is not written again after %s: it may be there', async (_, status) => {
    const { github, api } = await opened([{ ...writing, status }]);
    await expect(api.addComment(7, 'x')).rejects.toThrow(GithubFailure);
    expect(github.requests).toHaveLength(1);
  });

  it.each<[string, Partial<DoubleFault>, boolean]>([
    ['a 502', { status: 502, done: true }, true],
    ['a lost connection', { status: 'lost', done: true }, true],
    ['no answer in time', { status: 'late', done: true }, true],
    ['a 403', { status: 403 }, false],
  ])('may have been written after %s', async (_, fault, mayBeDone) => {
    const time = deadlines();
    const { api } = await opened([{ ...writing, status: 0, ...fault, silent: time.pass }], {
      timeout: time.seconds,
    });
    await expect(api.addComment(7, 'x')).rejects.toMatchObject({ mayBeDone });
    await expect(api.comments(7)).resolves.toHaveLength(mayBeDone ? 1 : 0);
  });

  it('was not written where there is no connection, nor where only a read fails', async () => {
    const { github, api } = await opened([{ ...reading, status: 502 }]);
    await expect(api.comments(7)).rejects.toMatchObject({ mayBeDone: false, answered: false });
    await github.close();
    await expect(api.addComment(7, 'x')).rejects.toMatchObject({ mayBeDone: false });
  });

  it('may have been written where the job is cancelled while it is', async () => {
    const controller = new AbortController();
    const { github, api } = await opened([{ ...writing, status: 'late' }], { signal: controller.signal });
    const failed = expect(api.addComment(7, 'x')).rejects.toMatchObject({
      message: 'interrupted',
      mayBeDone: true,
    });
    await expect.poll(() => github.requests.length).toBe(1);
    controller.abort();
    await failed;
  });

  it('waits for limits no longer than three minutes in all', async () => {
    const limit = { ...writing, status: 429, message: secondary, headers: { 'retry-after': '100' } };
    const { github, api } = await opened([limit]);
    await expect(api.addComment(7, 'x')).rejects.toThrow('GitHub answers 429');
    expect(github.requests).toHaveLength(2);
  });

  it('says on one line what GraphQL refuses, and whether it is a permission', async () => {
    const message = 'Resource not accessible by integration';
    const body = JSON.stringify({
      data: null,
      errors: [{ type: 'FORBIDDEN', message }, { message: 'a\nb.' }],
    });
    const { github, api } = await opened([{ ...asking, status: 200, body }]);
    await expect(api.viewer()).rejects.toMatchObject({
      message: `GitHub answers: ${message}; a b.`,
      lacksPermission: true,
      answered: true,
    });
    expect(github.requests).toHaveLength(1);
  });

  it('waits a minute for a secondary limit that does not say how long it lasts, and twice as long the next time', async () => {
    const limit = { ...writing, status: 403, message: secondary };
    const { github, api } = await opened([{ ...limit, times: 2 }]);
    const start = performance.now();
    await api.addComment(7, 'x');
    expect(performance.now() - start).toBeGreaterThanOrEqual((60 + 120) * second);
    expect(github.comments).toHaveLength(1);
  });

  it.each<[string, number, string, { readonly [name: string]: string }]>([
    ['as long as retry-after says', 429, 'slow down', { 'retry-after': '90' }],
    [
      'as long as retry-after says of a limit of before',
      403,
      'You have triggered an abuse detection mechanism.',
      { 'retry-after': '90' },
    ],
    ['as long as retry-after says of a secondary limit', 403, secondary, { 'retry-after': '90' }],
  ])('waits %s', async (_, status, message, headers) => {
    const { github, api } = await opened([{ ...writing, status, message, headers, times: 1 }]);
    const start = performance.now();
    await api.addComment(7, 'x');
    expect(performance.now() - start).toBeGreaterThanOrEqual(90 * second);
    expect(github.comments).toHaveLength(1);
  });

  it.each<[string, string, { readonly [name: string]: string }]>([
    ['lasts an hour', secondary, { 'retry-after': '3600' }],
    ['comes back again and again', secondary, {}],
    [
      'is reached until in an hour',
      'API rate limit exceeded',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600) },
    ],
  ])('is given up where a limit %s', async (_, message, headers) => {
    const { github, api } = await opened([{ ...writing, status: 403, message, headers }]);
    await expect(api.addComment(7, 'x')).rejects.toThrow(`GitHub answers 403: ${message}`);
    expect(github.comments).toEqual([]);
    expect(github.requests.length).toBeLessThanOrEqual(3);
  });

  it('has a time for each request', async () => {
    const time = deadlines();
    const { github, api } = await opened([{ ...reading, status: 'late', silent: time.pass }], {
      timeout: time.seconds,
    });
    await expect(api.comments(7)).rejects.toThrow(`no answer within ${time.seconds} seconds`);
    expect(github.requests).toHaveLength(4);
  });

  it.each<[string, DoubleFault]>([
    ['an answer', { ...reading, status: 'late' }],
    ['a limit', { ...reading, status: 403, message: secondary }],
  ])('ends where the job is cancelled while it waits for %s', async (_, fault) => {
    const controller = new AbortController();
    const { github, api } = await opened([fault], { signal: controller.signal, second: 1000 });
    const asked = api.comments(7);
    const failed = expect(asked).rejects.toThrow('interrupted');
    await expect.poll(() => github.requests.length).toBe(1);
    controller.abort();
    await failed;
    await expect(api.comments(7)).rejects.toThrow('interrupted');
    expect(github.requests).toHaveLength(1);
  });

  it.each([
    [403, 'Resource not accessible by integration', true],
    [403, 'Resource not accessible by personal access token', true],
    [403, 'Repository access blocked', false],
    [404, 'Not Found', false],
  ])('lacks a permission where GitHub says so alone: %i %s', async (status, message, lacksPermission) => {
    const { api } = await opened([{ ...writing, status, message }]);
    await expect(api.addComment(7, 'x')).rejects.toMatchObject({ status, lacksPermission });
  });
});
