import type { Shard } from '../base/shard.js';
import type { Fields } from '../base/values.js';
import type { Action, Change } from '../plan/plan.js';

/** The statuses, in the order of summaries. */
export const statuses = ['applied', 'failed', 'not_converged', 'unknown', 'skipped'] as const;

/**
 * - `applied`: done, and the server showed it.
 * - `failed`: the server refused or could not be reached.
 * - `not_converged`: the server accepted it, but keeps another value.
 * - `unknown`: sent, outcome unknown.
 * - `skipped`: not sent; the error says why.
 */
export type Status = (typeof statuses)[number];

/** The objects that the server showed after their changes. */
export type Answers = ReadonlyMap<Change, Fields>;

/** The result of one planned change. */
export interface ChangeResult {
  /** The address of the object. */
  readonly address: string;
  /** Its name, if it is known and the address doesn't say it. */
  readonly label?: string;
  /** The planned action. */
  readonly action: Action;
  /** The outcome. */
  readonly status: Status;
  /** The status of the last answer; null if there was none. */
  readonly httpStatus: number | null;
  /** How many times a request was sent, all requests of the change together. */
  readonly attempts: number;
  /** Sent fields that the answer didn't carry. */
  readonly unverified: readonly string[];
  /** What went wrong; null if nothing did. */
  readonly error: string | null;
  /** The parts of the error with the object's own values. Without them, equal errors of several objects can be folded. */
  readonly ownValues?: readonly string[];
  /** Remarks about a change that succeeded. */
  readonly notes?: readonly string[];
  /** The new DID, after a regeneration. */
  readonly did?: string;
}

/** What one run of apply did. */
export interface Result {
  /** The name of the run and of its journal; null if there was nothing to do. */
  readonly run: string | null;
  /** The shard of the run; left out if the run was about all objects. */
  readonly shard?: Shard;
  /** The name of the shard's journal, if the run has a journal for each shard. */
  readonly journal?: string;
  /** The result of each change, in the order of the plan. */
  readonly results: readonly ChangeResult[];
  /** The run that it undid; left out for an apply. */
  readonly undoes?: string;
  /** Whether it was interrupted, so that the remaining changes were not sent. */
  readonly interrupted: boolean;
}

/** The number of changes with each status. */
export function summarizeResult(result: Pick<Result, 'results'>): { readonly [status in Status]: number } {
  const summary = { applied: 0, failed: 0, not_converged: 0, unknown: 0, skipped: 0 };
  for (const { status } of result.results) summary[status] += 1;
  return summary;
}

/** Whether all changes were applied. */
export function isComplete({ results }: Pick<Result, 'results'>): boolean {
  return results.every(({ status }) => status === 'applied');
}

export function statusWords(status: string): string {
  return status.replace('_', ' ');
}

/** The counts in words, such as `1 applied` and `2 failed`. */
export function countedWords(result: Pick<Result, 'results'>): string[] {
  const count = summarizeResult(result);
  return statuses
    .filter((status) => count[status] > 0)
    .map((status) => `${count[status]} ${statusWords(status)}`);
}

/** Whether a run may have changed something that an undo can restore. */
export function mayBeUndone({ results }: Pick<Result, 'results'>): boolean {
  return results.some(
    ({ status, action }) =>
      status !== 'failed' && status !== 'skipped' && ['create', 'update', 'delete'].includes(action),
  );
}
