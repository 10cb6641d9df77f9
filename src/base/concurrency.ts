import { setImmediate } from 'node:timers/promises';
import { type ProblemsError, problemError } from './problems.js';

/** The results of all promises, after all have settled. Throws an AggregateError of all distinct failures. */
export async function allSettled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  const failures = settled.flatMap((it) => (it.status === 'rejected' ? failuresIn(it.reason) : []));
  if (failures.length > 0) throw new AggregateError(new Set(failures), 'several things failed');
  return settled.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}

/** More than any `--concurrency`. */
const MAX_CONCURRENT = 1000;

/** The same for work on very many things, started in order: those that wait take no memory. */
export async function allSettledEach<A, T>(
  things: readonly A[],
  work: (thing: A) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  const failures: unknown[][] = [];
  const queue = things.entries();
  const worker = async (): Promise<void> => {
    for (const [index, thing] of queue) {
      try {
        results[index] = await work(thing);
      } catch (failure) {
        failures[index] = failuresIn(failure);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, things.length) }, worker));
  if (failures.length > 0) throw new AggregateError(new Set(failures.flat()), 'several things failed');
  return results;
}

/** The failures in an AggregateError, or the failure itself. */
export function failuresIn(failure: unknown): unknown[] {
  // An empty one is a failure itself.
  const within = failure instanceof AggregateError ? failure.errors.flatMap(failuresIn) : [];
  return within.length > 0 ? within : [failure];
}

/** Milliseconds. */
const YIELD_INTERVAL = 50;

/** Lets long work yield to the event loop now and then, and stop when it is interrupted. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Whether it is time for `pause`. */
  get due(): boolean {
    return this.#signal?.aborted === true || performance.now() - this.#since >= YIELD_INTERVAL;
  }

  /** Yields to the event loop. Throws a ProblemsError (`interrupted`) if the signal is aborted. */
  async pause(): Promise<void> {
    // The first may come before signals are handled.
    await setImmediate();
    await setImmediate();
    this.#since = performance.now();
    if (this.#signal?.aborted) throw interrupted('nothing more was read');
  }
}

/** The error for interrupted work; `left` says what wasn't done. */
export function interrupted(left: string): ProblemsError {
  return problemError('interrupted', `interrupted: ${left}`);
}
