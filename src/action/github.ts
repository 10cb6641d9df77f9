import { once } from 'node:events';
import type { getOctokit } from '@actions/github';
import { escapeText } from '../base/escape.js';
import { ProblemsError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';
import type {
  Artifact,
  CommentHistory,
  Issue,
  PullRequest,
  Remark,
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

/** Options of the client. */
export interface Manner {
  /** The API's address; by default the runner's. */
  readonly baseUrl?: string;
  /** Ends requests and waits. */
  readonly signal: AbortSignal;
  /** Seconds that one request may take; 30 by default. */
  readonly timeout?: number;
  /** Milliseconds that a second of waiting takes; 1,000 by default. */
  readonly second?: number;
}

/** Retries of a request. */
const retries = 3;
/** The longest rate limit that is waited for, in seconds: a longer wait costs more than a comment is worth. */
const longestWait = 60;
/** For requests that must not be repeated: if the answer is lost, the outcome is unknown. */
const onlyOnce = { request: { retries: 0 } } as const;

/** Works with the API of the workflow's repository. Throws a GithubFailure if a request fails or is interrupted. */
export async function withGithub<T>(
  token: string,
  { owner, repository: repo }: Pick<WorkflowEvent, 'owner' | 'repository'>,
  manner: Manner,
  work: (api: GithubApi) => Promise<T>,
): Promise<T> {
  const { signal } = manner;
  const interrupted = new GithubFailure('interrupted');
  try {
    const octokit = await openClient(token, manner);
    if (signal.aborted) throw interrupted;
    // A wait for a rate limit doesn't notice the signal.
    const stopped = once(signal, 'abort').then(() => Promise.reject(interrupted));
    return await Promise.race([work(apiOf(octokit, { owner, repo })), stopped]);
  } catch (failure) {
    if (failure instanceof GithubFailure || failure instanceof ProblemsError) throw failure;
    throw inWords(failure as RawFailure);
  }
}

/** Opens a client with retries, waits for rate limits, and a timeout for each request. */
async function openClient(
  token: string,
  // The toolkit reads this variable when it is loaded.
  { baseUrl = process.env.GITHUB_API_URL || undefined, signal, timeout = 30, second = 1000 }: Manner,
): Promise<Octokit> {
  // Loaded here, since `validate` and plans without a pull request don't need it.
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
      retry: { retries, retryAfterBaseValue: second, doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451] },
    },
    // The first plugin is closest to the request.
    ({ hook }) => {
      hook.wrap('request', async (request, options) => {
        const given = { ...options.request };
        try {
          // The options given here don't reach the request.
          options.request = { ...given, fetch: wholeFetch(given.fetch ?? fetch, signal, timeout) };
          return await request(options);
        } catch (failure) {
          const wait = limitOf(failure as RawFailure);
          const { request: failed } = failure as RawFailure;
          if (failed !== undefined && wait !== null && wait <= longestWait)
            failed.request = { ...failed.request, retries, retryAfter: Math.max(1, Math.ceil(wait)) };
          throw failure;
        } finally {
          options.request = given;
        }
      });
      return {};
    },
    retry,
  );
}

