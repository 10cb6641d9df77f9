import { failuresIn } from '../base/concurrency.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { type FailureKind, ServerFailure } from '../server/failures.js';

const hints: { readonly [kind in FailureKind]?: string } = {
  unauthorized: "check that the token is correct and hasn't expired",
  forbidden: 'use a token with this scope; a plan lists the scopes that it needs',
  redirect: 'set base_url to the address that it leads to, if that is the server',
};

/** Everything that went wrong, as problems. */
export function problemsOf(failure: unknown): Problem[] {
  return withoutDuplicates(failuresIn(failure).flatMap(problemsOfOne));
}

/** The same, for problems of the input only. Throws the failure if it is a bug in idops, or if the signal aborted. */
export function inputProblems(failure: unknown, signal: AbortSignal | undefined): Problem[] {
  const problems = problemsOf(failure);
  if (signal?.aborted || problems.some(({ code }) => code === 'internal')) throw failure;
  return problems;
}

/** Reports one cause of several failed requests, such as a refused token, only once. */
function withoutDuplicates(problems: readonly Problem[]): Problem[] {
  const cause = (problem: Problem): string =>
    problem.code === 'server-unauthorized' ? problem.code : JSON.stringify(problem);
  const first = new Map(problems.map((problem) => [cause(problem), problem] as const).reverse());
  return problems.filter((problem) => first.get(cause(problem)) === problem);
}

function problemsOfOne(one: unknown): readonly Problem[] {
  if (one instanceof ProblemsError) return one.problems;
  if (one instanceof ServerFailure) return [error(`server-${one.kind}`, one.message, [], hints[one.kind])];
  // Node throws this when the working directory is gone.
  if (one instanceof Error && 'syscall' in one && one.syscall === 'uv_cwd') {
    const message = "the current folder no longer exists or can't be read";
    return [error('file-unreadable', message, [], 'change to another folder')];
  }
  const hint = 'this is a bug in idops: please report it with the output of --debug';
  return [error('internal', describeThrown(one), [], hint)];
}

/** A thrown value may have no text, or throw when it is converted to one. */
function describeThrown(one: unknown): string {
  try {
    return one instanceof Error ? `${one.name}: ${one.message}` : String(one);
  } catch {
    return `a thrown ${typeof one} without a message`;
  }
}

/** The stack traces of everything that went wrong, for --debug. */
export function stacksOf(failure: unknown): string {
  return failuresIn(failure)
    .map((one) => (one instanceof Error ? (one.stack ?? one.message) : String(one)))
    .join('\n');
}
