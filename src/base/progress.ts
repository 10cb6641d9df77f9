/** What long work tells whoever watches: one phase at a time, and how far it is. */
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
