import { type ProblemsError, problemError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';
import type { GithubApi } from './github.js';
import type { PullRequest } from './github-objects.js';

/** What somebody can do who knows that the plan is right. */
export function wayOut(digest: string): string {
  return `if the plan above is right, start the workflow by hand with expect-digest ${digest}`;
}

/** The problem that a plan isn't approved. `hint` says what to change, if that isn't obvious. */
export function refusal(message: string, hint?: string): ProblemsError {
  return problemError('not-approved', message, hint);
}

/**
 * The pull request that was merged into the run's branch and whose merge commit is the run's commit; `named` is the input `pr-number`.
 * Throws a ProblemsError if there isn't exactly one.
 */
export async function mergedPullRequest(
  api: GithubApi,
  { branch, commit, pullRequest }: WorkflowEvent,
  named: number | undefined,
): Promise<PullRequest> {
  const number = pullRequest?.number ?? named;
  const all = number === undefined ? await api.pullRequestsOf(commit) : [await api.pullRequest(number)];
  const found = all.filter(
    ({ base, merged_at, merge_commit_sha }) =>
      // The event of a closed pull request may have the pull request's own reference.
      base.ref === (branch ?? (pullRequest === null ? null : base.ref)) &&
      merged_at !== null &&
      merge_commit_sha === commit,
  );
  const [pull] = found;
  if (pull !== undefined && found.length === 1) return pull;
  const which =
    number === undefined ? 'no merged pull request' : `pull request #${number} is not merged, or not what`;
  const several = `several merged pull requests (${found.map((one) => `#${one.number}`).join(', ')})`;
  throw refusal(
    `${found.length > 1 ? several : which} brought the commit ${commit.slice(0, 12)} to ${branch ?? 'a branch'} as its merge`,
    'merge through a pull request, one in a push, or name it as pr-number',
  );
}
