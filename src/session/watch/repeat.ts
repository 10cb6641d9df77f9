import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Waits for a time, or until the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const realClock: Clock = {
  now: () => performance.now(),
  async wait(milliseconds, signal) {
    try {
      await sleep(milliseconds, undefined, { signal });
    } catch (interruption) {
      if (!signal.aborted) throw interruption;
    }
  },
};

/**
 * Repeats work until the signal aborts or the work returns false. Each round begins `interval` milliseconds after the previous one began,
 * or when that ends if it takes longer. `work` receives the number of the round, from 1, and a signal. Returns the number of rounds.
 */
export async function repeat(
  work: (number: number, ending: AbortSignal) => Promise<boolean>,
  interval: number,
  signal: AbortSignal,
  clock: Clock = realClock,
): Promise<number> {
  let done = 0;
  while (!signal.aborted) {
    const began = clock.now();
    done += 1;
    const number = done;
    if (!(await withEnding(signal, (ending) => work(number, ending)))) break;
    const left = interval - (clock.now() - began);
    if (left > 0 && !signal.aborted) await clock.wait(left, signal);
  }
  return done;
}

/** Calls `work` with its own signal: listeners on a signal that lives as long as the process would leak memory. */
async function withEnding<T>(signal: AbortSignal, work: (ending: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signal.addEventListener('abort', end);
  try {
    return await work(ending.signal);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