/** A fetch with a timeout. It fails if an answer breaks off, or is neither a file nor JSON: octokit would read it as empty. */
function wholeFetch(fetching: typeof fetch, signal: AbortSignal, timeout: number): typeof fetch {
  return async (address, init) => {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new Error(`no answer within ${timeout} seconds`)),
      timeout * 1000,
    );
    try {
      const response = await fetching(address, { ...init, signal: AbortSignal.any([signal, late.signal]) });
      const content = await response.clone().arrayBuffer();
      const isFile = /zip|octet-stream/.test(response.headers.get('content-type') ?? '');
      if (response.ok && !isFile) JSON.parse(Buffer.from(content).toString('utf8'));
      return response;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** A failed request. */
interface RawFailure {
  readonly status?: number;
  readonly message?: string;
  readonly response?: { readonly headers: { readonly [name: string]: string | number | undefined } };
  /** The errors of GraphQL. */
  readonly errors?: readonly { readonly type?: string }[];
  /** For the retry plugin. */
  readonly request?: { request?: object };
}

/** Seconds that a rate limit asks to wait; null if the request failed for another reason. */
function limitOf({ status, response }: RawFailure): number | null {
  if (response === undefined || (status !== 403 && status !== 429)) return null;
  const { headers } = response;
  if (headers['retry-after'] !== undefined) return Number(headers['retry-after']);
  if (String(headers['x-ratelimit-remaining']) === '0')
    return Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
  return status === 429 ? longestWait : null;
}

/** Null for a 404; throws any other failure. */
function orMissing(failure: RawFailure): null {
  if (failure.status === 404) return null;
  throw failure;
}

/** Whether GitHub certainly did nothing. After an answer such as 502, or none, the outcome is unknown. */
function isRefused({ status, response }: RawFailure): boolean {
  return response !== undefined && status !== undefined && status >= 300 && status < 500;
}

function inWords(failure: RawFailure): GithubFailure {
  const { status, message = '', response, errors = [] } = failure;
  const line = message.replace(/\s+/g, ' ').trim();
  const short = escapeText(line.length > 300 ? `${line.slice(0, 300)}…` : line);
  const answer = response === undefined ? "can't be asked" : ['answers', status].join(' ').trim();
  return new GithubFailure(`GitHub ${answer}: ${short}`, {
    lacksPermission:
      (status === 403 && limitOf(failure) === null) ||
      errors.some(({ type }) => type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES'),
    cause: failure,
  });
}

/** The requests that idops makes. */
export type GithubApi = ReturnType<typeof apiOf>;

function apiOf({ rest, paginate, graphql }: Octokit, at: { readonly owner: string; readonly repo: string }) {
  /** The token's account. */
  const viewer = async () =>
    (
      await graphql<{ viewer: { login: string; databaseId: number | null } }>(
        '{ viewer { login databaseId } }',
      )
    ).viewer;
  /** Keeps what the token's account wrote, so that nobody else can write in idops' name. */
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
    /** The comments by the token's account on a pull request whose text is wanted. */
    async comments(number: number, isWanted: (body: string) => boolean): Promise<Remark[]> {
      const all = await paginate(rest.issues.listComments, { ...at, issue_number: number, per_page: 100 });
      const found = await own(all.filter(({ body = '' }) => isWanted(body)));
      return found.map(({ id, node_id, body = '' }) => ({ id, node: node_id, body }));
    },
    /** The authors and editors of comments, which the REST API doesn't return. */
    async histories(nodes: readonly string[]): Promise<CommentHistory[]> {
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
    /** Writes a comment, once. `isIt` recognizes it, if GitHub's answer doesn't say whether it was created. */
    async addComment(number: number, body: string, isIt: (body: string) => boolean): Promise<void> {
      try {
        await rest.issues.createComment({ ...at, issue_number: number, body, ...onlyOnce });
      } catch (failure) {
        if (isRefused(failure as RawFailure)) throw failure;
        const found = await this.comments(number, isIt).catch(() => []);
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
      const of = { ...at, commit_sha: sha, per_page: 100 };
      const found = await paginate(rest.repos.listPullRequestsAssociatedWithCommit, of);
      // Names of repositories ignore case.
      const here = `${at.owner}/${at.repo}`.toLowerCase();
      return found.filter(({ base }) => base.repo.full_name.toLowerCase() === here);
    },
    async pullRequest(number: number): Promise<PullRequest> {
      return (await rest.pulls.get({ ...at, pull_number: number })).data;
    },
    /** The text of a file at a commit; null if there is none. */
    async file(path: string, ref: string): Promise<string | null> {
      const found = await rest.repos.getContent({ ...at, path, ref }).catch(orMissing);
      const content = found !== null && 'content' in found.data ? found.data.content : null;
      return content === null ? null : Buffer.from(content, 'base64').toString('utf8');
    },
    /** Whether an account is a member of a team of the organization. */
    async isMember(team: string, username: string): Promise<boolean> {
      const asked = { org: at.owner, team_slug: team, username };
      const found = await rest.teams.getMembershipForUserInOrg(asked).catch(orMissing);
      return found?.data.state === 'active';
    },
    async run(id: string): Promise<WorkflowRun> {
      return (await rest.actions.getWorkflowRun({ ...at, run_id: Number(id) })).data;
    },
    /**
     * A later run of the same workflow with a finished job; undefined if there is none. A run that was cancelled while it waited did
     * nothing.
     */
    async laterRun({
      id,
      workflow_id,
      created_at,
      head_branch,
      event,
    }: WorkflowRun): Promise<WorkflowRun | undefined> {
      const asked = { ...at, workflow_id, created: `>=${created_at}`, per_page: 100 };
      const branch = event === 'pull_request' || head_branch === null ? {} : { branch: head_branch };
      const all = await paginate(rest.actions.listWorkflowRuns, { ...asked, ...branch });
      for (const run of all.filter((one) => one.id > id)) {
        const of = { ...at, run_id: run.id, filter: 'all', per_page: 100 } as const;
        const jobs = await paginate(rest.actions.listJobsForWorkflowRun, of);
        // A failed job may have planned, too.
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
      const asked = { ...at, artifact_id: id, archive_format: 'zip' };
      return new Uint8Array((await rest.actions.downloadArtifact(asked)).data as ArrayBuffer);
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
      const isRuled = rules.some((rule) => {
        if (rule.type !== 'pull_request') return false;
        const { required_approving_review_count: count = 0, require_code_owner_review: byOwner = false } =
          rule.parameters ?? {};
        return count > 0 || byOwner;
      });
      const protection = repository.ref?.refUpdateRule;
      return (
        isRuled ||
        (protection?.requiredApprovingReviewCount ?? 0) > 0 ||
        protection?.requiresCodeOwnerReviews === true
      );
    },
    /** The issues by the token's account whose text is wanted, open or closed, newest first. */
    async issues(isWanted: (body: string) => boolean): Promise<Issue[]> {
      const { login, databaseId } = await viewer();
      const creator = databaseId === null && !login.endsWith('[bot]') ? `${login}[bot]` : login;
      const asked = {
        ...at,
        creator,
        state: 'all',
        sort: 'created',
        direction: 'desc',
        per_page: 100,
      } as const;
      const all = await paginate(rest.issues.listForRepo, asked);
      return all
        .filter(
          ({ body, pull_request, user }) =>
            pull_request === undefined &&
            isWanted(body ?? '') &&
            (databaseId === null ? user?.login === creator : user?.id === databaseId),
        )
        .map(({ number, body, state }) => ({ number, body: body ?? '', isOpen: state === 'open' }));
    },
    /** Opens an issue, once. `isIt` recognizes it, if GitHub's answer doesn't say whether it was created. */
    async openIssue(title: string, body: string, isIt: (body: string) => boolean): Promise<number> {
      try {
        return (await rest.issues.create({ ...at, title, body, ...onlyOnce })).data.number;
      } catch (failure) {
        if (isRefused(failure as RawFailure)) throw failure;
        const [found] = await this.issues(isIt).catch(() => []);
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
