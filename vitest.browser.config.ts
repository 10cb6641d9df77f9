import { defineConfig } from 'vitest/config';

// Apart from the other tests, since these need a Chromium: its path is in CHROMIUM, or it is Debian's.
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    testTimeout: 0,
    hookTimeout: 0,
  },
});
