import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    maxWorkers: 2,
    testTimeout: 0,
    hookTimeout: 0,
  },
});
