import { git } from '../base/git.js';
import { findWorkTree } from '../base/paths.js';
import { problemError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';
import { GithubFailure, withGithub } from './github.js';
import type { PullRequest } from './github-objects.js';
import type { Inputs } from './inputs.js';
import { workingFolder } from './workspace.js';

/**
 * The event, with the last commit of the pull request that `pr-number` names instead of the default branch's. `headSha` is empty if GitHub
 * doesn't answer.
 */
export async function pullRequestEvent(
  event: WorkflowEvent,
  { command, githubToken, prNumber }: Inputs,
  signal: AbortSignal,
): Promise<WorkflowEvent> {
  if (command !== 'plan' || prNumber === undefined || event.pullRequest !== null) return event;
  const withoutCommit = { ...event, headSha: '', onDefaultBranch: false };
  if (githubToken === undefined) return withoutCommit;
  try {
    const pull = await withGithub(githubToken, event, { signal }, (api) => api.pullRequest(prNumber));
    return { ...withoutCommit, headSha: pull.head.sha, mergeSha: mergeCommit(pull) };
  } catch (failure) {
    // The request for the comment fails too, and reports it.
    if (failure instanceof GithubFailure) return withoutCommit;
    throw failure;
  }
}

/** The merge commit of a merged pull request. That of an open one may be a test merge of an earlier commit. */
function mergeCommit({ merged_at, merge_commit_sha }: PullRequest): string | null {
  return merged_at === null ? null : merge_commit_sha;
}

/**
 * Throws a ProblemsError (`other-commit`) if neither the pull request's last commit nor its merge is checked out. Only checks events for
 * which GitHub checks out another commit by default.
 */
export async function checkCheckout(event: WorkflowEvent, inputs: Inputs): Promise<void> {
  const { pullRequest, headSha, mergeSha = null, name } = event;
  const number =
    pullRequest === null ? inputs.prNumber : name === 'pull_request_target' && pullRequest.number;
  if (inputs.command !== 'plan' || typeof number !== 'number' || headSha === '') return;
  const checkedOut = await checkedOutCommit(workingFolder(inputs));
  if (checkedOut === undefined) return;
  const { commit, parents } = checkedOut;
  if ([commit, ...parents.slice(1)].includes(headSha) || commit === mergeSha) return;
  throw problemError(
    'other-commit',
    `the files are of the commit ${commit.slice(0, 12)}, and pull request #${number} ends with ${headSha.slice(0, 12)}`,
    `check out refs/pull/${number}/head or refs/pull/${number}/merge (ref of actions/checkout), and run it again if the branch has moved on`,
  );
}

/** The checked-out commit; undefined if unknown. */
async function checkedOutCommit(folder: string): Promise<{ commit: string; parents: string[] } | undefined> {
  const root = findWorkTree(folder);
  if (root === undefined) return undefined;
  const outputs = [
    ['rev-parse', 'HEAD'],
    // The commit object names the parents even in a shallow clone. The second parent of a merge is the merged branch.
    ['cat-file', 'commit', 'HEAD'],
  ].map(async (command) => (await git(root, command)).toString('utf8'));
  const answers = await Promise.all(outputs).catch(() => undefined);
  if (answers === undefined) return undefined;
  const [commit = '', object = ''] = answers;
  const [headers = ''] = object.split('\n\n', 1);
  const parents = [...headers.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent);
  return { commit: commit.trim(), parents };
}
