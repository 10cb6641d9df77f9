import { defineConfig } from 'vitest/config';

// Apart from the other tests, since these need a Chromium: its path is in CHROMIUM, or it is Debian's.
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    testTimeout: 0,
    hookTimeout: 0,
    // A net for what never comes, not about how fast the machine is.
    expect: { poll: { timeout: 120_000 } },
  },
});
