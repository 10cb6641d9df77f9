import { ProblemsError } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import type { Fields } from '../base/values.js';
import type { Kind, Live } from '../kinds/kind.js';
import { describeLoss } from '../kinds/loss.js';
import type { Change } from '../plan/plan.js';
import type { Judgement } from './outcome.js';
import type { ChangeResult, Status } from './result.js';

export interface Outcome extends Omit<ChangeResult, 'address' | 'label' | 'action'> {
  /** Whether the server may have done it although no answer says so. */
  readonly ambiguous: boolean;
  /** What the server showed afterwards; undefined if it showed nothing usable. */
  readonly after: Fields | undefined;
  /** The server's actual profile, if it is another one, and its updates reset fields that aren't sent. */
  readonly otherProfile?: string | undefined;
}

/** Why the outcome of a change is open. */
export interface OpenFailure {
  readonly message: string;
  readonly httpStatus: number | null;
  readonly attempts: number;
  /** Whether the server answered 2xx: another value is then a difference and not a failure. */
  readonly answered: boolean;
  /** Whether the server refused the request: it would refuse a repetition too. */
  readonly refused: boolean;
  /** Whether the server may still be working on it. */
  readonly inProgress: boolean;
  /** Whether no retry was made because the observation expired. */
  readonly expired?: true;
}

/** A change with an unknown outcome, which is read back. */
export interface OpenChange {
  readonly change: Change;
  readonly failure: OpenFailure;
}

/** An answer without usable content. */
export const UNUSABLE_ANSWER: OpenFailure = {
  message: '',
  httpStatus: null,
  attempts: 0,
  answered: true,
  refused: false,
  inProgress: false,
};

/** A change without a request of its own: another change of the plan has this effect. */
export const NO_REQUEST: OpenFailure = {
  ...UNUSABLE_ANSWER,
  message: 'nothing was sent, since the server does it with another change',
};

const EFFECT_UNKNOWN = 'what the server did is not known';

function outcomeOf(
  { httpStatus, attempts }: OpenFailure,
  parts: Pick<Outcome, 'status' | 'error'> & Partial<Outcome>,
): Outcome {
  return { httpStatus, attempts, ambiguous: false, after: undefined, unverified: [], ...parts };
}

/** The outcome of a change that was not sent. `error` is null if there was nothing to send. */
export function skippedOutcome(error: string | null): Outcome {
  return outcomeOf(UNUSABLE_ANSWER, { status: 'skipped', error });
}

/** The outcome of a failed change that can't be read back. */
export function outcomeWithoutReadBack(open: OpenFailure, ambiguous: boolean): Outcome {
  return ambiguous
    ? outcomeOf(open, { status: 'unknown', ambiguous, error: `${open.message}; ${EFFECT_UNKNOWN}` })
    : outcomeOf(open, { status: 'failed', error: open.message });
}

/** The outcome of a change after an exception on this side, such as a full disk or a bug. */
export function exceptionOutcome(failure: unknown): Outcome {
  return outcomeWithoutReadBack({ ...UNUSABLE_ANSWER, message: messageOf(failure) }, true);
}

/** An outcome with advice for a person. */
export function withAdvice(outcome: Outcome, advice: string): Outcome {
  const { error, notes = [] } = outcome;
  if (error === null) return { ...outcome, notes: [...notes, advice] };
  return { ...outcome, error: `${error}; ${advice}` };
}

/** The message of a failure; a cause that several failures share appears once. */
export function messageOf(failure: unknown): string {
  if (failure instanceof ProblemsError) return joinDistinct(failure.problems.map(({ message }) => message));
  if (failure instanceof AggregateError) return joinDistinct(failure.errors.map(messageOf));
  return systemErrorText(failure);
}

function joinDistinct(sentences: readonly string[]): string {
  return [...new Set(sentences)].join('; ');
}

/** The outcome of an open change, after it was read back; `live` is undefined if it can't be read. */
export function openOutcome(
  { regeneration }: Kind,
  { action }: Change,
  open: OpenFailure,
  { verdict, different, values, unverified, lost }: Judgement,
  live: Live | undefined,
): Outcome {
  const unknown = (why: string): Outcome =>
    outcomeOf(open, {
      status: 'unknown',
      ambiguous: true,
      after: live?.fields,
      error: `${open.message}; ${why}, so ${EFFECT_UNKNOWN}`,
    });
  if (live === undefined) return unknown('it could not be read back');
  if (verdict === 'unknown') {
    if (action === 'regenerate') return outcomeWithoutReadBack(open, true);
    return unknown(`read back: ${live.reason ?? `${unverified.join(', ')} could not be seen`}`);
  }
  if (verdict === 'done') {
    const notes =
      action === 'regenerate' && regeneration !== undefined
        ? [`${open.message}; read back: the ${regeneration.noun} is another one now`]
        : [];
    return outcomeOf(open, { status: 'applied', after: live.fields, error: null, notes });
  }
  const names = describeLoss(lost);
  const found = action === 'delete' ? ['it is still there'] : [...different];
  if (names !== '') found.push(`lost: ${names}, which the next apply that includes it restores`);
  // The object may have had the declared values before, and somebody changed it since.
  if (found.length === 0) found.push('it was not done');
  return outcomeOf(open, {
    status: failedStatus(open),
    after: action === 'create' && !live.exists ? undefined : live.fields,
    error: `${open.message}; read back: ${found.join('; ')}`,
    ownValues: values,
  });
}

function failedStatus({ answered }: OpenFailure): Status {
  return answered ? 'not_converged' : 'failed';
}

/** The outcome of a change that lost something and was repaired. */
export function repairedOutcome(
  aim: 'asked' | 'before',
  open: OpenFailure,
  names: string,
  after: Fields,
): Outcome {
  const lost = `${open.message}; read back: it had lost ${names}`;
  if (aim === 'before') {
    return outcomeOf(open, {
      status: failedStatus(open),
      after,
      error: `${lost}; the values from before were restored`,
    });
  }
  const note = `${lost}; the declared values were sent again, and the server now has them`;
  return outcomeOf(open, { status: 'applied', after, error: null, notes: [note] });
}

export function toResult({ address, action }: Change, outcome: Outcome): ChangeResult {
  const { status, httpStatus, attempts, unverified, error, ownValues = [], notes = [] } = outcome;
  return {
    address,
    action,
    status,
    httpStatus,
    attempts,
    unverified,
    error,
    ...(ownValues.length === 0 ? {} : { ownValues }),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

/** Whether an outcome shows how the server treats updates: only a successful update or regeneration does. */
export function showsProfile({ action }: Change, outcome: Outcome | undefined): boolean {
  const { httpStatus = null } = outcome ?? {};
  return action !== 'delete' && httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
}
