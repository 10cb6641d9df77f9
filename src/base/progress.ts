/**
 * What long work tells whoever watches: one phase at a time, and how far it is. What is thrown in it is ignored, and nothing more is
 * told then: it has no part in what is done.
 */
export type Progress = {
  /** A phase begins: its name, such as `Observing` or `Applying`, and its number of steps. */
  phase(name: string, total: number): void;
  /** One step is done. */
  step(): void;
  /** The phase is over, whether all of its steps were done or not; `failed` where something keeps them from it. */
  end(how?: 'failed'): void;
};

/** Nobody watches. */
export const noProgress: Progress = { phase() {}, step() {}, end() {} };

/** Tells whoever watches for as long as that does no harm: after the first failure, whether thrown or promised, nothing more. */
export function withoutHarm(progress: Progress): Progress {
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
    step: () => tell(() => progress.step()),
    end: (how) => tell(() => progress.end(how)),
  };
}
