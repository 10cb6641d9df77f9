/** What a step came to, for whoever watches. */
export interface Stepped {
  /** The object that it was about. */
  readonly address: string;
  /** As in the result of a run: `applied`, `failed`, `not_converged`, `unknown` or `skipped`. */
  readonly status: string;
  /** What went wrong; null where nothing did. */
  readonly error: string | null;
  /** The error without the object's own values, where it tells some. */
  readonly gist?: string;
}

/** A request that is about to be sent again. */
export interface Retrying {
  /** The try that comes now, counted from 1. */
  readonly attempt: number;
  /** How many tries there may be in all. */
  readonly of: number;
  /** Why the one before it came to nothing, in a few words. */
  readonly why: string;
  /** Seconds until then, where the server asks to wait. */
  readonly wait?: number;
}

/**
 * What long work tells whoever watches: one phase at a time, and how far it is. What is thrown in it is ignored, and nothing more is
 * told then: it has no part in what is done.
 */
export type Progress = {
  /** A phase begins: its name, such as `Observing` or `Applying`, and its number of steps. */
  phase(name: string, total: number): void;
  /** Requests about an object begin; its step tells that they have ended. */
  begin?(address: string): void;
  /** A request is about to be sent again. */
  retry?(again: Retrying): void;
  /** One step is done; where it changes something, what became of it. */
  step(done?: Stepped): void;
  /** The phase is over, whether all of its steps were done or not; `failed` where something keeps them from it. */
  end(how?: 'failed'): void;
};

/** Nobody watches. */
export const noProgress: Progress = { phase() {}, step() {}, end() {} };

/** Tells whoever watches for as long as that does no harm: after the first failure, whether thrown or promised, nothing more. */
export function withoutHarm(progress: Progress): Required<Progress> {
  let failed = false;
  const fail = (): void => {
    failed = true;
  };
  const tell = (telling: () => unknown): void => {
    if (failed) return;
    try {
      // A program's function may be async, whatever its type says.
      Promise.resolve(telling()).catch(fail);
    } catch {
      fail();
    }
  };
  return {
    phase: (name, total) => tell(() => progress.phase(name, total)),
    begin: (address) => tell(() => progress.begin?.(address)),
    retry: (again) => tell(() => progress.retry?.(again)),
    step: (done) => tell(() => progress.step(done)),
    end: (how) => tell(() => progress.end(how)),
  };
}
