import { once } from 'node:events';
import type { getOctokit } from '@actions/github';
import { escapeText } from '../base/escape.js';
import { ProblemsError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';

type Octokit = ReturnType<typeof getOctokit>;

/** What GitHub refused, in words for a person. */
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

/** How GitHub is asked. */
export interface Manner {
  /** Where its API is; as the runner says where it isn't given. */
  readonly baseUrl?: string;
  /** Ends what is under way, and what waits. */
  readonly signal: AbortSignal;
  /** How long one request may take, in seconds; 30 where it isn't given. */
  readonly timeout?: number;
  /** How long a second of waiting takes, in milliseconds; 1,000 where it isn't given. */
  readonly second?: number;
}

/** How often a request is sent again. */
const retries = 3;
/** How long a limit may last that is waited for, in seconds: a job that waits longer costs more than a comment is worth. */
const longestWait = 60;
/** For requests of which nobody knows, after an answer that is lost, whether they did something: they are sent once. */
const onlyOnce = { request: { retries: 0 } } as const;

/** Works with the API of the repository that the workflow runs for. Throws a GithubFailure where that fails or ends early. */
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
    // What waits for a limit wouldn't notice.
    const stopped = once(signal, 'abort').then(() => Promise.reject(interrupted));
    return await Promise.race([work(apiOf(octokit, { owner, repo })), stopped]);
  } catch (failure) {
    if (failure instanceof GithubFailure || failure instanceof ProblemsError) throw failure;
    throw inWords(failure as RawFailure);
  }
}

