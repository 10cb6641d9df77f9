import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { cliBundle } from '../scripts/bundles.js';

/**
 * Builds once before any test, so that the end-to-end tests run what a user runs; and the command's entry once more, for
 * the tests that run it in their own process.
 */
export default async function buildAll(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  const inProcess = 'node_modules/.in-process';
  rmSync(inProcess, { recursive: true, force: true });
  await build(cliBundle('src/cli/program.ts', inProcess));
}
