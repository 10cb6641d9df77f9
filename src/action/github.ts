import { once } from 'node:events';
import type { getOctokit } from '@actions/github';
import { escapeText } from '../base/escape.js';
import { ProblemsError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';
import type {
  Artifact,
  CommentHistory,
  Issue,
  OwnComment,
  PullRequest,
  Review,
  WorkflowRun,
} from './github-objects.js';

type Octokit = ReturnType<typeof getOctokit>;

/** A request to GitHub that failed, with a message for people. */
export class GithubFailure extends Error {
  /** Whether the token lacks a permission. */
  readonly lacksPermission: boolean;

  constructor(
    message: string,
    { lacksPermission = false, cause }: { lacksPermission?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'GithubFailure';
    this.lacksPermission = lacksPermission;
  }
}

/** Options of the GitHub client. */
export interface ClientOptions {
  /** The address of the API; by default the one that the runner names. */
  readonly baseUrl?: string;
  /** Cancels requests and waits. */
  readonly signal: AbortSignal;
  /** Seconds that one request may take; 30 by default. */
  readonly timeout?: number;
  /** How long a second of waiting takes, in milliseconds; 1,000 by default, less in tests. */
  readonly msPerSecond?: number;
}

const retries = 3;
/** A longer wait for a rate limit, in seconds, is a failure: it would cost more than a comment is worth. */
const maxWait = 60;
/** For requests that create something: if the answer is lost, a retry could create it twice. */
const noRetries = { request: { retries: 0 } } as const;

/** Calls `work` with the API of the workflow's repository. Throws a GithubFailure if a request fails or is interrupted. */
export async function withGithub<T>(
  token: string,
  { owner, repository: repo }: Pick<WorkflowEvent, 'owner' | 'repository'>,
  options: ClientOptions,
  work: (api: GithubApi) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  const interrupted = new GithubFailure('interrupted');
  try {
    const octokit = await openClient(token, options);
    if (signal.aborted) throw interrupted;
    // The signal doesn't end a wait for a rate limit.
    const stopped = once(signal, 'abort').then(() => Promise.reject(interrupted));
    return await Promise.race([work(createApi(octokit, { owner, repo })), stopped]);
  } catch (failure) {
    if (failure instanceof GithubFailure || failure instanceof ProblemsError) throw failure;
    // Octokit wraps what fetch throws, so something in an answer is missing.
    if (failure instanceof TypeError)
      throw new GithubFailure("GitHub's answer lacks a part that its API documents", { cause: failure });
    throw toGithubFailure(failure as RequestFailure);
  }
}

/** Opens a client with retries, waits for rate limits, and a timeout for each request. */
async function openClient(
  token: string,
  // The toolkit reads the variable itself, but only when it is loaded.
  {
    baseUrl = process.env.GITHUB_API_URL || undefined,
    signal,
    timeout = 30,
    msPerSecond = 1000,
  }: ClientOptions,
): Promise<Octokit> {
  // Imported on use, since `validate` and plans without a pull request don't need it.
  const [{ getOctokit }, { retry }] = await Promise.all([
    import('@actions/github'),
    import('@octokit/plugin-retry'),
  ]);
  return getOctokit(
    token,
    {
      // Octokit's own log could contain any answer of a server.
      log: { debug() {}, info() {}, warn() {}, error() {} },
      ...(baseUrl === undefined ? {} : { baseUrl }),
      retry: {
        retries,
        retryAfterBaseValue: msPerSecond,
        doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451],
      },
    },
    // Plugins wrap the request in order, so this one is closest to it.
    ({ hook }) => {
      hook.wrap('request', async (request, options) => {
        const original = { ...options.request };
        try {
          // Octokit ignores new options, so these are changed in place.
          options.request = { ...original, fetch: checkedFetch(original.fetch ?? fetch, signal, timeout) };
          return await request(options);
        } catch (failure) {
          const wait = rateLimitWait(failure as RequestFailure);
          const { request: failed } = failure as RequestFailure;
          if (failed !== undefined && wait !== null && wait <= maxWait)
            failed.request = { ...failed.request, retries, retryAfter: Math.max(1, Math.ceil(wait)) };
          throw failure;
        } finally {
          options.request = original;
        }
      });
      return {};
    },
    retry,
  );
}

/** A fetch with a timeout in seconds. It rejects answers that are cut off, or neither a file nor JSON: octokit would read them as empty. */
function checkedFetch(baseFetch: typeof fetch, signal: AbortSignal, timeout: number): typeof fetch {
  return async (address, init) => {
    const expired = new AbortController();
    const timer = setTimeout(
      () => expired.abort(new Error(`no answer within ${timeout} seconds`)),
      timeout * 1000,
    );
    try {
      const response = await baseFetch(address, {
        ...init,
        signal: AbortSignal.any([signal, expired.signal]),
      });
      const content = await response.clone().arrayBuffer();
      const isFile = /zip|octet-stream/.test(response.headers.get('content-type') ?? '');
      if (response.ok && !isFile) JSON.parse(Buffer.from(content).toString('utf8'));
      return response;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** An error of octokit. */
interface RequestFailure {
  readonly status?: number;
  readonly message?: string;
  readonly response?: { readonly headers: { readonly [name: string]: string | number | undefined } };
  /** The errors of GraphQL. */
  readonly errors?: readonly { readonly type?: string }[];
  /** The request, with options that the retry plugin reads. */
  readonly request?: { request?: object };
}

/** The seconds until a rate limit ends; null if the request failed for another reason. */
function rateLimitWait({ status, response }: RequestFailure): number | null {
  if (response === undefined || (status !== 403 && status !== 429)) return null;
  const { headers } = response;
  if (headers['retry-after'] !== undefined) return Number(headers['retry-after']);
  if (String(headers['x-ratelimit-remaining']) === '0')
    return Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
  return status === 429 ? maxWait : null;
}

/** For `.catch`: null for a 404; throws any other failure. */
function nullIfMissing(failure: RequestFailure): null {
  if (failure.status === 404) return null;
  throw failure;
}

/** Whether GitHub rejected the request and did nothing. After an answer such as 502, or none, the outcome is unknown. */
function isRejected({ status, response }: RequestFailure): boolean {
  return response !== undefined && status !== undefined && status >= 300 && status < 500;
}

function toGithubFailure(failure: RequestFailure): GithubFailure {
  const { status, message = '', response, errors = [] } = failure;
  const line = message.replace(/\s+/g, ' ').trim();
  const short = escapeText(line.length > 300 ? `${line.slice(0, 300)}…` : line);
  const answer = response === undefined ? "can't be asked" : ['answers', status].join(' ').trim();
  return new GithubFailure(`GitHub ${answer}: ${short}`, {
    lacksPermission:
      (status === 403 && rateLimitWait(failure) === null) ||
      errors.some(({ type }) => type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES'),
    cause: failure,
  });
}

/** The requests that idops sends to GitHub. */
export type GithubApi = ReturnType<typeof createApi>;

function createApi(
  { rest, paginate, graphql }: Octokit,
  at: { readonly owner: string; readonly repo: string },
) {
  /** The token's account. */
  const viewer = async () =>
    (
      await graphql<{ viewer: { login: string; databaseId: number | null } }>(
        '{ viewer { login databaseId } }',
      )
    ).viewer;
  /** Selects what the token's account wrote: what others wrote is never taken for idops' own. */
  const own = async <T extends { readonly user?: { id: number; login: string } | null }>(
    written: readonly T[],
  ): Promise<T[]> => {
    if (written.length === 0) return [];
    const { login, databaseId } = await viewer();
    return written.filter(({ user }) =>
      databaseId === null ? [login, `${login}[bot]`].includes(user?.login ?? '') : user?.id === databaseId,
    );
  };
  return {
    /** The comments by the token's account on a pull request that `isWanted` selects. */
    async comments(number: number, isWanted: (body: string) => boolean): Promise<OwnComment[]> {
      const all = await paginate(rest.issues.listComments, { ...at, issue_number: number, per_page: 100 });
      const found = await own(all.filter(({ body = '' }) => isWanted(body)));
      return found.map(({ id, node_id, body = '' }) => ({ id, nodeId: node_id, body }));
    },
    /** Comments with their authors and editors, which the REST API doesn't return. */
    async commentHistories(nodes: readonly string[]): Promise<CommentHistory[]> {
      const answer = await graphql<{ nodes: CommentHistory[] }>(
        `query ($ids: [ID!]!) {
          nodes(ids: $ids) {
            ... on IssueComment {
              body createdAt lastEditedAt
              author { __typename login }
              editor { __typename login }
            }
          }
        }`,
        { ids: nodes },
      );
      return answer.nodes;
    },
    /** Writes a comment, once. If GitHub's answer doesn't say whether it was created, `isCreated` finds it. */
    async addComment(number: number, body: string, isCreated: (body: string) => boolean): Promise<void> {
      try {
        await rest.issues.createComment({ ...at, issue_number: number, body, ...noRetries });
      } catch (failure) {
        if (isRejected(failure as RequestFailure)) throw failure;
        const found = await this.comments(number, isCreated).catch(() => []);
        if (found.length === 0) throw failure;
      }
    },
    /** The files that a pull request changes, with the former names of renamed ones. GitHub lists at most 3,000. */
    async changedFiles(number: number): Promise<string[]> {
      const all = await paginate(rest.pulls.listFiles, { ...at, pull_number: number, per_page: 100 });
      return all.flatMap(({ filename, previous_filename }) =>
        previous_filename === undefined ? [filename] : [filename, previous_filename],
      );
    },
    async updateComment(id: number, body: string): Promise<void> {
      await rest.issues.updateComment({ ...at, comment_id: id, body });
    },
    /** The pull requests of this repository that a commit belongs to. */
    async pullRequestsOf(sha: string): Promise<PullRequest[]> {
      const query = { ...at, commit_sha: sha, per_page: 100 };
      const found = await paginate(rest.repos.listPullRequestsAssociatedWithCommit, query);
      // Names of repositories ignore case.
      const fullName = `${at.owner}/${at.repo}`.toLowerCase();
      return found.filter(({ base }) => base.repo.full_name.toLowerCase() === fullName);
    },
    async pullRequest(number: number): Promise<PullRequest> {
      return (await rest.pulls.get({ ...at, pull_number: number })).data;
    },
    /** The text of a file at a commit; null if there is none, or if the token may not see it. */
    async file(path: string, ref: string): Promise<string | null> {
      const found = await rest.repos.getContent({ ...at, path, ref }).catch(nullIfMissing);
      const content = found !== null && 'content' in found.data ? found.data.content : null;
      return content === null ? null : Buffer.from(content, 'base64').toString('utf8');
    },
    /** Whether an account is a member of a team of the organization. */
    async isMember(team: string, username: string): Promise<boolean> {
      const query = { org: at.owner, team_slug: team, username };
      const found = await rest.teams.getMembershipForUserInOrg(query).catch(nullIfMissing);
      return found?.data.state === 'active';
    },
    async run(id: string): Promise<WorkflowRun> {
      return (await rest.actions.getWorkflowRun({ ...at, run_id: Number(id) })).data;
    },
    /** A later run of the same workflow with a finished job: one that was cancelled while it waited did nothing. Undefined if there is none. */
    async laterRun({
      id,
      workflow_id,
      created_at,
      head_branch,
      event,
    }: WorkflowRun): Promise<WorkflowRun | undefined> {
      const query = { ...at, workflow_id, created: `>=${created_at}`, per_page: 100 };
      const branch = event === 'pull_request' || head_branch === null ? {} : { branch: head_branch };
      const runs = await paginate(rest.actions.listWorkflowRuns, { ...query, ...branch });
      for (const run of runs.filter((other) => other.id > id)) {
        const jobsQuery = { ...at, run_id: run.id, filter: 'all', per_page: 100 } as const;
        const jobs = await paginate(rest.actions.listJobsForWorkflowRun, jobsQuery);
        // A failed job may also have planned.
        if (jobs.some(({ conclusion }) => conclusion === 'success' || conclusion === 'failure')) return run;
      }
      return undefined;
    },
    /** The artifacts of a run, newest first. */
    async artifacts(run: number): Promise<Artifact[]> {
      const all = await paginate(rest.actions.listWorkflowRunArtifacts, {
        ...at,
        run_id: run,
        per_page: 100,
      });
      return all.toSorted((one, other) => (other.created_at ?? '').localeCompare(one.created_at ?? ''));
    },
    /** An artifact as a zip file. */
    async artifact(id: number): Promise<Uint8Array> {
      const query = { ...at, artifact_id: id, archive_format: 'zip' };
      return new Uint8Array((await rest.actions.downloadArtifact(query)).data as ArrayBuffer);
    },
    /** The reviews that approve a pull request or request changes, oldest first, without dismissed ones. */
    async reviews(number: number): Promise<readonly Review[]> {
      const { repository } = await graphql<{
        repository: { pullRequest: { reviews: { nodes: readonly Review[] } } };
      }>(
        `query ($owner: String!, $repo: String!, $number: Int!) {
          repository(owner: $owner, name: $repo) {
            pullRequest(number: $number) {
              reviews(last: 100, states: [APPROVED, CHANGES_REQUESTED]) {
                nodes { state submittedAt authorCanPushToRepository author { __typename login } commit { oid } }
              }
            }
          }
        }`,
        { ...at, number },
      );
      return repository.pullRequest.reviews.nodes;
    },
    /** Whether a branch requires approving reviews, by a ruleset or by branch protection. */
    async requiresReviews(branch: string): Promise<boolean> {
      const { repository } = await graphql<{
        repository: {
          ref: {
            refUpdateRule: {
              requiredApprovingReviewCount: number | null;
              requiresCodeOwnerReviews: boolean;
            } | null;
          } | null;
        };
      }>(
        `query ($owner: String!, $repo: String!, $ref: String!) {
          repository(owner: $owner, name: $repo) {
            ref(qualifiedName: $ref) { refUpdateRule { requiredApprovingReviewCount requiresCodeOwnerReviews } }
          }
        }`,
        { ...at, ref: `refs/heads/${branch}` },
      );
      const rules = await paginate(rest.repos.getBranchRules, { ...at, branch, per_page: 100 });
      const hasRule = rules.some((rule) => {
        if (rule.type !== 'pull_request') return false;
        const { required_approving_review_count: count = 0, require_code_owner_review: byOwner = false } =
          rule.parameters ?? {};
        return count > 0 || byOwner;
      });
      const protection = repository.ref?.refUpdateRule;
      return (
        hasRule ||
        (protection?.requiredApprovingReviewCount ?? 0) > 0 ||
        protection?.requiresCodeOwnerReviews === true
      );
    },
    /** The issues by the token's account that `isWanted` selects, open or closed, newest first. */
    async issues(isWanted: (body: string) => boolean): Promise<Issue[]> {
      const { login, databaseId } = await viewer();
      const creator = databaseId === null && !login.endsWith('[bot]') ? `${login}[bot]` : login;
      const query = {
        ...at,
        creator,
        state: 'all',
        sort: 'created',
        direction: 'desc',
        per_page: 100,
      } as const;
      const all = await paginate(rest.issues.listForRepo, query);
      return all
        .filter(
          ({ body, pull_request, user }) =>
            pull_request === undefined &&
            isWanted(body ?? '') &&
            (databaseId === null ? user?.login === creator : user?.id === databaseId),
        )
        .map(({ number, body, state }) => ({ number, body: body ?? '', isOpen: state === 'open' }));
    },
    /** Opens an issue, once. If GitHub's answer doesn't say whether it was created, `isCreated` finds it. */
    async openIssue(title: string, body: string, isCreated: (body: string) => boolean): Promise<number> {
      try {
        return (await rest.issues.create({ ...at, title, body, ...noRetries })).data.number;
      } catch (failure) {
        if (isRejected(failure as RequestFailure)) throw failure;
        const [found] = await this.issues(isCreated).catch(() => []);
        if (found?.isOpen !== true) throw failure;
        return found.number;
      }
    },
    async updateIssue(number: number, body: string, { close }: { readonly close: boolean }): Promise<void> {
      const state = close
        ? ({ state: 'closed', state_reason: 'completed' } as const)
        : { state: 'open' as const };
      await rest.issues.update({ ...at, issue_number: number, body, ...state });
    },
  };
}
