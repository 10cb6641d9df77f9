import type { WorkflowEvent } from './event.js';
import { type Manner, once, openClient } from './github-client.js';

/** A comment, or an issue: what idops wrote, and who did. */
export interface Remark {
  /** The comment's id, or the issue's number. */
  readonly id: number;
  readonly body: string;
  readonly author: Author | null;
}

interface Author {
  /** Null where GitHub doesn't say it of whom a token belongs to. */
  readonly id: number | null;
  readonly login: string;
}

/** A pull request that brought a commit. */
export interface MergedPullRequest {
  readonly number: number;
  readonly mergeCommit: string | null;
}

/** What idops asks of GitHub's API. Each function throws a GithubFailure. */
export interface GithubApi {
  /** Whoever the token belongs to. */
  viewer(): Promise<Author>;
  comments(issue: number): Promise<Remark[]>;
  addComment(issue: number, body: string): Promise<void>;
  /** Whether it was still there. */
  updateComment(id: number, body: string): Promise<boolean>;
  mergedPullRequests(sha: string): Promise<MergedPullRequest[]>;
  openIssues(): Promise<Remark[]>;
  openIssue(title: string, body: string): Promise<number>;
  updateIssue(number: number, changes: { readonly body: string; readonly close: boolean }): Promise<void>;
}

/** Opens the way to the API of the repository that the workflow runs for. */
export async function openGithub(
  token: string,
  { owner, repository: repo }: Pick<WorkflowEvent, 'owner' | 'repository'>,
  manner: Manner,
): Promise<GithubApi> {
  const { octokit, ask } = await openClient(token, manner);
  const { rest, paginate } = octokit;
  const at = { owner, repo };
  return {
    viewer: () =>
      ask(async () => {
        const { viewer } = await octokit.graphql<{ viewer: { login: string; databaseId: number | null } }>(
          '{ viewer { login databaseId } }',
        );
        return { id: viewer.databaseId, login: viewer.login };
      }),
    comments: (issue) =>
      ask(async () => {
        const found = await paginate(rest.issues.listComments, { ...at, issue_number: issue, per_page: 100 });
        return found.map(remark);
      }),
    addComment: (issue, body) =>
      ask(async () => {
        await rest.issues.createComment({ ...at, issue_number: issue, body, ...once });
      }),
    updateComment: (id, body) =>
      ask(async () => {
        try {
          await rest.issues.updateComment({ ...at, comment_id: id, body });
          return true;
        } catch (failure) {
          if ((failure as { status?: unknown }).status === 404) return false;
          throw failure;
        }
      }),
    mergedPullRequests: (sha) =>
      ask(async () => {
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
      ask(async () => {
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
      ask(async () => (await rest.issues.create({ ...at, title, body, ...once })).data.number),
    updateIssue: (number, { body, close }) =>
      ask(async () => {
        await rest.issues.update({
          ...at,
          issue_number: number,
          body,
          ...(close ? { state: 'closed', state_reason: 'completed' } : {}),
        });
      }),
  };
}

/**
 * What was written by whoever the token belongs to: nobody else's words are taken for idops'. Throws a GithubFailure
 * where GitHub doesn't say who that is, since something would be written twice otherwise, or over somebody else's words.
 */
export async function ownRemarks(api: GithubApi, remarks: readonly Remark[]): Promise<Remark[]> {
  if (remarks.length === 0) return [];
  const viewer = await api.viewer();
  return remarks.filter(({ author }) => author !== null && isSame(author, viewer));
}

function isSame(author: Author, viewer: Author): boolean {
  if (viewer.id !== null) return author.id === viewer.id;
  return [viewer.login, `${viewer.login}[bot]`].includes(author.login);
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
