import { setTimeout as sleep } from 'node:timers/promises';
import { escapeText } from '../base/escape.js';
import type { WorkflowEvent } from './event.js';

/** A comment, or an issue: what idops wrote, and who did. */
export interface Remark {
  /** The comment's id, or the issue's number. */
  readonly id: number;
  readonly body: string;
  readonly author: Author | null;
}

interface Author {
  readonly id: number;
  readonly login: string;
}

/** A pull request that brought a commit. */
export interface MergedPullRequest {
  readonly number: number;
  readonly mergeCommit: string | null;
}

/** What idops asks of GitHub's API. Each function throws a GithubFailure. */
export interface GithubApi {
  /** Whoever the token belongs to; null where GitHub doesn't say. */
  viewer(): Promise<Author | null>;
  comments(issue: number): Promise<Remark[]>;
  addComment(issue: number, body: string): Promise<void>;
  updateComment(id: number, body: string): Promise<void>;
  mergedPullRequests(sha: string): Promise<MergedPullRequest[]>;
  openIssues(): Promise<Remark[]>;
  openIssue(title: string, body: string): Promise<number>;
  updateIssue(number: number, changes: { readonly body: string; readonly close: boolean }): Promise<void>;
}

/** What GitHub refused, in words for a person. */
export class GithubFailure extends Error {
  readonly status: number | null;

  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GithubFailure';
    this.status = status;
  }
}

const tries = 4;
/** A job that waits longer than this for a limit to pass costs more than a comment is worth. */
const longestPause = 120;

/** Opens the way to the API of the repository that the workflow runs for. */
export async function openGithub(
  token: string,
  { owner, repository: repo }: Pick<WorkflowEvent, 'owner' | 'repository'>,
): Promise<GithubApi> {
  // Validating, and planning without a pull request, need none of it.
  const { getOctokit } = await import('@actions/github');
  const octokit = getOctokit(token, { log: silent });
  octokit.hook.wrap('request', async (request, options) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request(options);
      } catch (failure) {
        const pause = attempt < tries ? pauseAfter(failure, options.method, attempt) : null;
        if (pause === null) throw failure;
        await sleep(pause * 1000);
      }
    }
  });
  const { rest, paginate } = octokit;
  const at = { owner, repo };
  return {
    viewer: () =>
      asking(async () => {
        const { viewer } = await octokit.graphql<{ viewer: { login: string; databaseId: number | null } }>(
          '{ viewer { login databaseId } }',
        );
        return viewer.databaseId === null ? null : { id: viewer.databaseId, login: viewer.login };
      }),
    comments: (issue) =>
      asking(async () => {
        const found = await paginate(rest.issues.listComments, { ...at, issue_number: issue, per_page: 100 });
        return found.map(remark);
      }),
    addComment: (issue, body) =>
      asking(async () => {
        await rest.issues.createComment({ ...at, issue_number: issue, body });
      }),
    updateComment: (id, body) =>
      asking(async () => {
        await rest.issues.updateComment({ ...at, comment_id: id, body });
      }),
    mergedPullRequests: (sha) =>
      asking(async () => {
        const found = await paginate(rest.repos.listPullRequestsAssociatedWithCommit, {
          ...at,
          commit_sha: sha,
          per_page: 100,
        });
        return found
          .filter(({ merged_at }) => merged_at !== null)
          .map(({ number, merge_commit_sha }) => ({ number, mergeCommit: merge_commit_sha }));
      }),
    openIssues: () =>
      asking(async () => {
        const found = await paginate(rest.issues.listForRepo, {
          ...at,
          state: 'open',
          sort: 'created',
          direction: 'asc',
          per_page: 100,
        });
        return found
          .filter(({ pull_request }) => pull_request === undefined)
          .map((issue) => ({ ...remark(issue), id: issue.number }));
      }),
    openIssue: (title, body) =>
      asking(async () => (await rest.issues.create({ ...at, title, body })).data.number),
    updateIssue: (number, { body, close }) =>
      asking(async () => {
        await rest.issues.update({
          ...at,
          issue_number: number,
          body,
          ...(close ? { state: 'closed', state_reason: 'completed' } : {}),
        });
      }),
  };
}

/** The account that workflows' own tokens act as, where the API doesn't tell. */
const actionsBot = 'github-actions[bot]';

/** What was written by whoever the token belongs to: nobody else's words are taken for idops'. */
export async function ownRemarks(api: GithubApi, remarks: readonly Remark[]): Promise<Remark[]> {
  if (remarks.length === 0) return [];
  const viewer = await api.viewer().catch(() => null);
  return remarks.filter(({ author }) =>
    viewer === null ? author?.login === actionsBot : author?.id === viewer.id,
  );
}

interface RawRemark {
  readonly id: number;
  readonly body?: string | null;
  readonly user?: { readonly id: number; readonly login: string } | null;
}

function remark({ id, body, user }: RawRemark): Remark {
  return {
    id,
    body: body ?? '',
    author: user === undefined || user === null ? null : { id: user.id, login: user.login },
  };
}

/** What octokit would log by itself could hold anything that a server answers. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A failed request, as far as its kind is known. */
interface RawFailure {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly response?: { readonly headers?: { readonly [name: string]: unknown }; readonly data?: unknown };
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (failure) {
    const { status, message, response } = failure as RawFailure;
    const code = typeof status === 'number' ? status : null;
    const data = response?.data as { message?: unknown } | undefined;
    const said = typeof data?.message === 'string' ? data.message : String(message);
    const short = escapeText(said.length > 300 ? `${said.slice(0, 300)}…` : said);
    throw new GithubFailure(
      code === null || response === undefined
        ? `GitHub can't be asked: ${short}`
        : `GitHub answers ${code}: ${short}`,
      code,
      { cause: failure },
    );
  }
}

/** How many seconds to wait before a request is sent again; null where that would not help. */
function pauseAfter(failure: unknown, method: string, attempt: number): number | null {
  const { status, response } = failure as RawFailure;
  const headers = response?.headers ?? {};
  if (status === 403 || status === 429) {
    const pause = limitPause(headers);
    return pause !== null && pause <= longestPause ? pause : null;
  }
  // A comment that was perhaps written must not be written again.
  if (method === 'POST' || typeof status !== 'number') return null;
  return status >= 500 ? 2 ** (attempt - 1) : null;
}

function limitPause(headers: { readonly [name: string]: unknown }): number | null {
  const after = headers['retry-after'];
  if (after !== undefined) {
    const seconds = Number(after);
    return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
  }
  if (String(headers['x-ratelimit-remaining']) !== '0') return null;
  const reset = Number(headers['x-ratelimit-reset']);
  // Clocks differ by a little, and a request that comes too early counts against the limit.
  return Number.isFinite(reset) ? Math.max(0, reset - Date.now() / 1000) + 1 : null;
}
