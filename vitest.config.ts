import { defineConfig } from 'vitest/config';
import { Watchdog } from './test/watchdog.js';

/** A net: far more than any test takes on a busy machine. Those that take longer by nature name a limit of their own. */
const limit = 300_000;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    // One more than a small machine has processors: some tests wait for servers that are slow on purpose.
    maxWorkers: 3,
    testTimeout: limit,
    hookTimeout: limit,
    reporters: ['default', new Watchdog(limit)],
  },
});
