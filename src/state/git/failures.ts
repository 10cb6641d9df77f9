import { shellWord } from '../../base/escape.js';
import { GitError, GitNotFound } from '../../base/git.js';
import { type ProblemsError, problemError } from '../../base/problems.js';

interface Refusal {
  readonly ref: string;
  readonly reason: string;
}

/**
 * The reference that a remote refused to move, from the output of `git push --porcelain` (git-push(1)); undefined if there is none, for
 * example if the remote could not be reached.
 */
export function refusalIn(failure: unknown): Refusal | undefined {
  if (!(failure instanceof GitError)) return undefined;
  for (const line of failure.stdout.split('\n')) {
    const [, ref, reason] = /^!\t[^\t]*:([^\t]+)\t\[remote rejected\](?: \((.*)\))?/.exec(line) ?? [];
    if (ref !== undefined) return { ref, reason: reason ?? 'it gives no reason' };
  }
  return undefined;
}

/** Whether the remote denies access: git reports an HTTP status only in its messages. */
export function isForbidden(failure: unknown): boolean {
  return (
    failure instanceof GitError &&
    /^(?:fatal|error): .*The requested URL returned error: 40[13]$/m.test(failure.stderr)
  );
}

const RIGHTS_HINT =
  'the credentials must be allowed to push to that branch and to refs/idops/ (contents: write in GitHub Actions), and no rule or hook of the remote may forbid it';

/** The problem of a remote that can't be reached. */
export function unreachable(place: string, remote: string, failure: unknown): ProblemsError {
  const hint =
    failure instanceof GitNotFound
      ? 'install git, or keep the state elsewhere'
      : `check the remote and its credentials: git ls-remote ${remote} must work from here without a prompt`;
  return problemError(
    'state-unreachable',
    `the state ${place} can't be reached: ${messageOf(failure)}`,
    hint,
    failure,
  );
}

/** The problem of a remote that can be read but accepts no push. */
export function pushRefused(place: string, refused: Refusal | undefined, failure: unknown): ProblemsError {
  const readOnlyNote = isForbidden(failure)
    ? 'the token or key may read it, but not write its contents: '
    : '';
  const what =
    refused === undefined ? readOnlyNote : `it refused to move ${refused.ref} (${refused.reason}): `;
  const message = `the remote does not accept the state ${place}: ${what}${messageOf(failure)}`;
  return problemError('not-writable', message, RIGHTS_HINT, failure);
}

/** The problem of a branch without its newest known commit, which the local reference `seen` names. */
export function historyWentBack(
  place: string,
  { remote, branch }: { readonly remote: string; readonly branch: string },
  seen: string,
  head: string | null,
): ProblemsError {
  const now = head === null ? 'the branch is gone' : `the branch is at ${head}, which does not contain it`;
  return problemError(
    'state-went-back',
    `the history of the state ${place} went back: ${seen} is the newest commit that this clone knows, and ${now}`,
    `restore it: git push ${shellWord(remote)} ${seen}:refs/heads/${branch} (git refuses that if others have written since); or accept the present branch: git update-ref -d ${seen}`,
  );
}

export function tooManyConflicts(place: string, times: number): ProblemsError {
  return problemError(
    'not-writable',
    `the state ${place} can't be written: others changed the branch ${times} times meanwhile`,
    'give the states separate branches with state.git.branch',
  );
}

export function foreignBranch(place: string): ProblemsError {
  return problemError(
    'state-unreadable',
    `the state ${place} can't be used: idops did not create that branch, which has no README.md of idops`,
    'name another branch with state.git.branch: a new one, or one that idops created; if somebody removed README.md, restore it',
  );
}

/** The problem of a git failure in the local repository. */
export function localFailure(place: string, failure: unknown): ProblemsError {
  if (failure instanceof GitNotFound) return unreachable(place, '', failure);
  const message = `git can't work with the state ${place} here: ${messageOf(failure)}`;
  const hint = 'free some space, or repair the repository, so that "git fsck" finds nothing';
  return problemError('not-writable', message, hint, failure);
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