/** Opens a client that repeats what may be repeated, waits for limits, and gives each request a time. */
async function openClient(
  token: string,
  // The toolkit looks for it once, when it is loaded.
  { baseUrl = process.env.GITHUB_API_URL || undefined, signal, timeout = 30, second = 1000 }: Manner,
): Promise<Octokit> {
  // Validating, and planning without a pull request, need none of it.
  const [{ getOctokit }, { retry }] = await Promise.all([
    import('@actions/github'),
    import('@octokit/plugin-retry'),
  ]);
  return getOctokit(
    token,
    {
      // What octokit would log by itself could hold anything that a server answers.
      log: { debug() {}, info() {}, warn() {}, error() {} },
      ...(baseUrl === undefined ? {} : { baseUrl }),
      retry: { retries, retryAfterBaseValue: second, doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451] },
    },
    // The first is closest to the request.
    ({ hook }) => {
      hook.wrap('request', async (request, options) => {
        const given = { ...options.request };
        try {
          // What is given on is not what reaches the request.
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

/** A fetch with a time, which fails if an answer breaks off, or is neither a file nor JSON: octokit takes that for an empty answer. */
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

/** A failed request, as far as its kind is known. */
interface RawFailure {
  readonly status?: number;
  readonly message?: string;
  readonly response?: { readonly headers: { readonly [name: string]: string | number | undefined } };
  /** What GraphQL refuses. */
  readonly errors?: readonly { readonly type?: string }[];
  /** What the plugin that repeats requests reads of it. */
  readonly request?: { request?: object };
}

/** How many seconds a limit asks to wait; null where it isn't a limit that failed the request. */
function limitOf({ status, response }: RawFailure): number | null {
  if (response === undefined || (status !== 403 && status !== 429)) return null;
  const { headers } = response;
  if (headers['retry-after'] !== undefined) return Number(headers['retry-after']);
  if (String(headers['x-ratelimit-remaining']) === '0')
    return Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
  return status === 429 ? longestWait : null;
}

/** Whether GitHub did nothing for certain: an answer such as 502, and none, leave that open. */
function isRefused({ status, response }: RawFailure): boolean {
  return response !== undefined && status !== undefined && status >= 300 && status < 500;
}

function inWords(failure: RawFailure): GithubFailure {
  const { status, message = '', response, errors = [] } = failure;
  const line = message.replace(/\s+/g, ' ').trim();
  const short = escapeText(line.length > 300 ? `${line.slice(0, 300)}…` : line);
  const said = response === undefined ? "can't be asked" : ['answers', status].join(' ').trim();
  return new GithubFailure(`GitHub ${said}: ${short}`, {
    lacksPermission:
      (status === 403 && limitOf(failure) === null) ||
      errors.some(({ type }) => type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES'),
    cause: failure,
  });
}

/** An issue that idops wrote. */
export interface Issue {
  readonly number: number;
  readonly body: string;
  readonly isOpen: boolean;
}

/** A comment that idops wrote. */
export interface Remark {
  readonly id: number;
  /** What GraphQL calls it. */
  readonly node: string;
  readonly body: string;
}

/** A comment with what GitHub says of its edits. Times are ISO 8601. */
export interface CommentHistory {
  readonly body: string;
  readonly createdAt: string;
  readonly lastEditedAt: string | null;
  readonly author: Actor | null;
  /** Who edited it last; null where nobody did, and where that account is gone. */
  readonly editor: Actor | null;
}

/** Somebody on GitHub: a bot may have the name of a person. */
interface Actor {
  readonly __typename: string;
  readonly login: string;
}

/** A pull request, as far as it takes to see what it brought, and where. */
export interface PullRequest {
  readonly number: number;
  readonly base: { readonly ref: string };
  /** The last commit of its branch. */
  readonly head: { readonly sha: string };
  /** Null where it isn't merged. */
  readonly merged_at: string | null;
  /** The commit that brought it: of a rebase the last one. */
  readonly merge_commit_sha: string | null;
}

/** A run of a workflow. Times are ISO 8601. */
export interface WorkflowRun {
  readonly id: number;
  readonly workflow_id: number;
  /** The workflow's file, such as `.github/workflows/plan.yml`; a reference may follow behind an `@`. */
  readonly path: string;
  readonly event: string;
  readonly head_sha: string;
  readonly head_branch: string | null;
  readonly head_repository: { readonly full_name: string } | null;
  readonly status: string | null;
  readonly html_url: string;
  readonly created_at: string;
  readonly run_attempt?: number;
}

/** What a run keeps. */
export interface Artifact {
  readonly id: number;
  readonly name: string;
  readonly size_in_bytes: number;
  readonly expired: boolean;
  readonly created_at: string | null;
}

/** A review that approves, or asks for changes. */
export interface Review {
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED';
  readonly submittedAt: string;
  readonly commit: { readonly oid: string } | null;
  /** Whether the author may push to the repository: GitHub counts no other's. */
  readonly authorCanPushToRepository: boolean;
  readonly author: Actor | null;
}

/** What idops asks of GitHub's API. */
export type GithubApi = ReturnType<typeof apiOf>;

function apiOf({ rest, paginate, graphql }: Octokit, at: { readonly owner: string; readonly repo: string }) {
  /** Whoever the token belongs to. */
  const viewer = async () =>
    (
      await graphql<{ viewer: { login: string; databaseId: number | null } }>(
        '{ viewer { login databaseId } }',
      )
    ).viewer;
  /** What was written by whoever the token belongs to: nobody else's words are taken for idops'. */
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
    /** The comments of whoever the token belongs to on a pull request, of those whose text is wanted. */
    async comments(number: number, isWanted: (body: string) => boolean): Promise<Remark[]> {
      const all = await paginate(rest.issues.listComments, { ...at, issue_number: number, per_page: 100 });
      const found = await own(all.filter(({ body = '' }) => isWanted(body)));
      return found.map(({ id, node_id, body = '' }) => ({ id, node: node_id, body }));
    },
    /** Who wrote and edited comments, which the REST API doesn't tell. */
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
      // Names of repositories don't depend on their case.
      const here = `${at.owner}/${at.repo}`.toLowerCase();
      return found.filter(({ base }) => base.repo.full_name.toLowerCase() === here);
    },
    async pullRequest(number: number): Promise<PullRequest> {
      return (await rest.pulls.get({ ...at, pull_number: number })).data;
    },
    async run(id: string): Promise<WorkflowRun> {
      return (await rest.actions.getWorkflowRun({ ...at, run_id: Number(id) })).data;
    },
    /**
     * A run of the same workflow that began later and of which a job has ended; undefined if there is none. A run that was cancelled
     * while it waited did nothing.
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
        // One that failed may have planned, too.
        if (jobs.some(({ conclusion }) => conclusion === 'success' || conclusion === 'failure')) return run;
      }
      return undefined;
    },
    /** What a run keeps, newest first. */
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
    /** The reviews of a pull request that approve it or ask for changes, oldest first. One that was dismissed is none. */
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
    /** Whether a branch takes only pull requests that somebody approved, by a ruleset or by its protection. */
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
    /** The issues of whoever the token belongs to, open or closed, of those whose text is wanted; newest first. */
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
    /** Opens an issue, unless it is there after an answer that doesn't say so; `isIt` knows it. */
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
