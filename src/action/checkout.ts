import { git } from '../base/git.js';
import { findWorkTree } from '../base/paths.js';
import { problemError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';
import { GithubFailure, withGithub } from './github.js';
import type { PullRequest } from './github-objects.js';
import type { Inputs } from './inputs.js';
import { folderOf } from './places.js';

/**
 * With `pr-number`, replaces the event's commit, which is the default branch's, with the last commit of that pull request. `sha` is empty if
 * GitHub doesn't answer.
 */
export async function eventOfPull(
  event: WorkflowEvent,
  { command, githubToken, prNumber }: Inputs,
  signal: AbortSignal,
): Promise<WorkflowEvent> {
  if (command !== 'plan' || prNumber === undefined || event.pullRequest !== null) return event;
  const of = { ...event, sha: '', onDefaultBranch: false };
  if (githubToken === undefined) return of;
  try {
    const pull = await withGithub(githubToken, event, { signal }, (api) => api.pullRequest(prNumber));
    return { ...of, sha: pull.head.sha, merge: mergeOf(pull) };
  } catch (failure) {
    // Writing the comment asks again, and reports the failure.
    if (failure instanceof GithubFailure) return of;
    throw failure;
  }
}

/** The merge commit of a pull request. An open one may have a test merge of an earlier head. */
function mergeOf({ merged_at, merge_commit_sha }: PullRequest): string | null {
  return merged_at === null ? null : merge_commit_sha;
}

/**
 * Throws a ProblemsError (`other-commit`) if the checked-out files are neither those of the pull request's last commit nor of its merge.
 * Only events for which GitHub checks out another commit by default are checked.
 */
export async function checkCheckout(event: WorkflowEvent, inputs: Inputs): Promise<void> {
  const { pullRequest, sha, merge = null, name } = event;
  const number =
    pullRequest === null ? inputs.prNumber : name === 'pull_request_target' && pullRequest.number;
  if (inputs.command !== 'plan' || typeof number !== 'number' || sha === '') return;
  const checkedOut = await headOf(folderOf(inputs));
  if (checkedOut === undefined) return;
  const { commit, parents } = checkedOut;
  if ([commit, ...parents.slice(1)].includes(sha) || commit === merge) return;
  throw problemError(
    'other-commit',
    `the files are of the commit ${commit.slice(0, 12)}, and pull request #${number} ends with ${sha.slice(0, 12)}`,
    `check out refs/pull/${number}/head or refs/pull/${number}/merge (ref of actions/checkout), and run it again if the branch has moved on`,
  );
}

/** The checked-out commit; undefined if unknown. */
async function headOf(folder: string): Promise<{ commit: string; parents: string[] } | undefined> {
  const root = findWorkTree(folder);
  if (root === undefined) return undefined;
  const asked = [
    ['rev-parse', 'HEAD'],
    // The commit object names its parents, in a shallow clone too. In a merge, the merged branch is the second.
    ['cat-file', 'commit', 'HEAD'],
  ].map(async (command) => (await git(root, command)).toString('utf8'));
  const found = await Promise.all(asked).catch(() => undefined);
  if (found === undefined) return undefined;
  const [commit = '', object = ''] = found;
  const [headers = ''] = object.split('\n\n', 1);
  const parents = [...headers.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent);
  return { commit: commit.trim(), parents };
}
