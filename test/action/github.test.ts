import { describe, expect, it } from 'vitest';
import { type GithubApi, openGithub } from '../../src/action/github.js';
import { GithubFailure, type Manner } from '../../src/action/github-client.js';
import { afterwards } from '../cleanups.js';
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
    const { github, api } = await opened([{ ...reading, status: 'late' }], { timeout: 0.05 });
    await expect(api.comments(7)).rejects.toThrow('no answer within 0.05 seconds');
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
