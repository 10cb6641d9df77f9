import { error as internal, type Problem, type ProblemCode, ProblemsError } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import { failuresIn } from '../base/settle.js';
import { redactProblems } from '../report/redacted.js';
import { type FailureKind, ServerFailure } from '../server/failures.js';
import type { OperationName, Scope } from '../server/operations.js';
import { problemsOf as everyProblem } from '../session/failures.js';

/** A request that failed; no credential is in it. */
export interface FailedRequest {
  /** What kind of failure it is. */
  readonly kind: FailureKind;
  /** The operation of the API document; null for a read that the document doesn't have. */
  readonly operation: OperationName | null;
  /** The method of the request. */
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  /** The scope that the operation requires. */
  readonly scope: Scope;
  /** The HTTP status of the last try; null where it got no answer. */
  readonly status: number | null;
  /** The server's own words, 500 characters at most; null where it had none. */
  readonly serverMessage: string | null;
  /** How many tries there were. */
  readonly attempts: number;
  /** Seconds that the server asked to wait; null where it didn't. */
  readonly retryAfter: number | null;
  /** Whether the request may have been carried out although no answer says so; never for a GET. */
  readonly open: boolean;
}

/**
 * The server could not be asked, or refused. `problems` has all that went wrong, as for any `ProblemsError`; the members here
 * are of the first request that failed.
 */
export class ServerError extends ProblemsError {
  /** `server-` and the request's kind, such as `server-unauthorized`; docs/errors.md has an entry for each. */
  readonly code: ProblemCode;
  /** What to do about it; left out where idops doesn't know. */
  readonly hint?: string;
  /** Every request that failed, at least one. */
  readonly requests: readonly [FailedRequest, ...FailedRequest[]];

  constructor(problems: readonly Problem[], requests: readonly [FailedRequest, ...FailedRequest[]]) {
    super(problems);
    this.name = 'ServerError';
    this.requests = requests;
    this.code = `server-${requests[0].kind}`;
    const hint = problems.find(({ code }) => code === this.code)?.hint;
    if (hint !== undefined) this.hint = hint;
  }
}

/**
 * What went wrong, as problems, whatever was thrown: those of a `ProblemsError`, and one of the code `internal` for anything
 * else, which is a mistake in idops or in the program.
 */
export function problemsOf(error: unknown): Problem[] {
  return every(error).map((problem) =>
    problem.code === 'internal'
      ? {
          ...problem,
          hint: 'this is a mistake in idops or in the program; please report it where it is in idops',
        }
      : problem,
  );
}

/** Some of what can be thrown throws itself where it is looked at. */
function every(error: unknown): Problem[] {
  try {
    return everyProblem(error);
  } catch {
    return [internal('internal', `a thrown ${typeof error} that can't be looked at`)];
  }
}

/** Does something, and throws what goes wrong in it as a `ProblemsError` without a secret. */
export async function telling<T>(redactor: Redactor, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    throw tellable(failure, redactor);
  }
}

/** What is thrown to a program: one error of a documented type, and a mistake in idops as it is. */
export function tellable(failure: unknown, redactor: Redactor): unknown {
  const all = failuresIn(failure);
  if (!all.every((one) => one instanceof ProblemsError || one instanceof ServerFailure)) return failure;
  const problems = redactProblems(everyProblem(failure), redactor);
  const [first, ...others] = all.filter((one) => one instanceof ServerFailure).map(failedRequest);
  return first === undefined ? new ProblemsError(problems) : new ServerError(problems, [first, ...others]);
}

function failedRequest(failure: ServerFailure): FailedRequest {
  const { kind, operation, method, path, scope, status, serverMessage, attempts, retryAfter, open } = failure;
  return { kind, operation, method, path, scope, status, serverMessage, attempts, retryAfter, open };
}
