import type { Intercept, SandboxFaults } from './options.js';

/** The number of writes of a user's PATCH; no request has more. */
const maxWrites = 7;
const restartMs = 8_000;

/** Returns a function that draws the fault of the next request: the same faults for the same seed and order of requests. */
export function randomFaults(faults: SandboxFaults): (method: string) => Intercept | undefined {
  const random = mulberry32(faults.seed ?? Math.floor(Math.random() * 2 ** 32));
  return (method) => {
    // Always drawn together, so that the probability of one fault doesn't affect the others.
    const [cut, failing, unavailable, reset, restart, position] = Array.from({ length: 6 }, random) as Draws;
    const step = Math.floor(position * (maxWrites + 1));
    if (restart < (faults.restart ?? 0)) return { kind: 'restart', ms: restartMs };
    if (method === 'PATCH' && cut < (faults.cut ?? 0)) return { kind: 'cut', step };
    if (failing < (faults[500] ?? 0)) return { kind: 'drop', step };
    if (reset < (faults.reset ?? 0)) return { kind: 'reset', when: position < 0.5 ? 'before' : 'after' };
    if (unavailable < (faults[503] ?? 0)) {
      return {
        kind: 'answer',
        status: 503,
        body: { code: 'SERVICE_UNAVAILABLE', message: 'Service Unavailable' },
      };
    }
    return undefined;
  };
}

type Draws = [number, number, number, number, number, number];

/** A generator of numbers between 0 and 1. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
