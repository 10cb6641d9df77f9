import { describe, expect, it } from 'vitest';
import { type ClientOptions, type GithubApi, GithubFailure, withGithub } from '../../src/action/github.js';
import { deadlines } from '../deadlines.js';
import { actionsBot, type DoubleFault, type GithubDouble, githubDouble } from './github-double.js';

/** A second of waiting takes a millisecond here. */
const msPerSecond = 1;

type Ask = <T>(work: (api: GithubApi) => Promise<T>) => Promise<T>;

async function opened(
  faults: readonly DoubleFault[],
  manner: Partial<ClientOptions> = {},
): Promise<{ github: GithubDouble; ask: Ask }> {
  const github = await githubDouble();
  github.faults.push(...faults);
  const repository = { owner: 'acme', repository: 'identity' };
  // The toolkit reads the URL from its environment, once.
  const { signal } = new AbortController();
  const given = { signal, msPerSecond, baseUrl: github.url, ...manner };
  return { github, ask: (work) => withGithub('ghs_token', repository, given, work) };
}

const all = (): boolean => true;
const comments = (api: GithubApi) => api.comments(7, all);
const histories = (api: GithubApi) => api.commentHistories([]);
const add = (api: GithubApi) => api.addComment(7, 'x', all);

const list = { method: 'GET', path: /(comments|pulls|issues)$/, message: 'bad gateway' };
const one = { method: 'GET', path: /pulls\/7$/, message: 'bad gateway' };
const asking = { method: 'POST', path: /graphql$/, message: 'bad gateway' };
const writing = { method: 'POST', path: /comments$/, message: 'bad gateway' };

const reads: [string, typeof list, (api: GithubApi) => Promise<unknown>][] = [
  ['comments', list, comments],
  ['pull requests of a commit', list, (api) => api.pullRequestsOf('abc')],
  ['issues', list, (api) => api.issues(all)],
  ['a pull request', one, (api) => api.pullRequest(7)],
  ['the editors of comments', asking, histories],
];

describe('an unusable response', () => {
  it.each(
    reads.flatMap(([what, fault, read]) =>
      [
        ['is truncated', { status: 'cut' }],
        ['stalls', { status: 'stalled' }],
        ['is empty', { status: 200, body: '' }],
        ['is a broken list', { status: 200, body: '[{"id":1,' }],
        [
          'is an HTML page',
          { status: 200, body: '<html>portal</html>', headers: { 'content-type': 'text/html' } },
        ],
      ].map(([how, said]) => [what, how, fault, read, said as Pick<DoubleFault, 'status'>] as const),
    ),
  )('fails after retries: %s, if the response %s', async (_, __, fault, read, said) => {
    const time = deadlines();
    const { github, ask } = await opened([{ ...fault, ...said, silent: time.pass }], {
      timeout: time.seconds,
    });
    await expect(ask(read)).rejects.toThrow(GithubFailure);
    // The user of the token is requested before its issues.
    expect(github.requests.filter((sent) => sent.startsWith(fault.method))).toHaveLength(4);
  });

  it('lacks a part that idops reads: the failure says so, not which property', async () => {
    const { ask } = await opened([{ ...asking, status: 200, body: '{"data":{"repository":null}}' }]);
    await expect(ask((api) => api.reviews(7))).rejects.toThrow("GitHub's answer lacks a part");
  });

  it('is replaced by a usable one after a retry', async () => {
    const { github, ask } = await opened([{ ...list, status: 'cut', times: 1 }]);
    github.comments.push({ id: 1, number: 7, body: 'x', user: actionsBot });
    expect(await ask(comments)).toMatchObject([{ id: 1, body: 'x' }]);
  });
});

