import { setImmediate } from 'node:timers/promises';
import { type ProblemsError, problemError } from './problems.js';

/** Waits until all promises have settled, and returns their results. Throws an AggregateError of the distinct errors. */
export async function allSettled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  const failures = settled.flatMap((it) => (it.status === 'rejected' ? failuresIn(it.reason) : []));
  if (failures.length > 0) throw new AggregateError(new Set(failures), 'several errors');
  return settled.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}

/** More than any `--concurrency`. */
const MAX_CONCURRENT = 1000;

/** The same for work on each item of a long list, started in order. Unlike promises, waiting items take no memory. */
export async function allSettledEach<A, T>(items: readonly A[], work: (item: A) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  const failures: unknown[][] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      try {
        results[index] = await work(item);
      } catch (failure) {
        failures[index] = failuresIn(failure);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, items.length) }, worker));
  if (failures.length > 0) throw new AggregateError(new Set(failures.flat()), 'several errors');
  return results;
}

/** The errors in an AggregateError, at any depth; otherwise the error itself. */
export function failuresIn(failure: unknown): unknown[] {
  // An AggregateError without errors is an error itself.
  const within = failure instanceof AggregateError ? failure.errors.flatMap(failuresIn) : [];
  return within.length > 0 ? within : [failure];
}

/** Milliseconds. */
const YIELD_INTERVAL = 50;

/** Lets long synchronous work yield to the event loop, and stop when it is interrupted. */
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
    // Signals may be handled only in the second turn.
    await setImmediate();
    await setImmediate();
    this.#since = performance.now();
    if (this.#signal?.aborted) throw interrupted('nothing more was read');
  }
}

/** The error for interrupted work; `outcome` is a clause, such as `nothing was written`. */
export function interrupted(outcome: string): ProblemsError {
  return problemError('interrupted', `interrupted: ${outcome}`);
}
