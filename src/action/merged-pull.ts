import { type ProblemsError, problemError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';
import type { GithubApi } from './github.js';
import type { PullRequest } from './github-objects.js';

/** A hint on how to apply a plan without its approval. */
export function manualStartHint(digest: string): string {
  return `if the plan above is right, start the workflow by hand with expect-digest ${digest}`;
}

/** The problem `not-approved`. `hint` says what to do, if that isn't obvious. */
export function notApproved(message: string, hint?: string): ProblemsError {
  return problemError('not-approved', message, hint);
}

/**
 * The pull request that was merged into the run's branch with the run's commit as its merge commit. Throws a ProblemsError if there isn't
 * exactly one.
 */
export async function mergedPullRequest(
  api: GithubApi,
  { branch, checkoutSha, pullRequest }: WorkflowEvent,
  prNumber: number | undefined,
): Promise<PullRequest> {
  const number = pullRequest?.number ?? prNumber;
  const all = number === undefined ? await api.pullRequestsOf(checkoutSha) : [await api.pullRequest(number)];
  const found = all.filter(
    ({ base, merged_at, merge_commit_sha }) =>
      // The event of a closed pull request may name the pull request's reference instead of a branch.
      base.ref === (branch ?? (pullRequest === null ? null : base.ref)) &&
      merged_at !== null &&
      merge_commit_sha === checkoutSha,
  );
  const [pull] = found;
  if (pull !== undefined && found.length === 1) return pull;
  const commit = `the commit ${checkoutSha.slice(0, 12)}${branch === null ? '' : ` of ${branch}`}`;
  const which =
    number === undefined
      ? `${commit} is not the merge of a pull request`
      : `${commit} is not the merge of pull request #${number}`;
  const several = found.map((pull) => `#${pull.number}`).join(', ');
  throw notApproved(
    found.length > 1 ? `${commit} is the merge of several pull requests (${several})` : which,
    'merge one pull request at a time, or name it with pr-number',
  );
}
