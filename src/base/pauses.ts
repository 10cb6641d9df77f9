import { setImmediate } from 'node:timers/promises';
import { error, ProblemsError } from './problems.js';

/** Milliseconds of work after which whatever waits has its turn. */
const AFTER = 50;

/** Long work that lets signals and answers through now and then, and goes no further once it is interrupted. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Whether enough was done for a pause, or none of the rest is to be done. */
  get due(): boolean {
    return this.#signal?.aborted === true || performance.now() - this.#since >= AFTER;
  }

  /** Lets whatever waits have its turn. Throws a ProblemsError (`interrupted`) where the signal is aborted. */
  async pause(): Promise<void> {
    // The first may come before signals are looked at.
    await setImmediate();
    await setImmediate();
    this.#since = performance.now();
    if (this.#signal?.aborted) throw interrupted('nothing more was read');
  }
}

/** What is thrown where work was interrupted; `left` says what it left. */
export function interrupted(left: string): ProblemsError {
  return new ProblemsError([error('interrupted', `interrupted: ${left}`)]);
}
