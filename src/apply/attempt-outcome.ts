import { ProblemsError } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import type { Fields } from '../base/values.js';
import type { Kind, Live } from '../kinds/kind.js';
import { namesOfLost } from '../kinds/loss.js';
import type { Change } from '../plan/plan.js';
import type { Judgement } from './outcome.js';
import type { ChangeResult, Status } from './result.js';

/** What became of one change. */
export interface Outcome {
  readonly status: Status;
  readonly httpStatus: number | null;
  readonly attempts: number;
  /** Whether it may have been done although nobody knows. */
  readonly ambiguous: boolean;
  /** What the server showed afterwards; undefined where it showed nothing usable. */
  readonly after: Fields | undefined;
  readonly unverified: readonly string[];
  readonly error: string | null;
  /** The parts of the error that are the object's own values. */
  readonly ownValues?: readonly string[];
  /** What a person should know although it went well. */
  readonly notes?: readonly string[];
  /** The profile whose server this surely is, where that is another one and its updates lose what they don't mention. */
  readonly otherProfile?: string;
}

/** Why the answer doesn't tell what became of a change. */
export interface OpenFailure {
  readonly message: string;
  readonly httpStatus: number | null;
  readonly attempts: number;
  /** Whether the server answered 2xx, so that keeping another value is not a failure but a difference. */
  readonly answered: boolean;
  /** Whether the server refused it: the same once more would be refused too. */
  readonly refused: boolean;
  /** Whether the server may still be working at it. */
  readonly unsteady: boolean;
  /** Whether it was given up since what it is built on is too old. */
  readonly expired?: true;
}

/** A change whose outcome has to be read back. */
export interface Open {
  readonly change: Change;
  readonly failure: OpenFailure;
}

/** Nothing is known but that there was no use in the answer. */
export const NOTHING_KNOWN: OpenFailure = {
  message: '',
  httpStatus: null,
  attempts: 0,
  answered: true,
  refused: false,
  unsteady: false,
};

/** The open end of a change that comes about by another one. */
export const BY_ANOTHER: OpenFailure = {
  ...NOTHING_KNOWN,
  message: 'nothing was sent, since the server does it with another change',
};

/** The outcome of a change that the server failed or left open, where it can't be asked again. */
export function closed(open: OpenFailure, ambiguous: boolean): Outcome {
  return {
    status: ambiguous ? 'unknown' : 'failed',
    httpStatus: open.httpStatus,
    attempts: open.attempts,
    ambiguous,
    after: undefined,
    unverified: [],
    error: ambiguous ? `${open.message}; what the server did is not known` : open.message,
  };
}

/** An outcome with what a person should do besides. */
export function advised(outcome: Outcome, advice: string): Outcome {
  const { error, notes = [] } = outcome;
  if (error === null) return { ...outcome, notes: [...notes, advice] };
  return { ...outcome, error: `${error}; ${advice}` };
}

/** The outcome of a change that nothing came of, since something of ours failed. */
export function brokenOff(failure: unknown): Outcome {
  return closed({ ...NOTHING_KNOWN, message: messageOf(failure) }, true);
}

/** Why something failed, in words; several things may fail by one cause, which is said once. */
export function messageOf(failure: unknown): string {
  if (failure instanceof ProblemsError) return distinct(failure.problems.map(({ message }) => message));
  if (failure instanceof AggregateError) return distinct(failure.errors.map(messageOf));
  return systemErrorText(failure);
}

function distinct(sentences: readonly string[]): string {
  return [...new Set(sentences)].join('; ');
}

/** What became of a change whose answer didn't tell, as reading it back shows. */
export function openOutcome(
  { regeneration }: Kind,
  change: Change,
  open: OpenFailure,
  { verdict, different, values, unverified, lost }: Judgement,
  live: Live | undefined,
): Outcome {
  const base = { httpStatus: open.httpStatus, attempts: open.attempts, unverified: [], after: live?.fields };
  if (live === undefined) {
    const error = `${open.message}; it could not be read back, so what the server did is not known`;
    return { ...base, status: 'unknown', ambiguous: true, after: undefined, error };
  }
  if (verdict === 'unseen') {
    if (change.action === 'regenerate') return closed(open, true);
    const error = `${open.message}; read back: ${unverified.join(', ')} could not be seen, so what the server did is not known`;
    return { ...base, status: 'unknown', ambiguous: true, error };
  }
  if (verdict === 'done') {
    const notes =
      change.action === 'regenerate' && regeneration !== undefined
        ? [`${open.message}; read back: the ${regeneration.noun} is another one now`]
        : [];
    return { ...base, status: 'applied', ambiguous: false, error: null, notes };
  }
  const names = namesOfLost(lost);
  const found = change.action === 'delete' ? ['it is still there'] : [...different];
  if (names !== '') found.push(`lost: ${names}, which the next apply that takes it in puts back`);
  // What was asked may have been there before, and somebody set something else since.
  if (found.length === 0) found.push('it was not done');
  return {
    ...base,
    status: open.answered ? 'not_converged' : 'failed',
    ambiguous: false,
    error: `${open.message}; read back: ${found.join('; ')}`,
    ownValues: values,
  };
}

/** What became of a change that lost something on the way and was mended. */
export function repaired(aim: 'asked' | 'before', open: OpenFailure, names: string, after: Fields): Outcome {
  const base = {
    httpStatus: open.httpStatus,
    attempts: open.attempts,
    ambiguous: false,
    after,
    unverified: [],
  };
  if (aim === 'asked') {
    const note = `${open.message}; read back: it had lost ${names}; what is asked for was sent after that, and all is as asked`;
    return { ...base, status: 'applied', error: null, notes: [note] };
  }
  return {
    ...base,
    status: open.answered ? 'not_converged' : 'failed',
    error: `${open.message}; read back: it had lost ${names}; that is put back as it was before`,
  };
}

/** What is left out, and why; null where there was nothing to be sent. */
export function skipped(error: string | null): Outcome {
  return {
    status: 'skipped',
    httpStatus: null,
    attempts: 0,
    ambiguous: false,
    after: undefined,
    unverified: [],
    error,
  };
}

/** What became of a change, as it is told. */
export function asResult({ address, action }: Change, outcome: Outcome): ChangeResult {
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

/** Whether an answer tells what updates do on its server: one to a refused update, or to a DELETE, may be anybody's. */
export function tells({ action }: Change, outcome: Outcome | undefined): boolean {
  return action !== 'delete' && outcome !== undefined && isSuccess(outcome);
}

function isSuccess({ httpStatus }: Outcome): boolean {
  return httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
}
