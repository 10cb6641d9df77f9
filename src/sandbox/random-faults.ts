import type { Intercept, SandboxFaults } from './options.js';

/** The writes of a user's PATCH, which has the most. */
const mostWrites = 7;
const restartMs = 8_000;

/** Random faults, the same for the same seed and order of requests. */
export function randomFaults(faults: SandboxFaults): (method: string) => Intercept | undefined {
  const random = generator(faults.seed ?? Math.floor(Math.random() * 2 ** 32));
  return (method) => {
    // All are drawn each time, so that the probability of one fault doesn't change the others.
    const [cut, failing, unavailable, reset, restart, where] = Array.from({ length: 6 }, random) as Draws;
    const step = Math.floor(where * (mostWrites + 1));
    if (restart < (faults.restart ?? 0)) return { kind: 'restart', ms: restartMs };
    if (method === 'PATCH' && cut < (faults.cut ?? 0)) return { kind: 'cut', step };
    if (failing < (faults[500] ?? 0)) return { kind: 'drop', step };
    if (reset < (faults.reset ?? 0)) return { kind: 'reset', when: where < 0.5 ? 'before' : 'after' };
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

/** Numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
