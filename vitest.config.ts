import { defineConfig } from 'vitest/config';
import { Seeds } from './test/seeds.js';
import { Watchdog } from './test/watchdog.js';

/** A net: far more than any test takes on a busy machine. Those that take longer by nature name a limit of their own. */
const limit = 300_000;
const seed = process.env.IDOPS_SEED ?? '20260131';

/** These replace modules of Node, so that no other file may have loaded what uses them. */
const apart = [
  'test/secrets/slow-hash.test.ts',
  'test/security/credential-forms.test.ts',
  'test/sandbox/latency.test.ts',
];

// The gate: the same answer every time. What searches for the unexpected is in vitest.soak.config.ts.
export default defineConfig({
  test: {
    globalSetup: ['test/build.ts'],
    setupFiles: ['test/setup.ts'],
    env: { IDOPS_SEED: seed },
    // One more than a small machine has processors: some tests wait for servers that are slow on purpose.
    maxWorkers: 3,
    testTimeout: limit,
    hookTimeout: limit,
    reporters: ['default', new Watchdog(limit), new Seeds(seed)],
    projects: [
      // Loading the same modules for each file would take a fifth of the time.
      {
        extends: true,
        test: { name: 'together', include: ['test/**/*.test.ts'], exclude: apart, isolate: false },
      },
      { extends: true, test: { name: 'apart', include: apart } },
    ],
  },
});
