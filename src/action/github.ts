import * as z from 'zod';
import { isOfFork, type PullRequest, type WorkflowEvent } from './event.js';
import { expecting, query, read, readAll } from './github-answers.js';
import { type Manner, once, openClient } from './github-client.js';
import { type Author, type GithubHistory, openHistory, rawViewer } from './github-history.js';

/** A comment, or an issue: what idops wrote, and who did. */
export interface Remark {
  /** The comment's id, or the issue's number. */
  readonly id: number;
  /** What GraphQL calls it. */
  readonly node: string;
  readonly body: string;
  readonly author: Author | null;
}

/** What idops asks of GitHub's API. Each function throws a GithubFailure. */
export interface GithubApi extends GithubHistory {
  /** Whoever the token belongs to. */
  viewer(): Promise<Author>;
  comments(issue: number): Promise<Remark[]>;
  addComment(issue: number, body: string): Promise<void>;
  /** Whether it was still there. */
  updateComment(id: number, body: string): Promise<boolean>;
  /** The pull requests of this repository that a commit belongs to. */
  pullRequestsOf(sha: string): Promise<PullRequest[]>;
  pullRequest(number: number): Promise<PullRequest>;
  /** Whether a pull request has files that are no part of this repository yet: of another repository, or maybe, and not merged. */
  bringsForeign(number: number): Promise<boolean>;
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
  const { rest } = octokit;
  const at = { owner, repo };
  return {
    viewer: () =>
      ask(async () => {
        const { viewer } = await query(octokit, '{ viewer { login databaseId } }', {}, rawViewer);
        return { id: viewer.databaseId, login: viewer.login };
      }),
    comments: (issue) =>
      ask(async () => {
        const path = '/repos/{owner}/{repo}/issues/{issue}/comments';
        return (await readAll(octokit, path, { ...at, issue }, rawRemark)).map(remark);
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
    pullRequestsOf: (sha) =>
      ask(async () => {
        const path = '/repos/{owner}/{repo}/commits/{sha}/pulls';
        const found = await readAll(octokit, path, { ...at, sha }, rawPullRequest);
        // Names of repositories don't depend on their case.
        const here = `${owner}/${repo}`.toLowerCase();
        return found.filter(({ base }) => base.repo.full_name.toLowerCase() === here).map(pullRequest);
      }),
    pullRequest: (number) =>
      ask(async () => {
        const path = '/repos/{owner}/{repo}/pulls/{number}';
        return pullRequest(await read(octokit, path, { ...at, number }, rawPullRequest));
      }),
    bringsForeign: (number) =>
      ask(async () => {
        const path = '/repos/{owner}/{repo}/pulls/{number}';
        const pull = await read(octokit, path, { ...at, number }, rawOrigin);
        return pull.merged_at === null && isOfFork(pull);
      }),
    ...openHistory(octokit, ask),
    openIssues: () =>
      ask(async () => {
        const path = '/repos/{owner}/{repo}/issues';
        const asked = { ...at, state: 'open', sort: 'created', direction: 'asc' };
        const found = await readAll(octokit, path, asked, rawIssue);
        return found
          .filter(({ pull_request }) => pull_request === undefined)
          .map((issue) => ({ ...remark(issue), id: issue.number }));
      }),
    openIssue: (title, body) =>
      ask(async () => {
        const request = { ...expecting(rawNumber).request, ...once.request };
        return rawNumber.parse((await rest.issues.create({ ...at, title, body, request })).data).number;
      }),
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

/** Whether somebody is whoever the token belongs to. */
export function isSame(author: Author, viewer: Author): boolean {
  if (viewer.id !== null) return author.id === viewer.id;
  return [viewer.login, `${viewer.login}[bot]`].includes(author.login);
}

const rawNumber = z.object({ number: z.number() });

const rawRemark = z.object({
  id: z.number(),
  node_id: z.string(),
  body: z.string().nullish(),
  user: z.object({ id: z.number(), login: z.string() }).nullish(),
});

const rawIssue = rawRemark.extend({ ...rawNumber.shape, pull_request: z.unknown().optional() });

const rawRepository = z.looseObject({ full_name: z.string() });

const rawPullRequest = z.object({
  number: z.number(),
  base: z.object({ ref: z.string(), repo: rawRepository }),
  merged_at: z.string().nullable(),
  merge_commit_sha: z.string().nullable(),
});

// It is null where the repository is gone.
const rawOrigin = rawPullRequest.extend({ head: z.object({ repo: rawRepository.nullable() }) });

function pullRequest({
  number,
  base,
  merged_at,
  merge_commit_sha,
}: z.infer<typeof rawPullRequest>): PullRequest {
  return { number, base: base.ref, mergedAt: merged_at, mergeCommit: merge_commit_sha };
}

function remark({ id, node_id, body, user }: z.infer<typeof rawRemark>): Remark {
  return {
    id,
    node: node_id,
    body: body ?? '',
    author: user === undefined || user === null ? null : { id: user.id, login: user.login },
  };
}
