/** The result of a step. */
export interface StepResult {
  /** The address of its object. */
  readonly address: string;
  /** The status as in the result of a run: `applied`, `failed`, `not_converged`, `unknown` or `skipped`. */
  readonly status: string;
  /** What went wrong; null if nothing did. */
  readonly error: string | null;
  /** The parts of the error that are the object's own values. */
  readonly ownValues?: readonly string[];
}

/** A request that will be sent again. */
export interface Retrying {
  /** The next attempt, from 1. */
  readonly attempt: number;
  /** The maximum number of attempts. */
  readonly of: number;
  /** Why the previous attempt failed, in a few words. */
  readonly why: string;
  /** Seconds until the next attempt, if the server asks for a wait. */
  readonly wait?: number;
}

/** Receives the progress of long work, one phase at a time. If it throws, it is ignored from then on. */
export type Progress = {
  /** A phase begins, such as `Observing`, with its number of steps. */
  phase(name: string, total: number): void;
  /** Requests about an object begin; they end with its `step`. */
  begin?(address: string): void;
  /** A request will be sent again. */
  retry?(again: Retrying): void;
  /** A step is done; `done` is its result if the step changes something. */
  step(done?: StepResult): void;
  /** The phase is over, perhaps before all of its steps are done; `failed` if an error ended it. */
  end(how?: 'failed'): void;
};

/** Ignores all progress. */
export const noProgress: Progress = { phase() {}, step() {}, end() {} };

/** A Progress that stops calling the given one after its first failure, thrown or rejected. */
export function safeProgress(progress: Progress): Required<Progress> {
  let failed = false;
  const fail = (): void => {
    failed = true;
  };
  const attempt = (callback: () => unknown): void => {
    if (failed) return;
    try {
      // The callback may be async, whatever its type says.
      Promise.resolve(callback()).catch(fail);
    } catch {
      fail();
    }
  };
  return {
    phase: (name, total) => attempt(() => progress.phase(name, total)),
    begin: (address) => attempt(() => progress.begin?.(address)),
    retry: (again) => attempt(() => progress.retry?.(again)),
    step: (done) => attempt(() => progress.step(done)),
    end: (how) => attempt(() => progress.end(how)),
  };
}
