import { git } from '../base/git.js';
import { findWorkTree } from '../base/paths.js';
import { error, ProblemsError } from '../base/problems.js';
import type { WorkflowEvent } from './event.js';
import { GithubFailure, type PullRequest, withGithub } from './github.js';
import type { Inputs } from './inputs.js';
import { folderOf } from './places.js';

/**
 * The event of a plan whose commit is the last one of the pull request that `pr-number` names; `sha` is empty if GitHub doesn't tell. The
 * commit of such a run is the default branch's.
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
    // Who writes the comment asks again, and says what is wrong.
    if (failure instanceof GithubFailure) return of;
    throw failure;
  }
}

/** The commit that brought a pull request; that of one that is open may be of an earlier head. */
function mergeOf({ merged_at, merge_commit_sha }: PullRequest): string | null {
  return merged_at === null ? null : merge_commit_sha;
}

/**
 * Throws a ProblemsError (`other-commit`) if the files are surely not those of the pull request's last commit, nor of its merge. Only runs
 * of events that GitHub checks out something else for are judged.
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
  throw new ProblemsError([
    error(
      'other-commit',
      `the files are of the commit ${commit.slice(0, 12)}, and pull request #${number} ends with ${sha.slice(0, 12)}`,
      [],
      `check out refs/pull/${number}/head or refs/pull/${number}/merge (ref of actions/checkout), and run it again if the branch has moved on`,
    ),
  ]);
}

/** The commit that is checked out; undefined if nobody can tell. */
async function headOf(folder: string): Promise<{ commit: string; parents: string[] } | undefined> {
  const root = findWorkTree(folder);
  if (root === undefined) return undefined;
  const asked = [
    ['rev-parse', 'HEAD'],
    // The object itself names its parents, in a shallow clone too. A merge has the branch that it merges behind the one that it's made on.
    ['cat-file', 'commit', 'HEAD'],
  ].map(async (command) => (await git(root, command)).toString('utf8'));
  const found = await Promise.all(asked).catch(() => undefined);
  if (found === undefined) return undefined;
  const [commit = '', object = ''] = found;
  const [headers = ''] = object.split('\n\n', 1);
  const parents = [...headers.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent);
  return { commit: commit.trim(), parents };
}
