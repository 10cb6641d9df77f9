import { shellWord } from '../../base/escape.js';
import { GitFailed, NoGit } from '../../base/git.js';
import { error, type ProblemCode, ProblemsError } from '../../base/problems.js';

/** What the remote said to a push, and why it didn't take it. */
interface Refused {
  readonly ref: string;
  readonly reason: string;
}

/**
 * The reference that a remote refused to move, by what `git push --porcelain` says of each (git-push(1)); undefined where it
 * refused none, as where it could not be asked.
 */
export function refusedBy(failure: unknown): Refused | undefined {
  if (!(failure instanceof GitFailed)) return undefined;
  for (const line of failure.said.split('\n')) {
    const [, ref, reason] = /^!\t[^\t]*:([^\t]+)\t\[remote rejected\](?: \((.*)\))?/.exec(line) ?? [];
    if (ref !== undefined) return { ref, reason: reason ?? 'it gives no reason' };
  }
  return undefined;
}

/** Whether the remote itself refused a request, which it does each time: git tells the status of an answer over HTTP in words alone. */
export function isForbidden(failure: unknown): boolean {
  return (
    failure instanceof GitFailed &&
    /^(?:fatal|error): .*The requested URL returned error: 40[13]$/m.test(failure.told)
  );
}

const RIGHTS =
  'the credentials need the right to push to that branch and to refs/idops/ (contents: write in GitHub Actions), and no rule or hook of the remote may be against it';

/** What is wrong where a remote can't be asked, or asks for more than git has. */
export function unreachable(place: string, remote: string, failure: unknown): ProblemsError {
  const hint =
    failure instanceof NoGit
      ? 'install git, or keep the state elsewhere'
      : `check the remote and its credentials: git ls-remote ${remote} has to work from here without a question`;
  return problem(
    'state-unreachable',
    `the state ${place} can't be reached: ${messageOf(failure)}`,
    hint,
    failure,
  );
}

/** What is wrong where a remote can be read, and takes no push. */
export function pushRefused(place: string, refused: Refused | undefined, failure: unknown): ProblemsError {
  const readOnly = isForbidden(failure) ? 'the token or key may read it, but not write its contents: ' : '';
  const what = refused === undefined ? readOnly : `it refused to move ${refused.ref} (${refused.reason}): `;
  const message = `the remote does not take the state ${place}: ${what}${messageOf(failure)}`;
  return problem('not-writable', message, RIGHTS, failure);
}

/** The refusal of a branch that has lost the newest commit that is known of it, which the reference `seen` here names. */
export function wentBack(
  place: string,
  { remote, branch }: { readonly remote: string; readonly branch: string },
  seen: string,
  head: string | null,
): ProblemsError {
  const now = head === null ? 'the branch is gone' : `the branch is at ${head}, which does not contain it`;
  return problem(
    'state-went-back',
    `the history of the state ${place} went back: ${seen} is the newest commit that this clone knows, and ${now}`,
    `put it back: git push ${shellWord(remote)} ${seen}:refs/heads/${branch} (git refuses that if others wrote since); or accept what is there: git update-ref -d ${seen}`,
  );
}

/** What is wrong where others are always quicker. */
export function tooManyConflicts(place: string, times: number): ProblemsError {
  return problem(
    'not-writable',
    `the state ${place} can't be written: others changed the branch ${times} times meanwhile`,
    'keep the states of so many runs on branches of their own, with state.git.branch',
  );
}

/** The refusal of a branch that somebody made for something else. */
export function foreignBranch(place: string): ProblemsError {
  return problem(
    'state-unreadable',
    `the state ${place} can't be used: that branch was not made by idops, whose README.md it lacks`,
    'name a branch with state.git.branch that is not there yet, or was made by idops; put README.md back, if somebody removed it',
  );
}

/** What is wrong where git fails at the repository here. */
export function localFailure(place: string, failure: unknown): ProblemsError {
  if (failure instanceof NoGit) return unreachable(place, '', failure);
  const message = `git can't work with the state ${place} here: ${messageOf(failure)}`;
  const hint = 'make room, or mend the repository, so that "git fsck" finds nothing';
  return problem('not-writable', message, hint, failure);
}

function problem(code: ProblemCode, message: string, hint: string, cause?: unknown): ProblemsError {
  return new ProblemsError([error(code, message, [], hint)], { cause });
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