describe('a request to GitHub', () => {
  it.each<[string, DoubleFault, (api: GithubApi) => Promise<unknown>]>([
    ['a read after a 502', { ...list, status: 502, times: 3 }, comments],
    ['a read after a lost connection', { ...list, status: 'lost', times: 3 }, comments],
    ['a query after a 502', { ...asking, status: 502, times: 3 }, histories],
    ['a query after a lost connection', { ...asking, status: 'lost', times: 3 }, histories],
  ])('is repeated: %s', async (_, fault, read) => {
    const { github, ask } = await opened([fault]);
    await ask(read);
    expect(github.requests).toHaveLength(4);
  });

  it.each([502, 'lost'] as const)(
    'is not repeated if it writes, after %s: it may have succeeded',
    async (status) => {
      const { github, ask } = await opened([{ ...writing, status }]);
      await expect(ask(add)).rejects.toThrow(GithubFailure);
      expect(github.requests.map((sent) => sent.split('?')[0])).toEqual([
        'POST /repos/acme/identity/issues/7/comments',
        'GET /repos/acme/identity/issues/7/comments',
      ]);
    },
  );

  it('reports GraphQL errors on one line, and whether a permission is missing', async () => {
    const message = 'Resource not accessible by integration';
    const errors = [{ type: 'FORBIDDEN', message }, { message: 'a\nb.' }];
    const body = JSON.stringify({ data: null, errors });
    const { github, ask } = await opened([{ ...asking, status: 200, body }]);
    const failed = ask(histories);
    await expect(failed).rejects.toMatchObject({ lacksPermission: true });
    await expect(failed).rejects.toThrow(
      /^GitHub answers: .*Resource not accessible by integration.* a b\.$/,
    );
    expect(github.requests).toHaveLength(1);
  });

  it.each<[string, number, { readonly [name: string]: string }, number]>([
    ['as long as retry-after demands', 429, { 'retry-after': '45' }, 45],
    ['as long as retry-after demands for a secondary limit', 403, { 'retry-after': '45' }, 45],
    ['a minute if no header says how long', 429, {}, 60],
    ['until a reset', 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }, 1],
  ])('waits for a rate limit %s', async (_, status, headers, seconds) => {
    const { github, ask } = await opened([{ ...writing, status, headers, times: 1 }]);
    const start = performance.now();
    await ask(add);
    expect(performance.now() - start).toBeGreaterThanOrEqual(seconds * msPerSecond);
    expect(github.comments).toHaveLength(1);
  });

  it.each<[string, { readonly [name: string]: string }, number]>([
    ['lasts an hour', { 'retry-after': '3600' }, 1],
    ['is repeated', { 'retry-after': '60' }, 4],
    [
      'resets in an hour',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600) },
      1,
    ],
  ])('is given up if a rate limit %s', async (_, headers, requests) => {
    const { github, ask } = await opened([{ ...writing, status: 403, message: 'limit', headers }]);
    const failure = { message: 'GitHub answers 403: limit', lacksPermission: false };
    await expect(ask(add)).rejects.toMatchObject(failure);
    expect(github.comments).toEqual([]);
    expect(github.requests).toHaveLength(requests);
  });

  it('has a timeout', async () => {
    const time = deadlines();
    const { github, ask } = await opened([{ ...list, status: 'late', silent: time.pass }], {
      timeout: time.seconds,
    });
    const why = `GitHub can't be asked: no answer within ${time.seconds} seconds`;
    await expect(ask(comments)).rejects.toThrow(why);
    expect(github.requests).toHaveLength(4);
  });

  it.each<[string, DoubleFault]>([
    ['a response', { ...list, status: 'late' }],
    ['a rate limit', { ...list, status: 429 }],
  ])('ends if the job is cancelled while it waits for %s', async (_, fault) => {
    const controller = new AbortController();
    const { github, ask } = await opened([fault], { signal: controller.signal, msPerSecond: 1000 });
    const failed = expect(ask(comments)).rejects.toThrow('interrupted');
    await expect.poll(() => github.requests.length).toBe(1);
    controller.abort();
    await failed;
    await expect(ask(comments)).rejects.toThrow('interrupted');
    expect(github.requests).toHaveLength(1);
  });

  it.each([
    [403, true],
    [404, false],
  ])('lacks a permission if GitHub forbids it: %i', async (status, lacksPermission) => {
    const { ask } = await opened([{ ...writing, status }]);
    await expect(ask(add)).rejects.toMatchObject({ lacksPermission });
  });
});
