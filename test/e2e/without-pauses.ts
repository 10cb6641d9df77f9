import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate as turn } from 'node:timers/promises';
import { afterwards } from '../cleanups.js';

/** Until the test ends, pauses in this process end at once, and the clock advances by their length. */
export function withoutPauses(): void {
  const pause = timers.setTimeout;
  const now = performance.now;
  let passed = 0;
  timers.setTimeout = async <T>(milliseconds = 0, value?: T): Promise<T> => {
    passed += milliseconds;
    return await turn(value as T);
  };
  performance.now = () => now.call(performance) + passed;
  syncBuiltinESMExports();
  afterwards(() => {
    timers.setTimeout = pause;
    performance.now = now;
    syncBuiltinESMExports();
  });
}
