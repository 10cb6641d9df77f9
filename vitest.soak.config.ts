import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { defineConfig } from 'vitest/config';
import { Seeds } from './test/seeds.js';
import { Watchdog } from './test/watchdog.js';

/** A net against hangs. */
const limit = 3_600_000;
const seed = process.env.IDOPS_SEED || String(Math.floor(Math.random() * 0x7fffffff));

/** Properties are in both suites: here they get all their runs, and another seed each time. */
const properties = globSync('test/**/*.test.ts').filter((file) =>
  readFileSync(file, 'utf8').includes("from 'fast-check'"),
);

// The soak: random seeds, kills at every point, races of real processes, sizes. It runs at night and before a release.
export default defineConfig({
  test: {
    globalSetup: ['test/build.ts'],
    setupFiles: ['test/setup.ts'],
    env: { IDOPS_SOAK: '1', IDOPS_SEED: seed },
    include: ['test/**/*.soak.ts', ...properties],
    maxWorkers: 2,
    testTimeout: limit,
    hookTimeout: limit,
    reporters: ['default', new Watchdog(limit), new Seeds(seed)],
  },
});
