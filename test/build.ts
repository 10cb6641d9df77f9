import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { actionBundle, cliBundle } from '../scripts/bundles.js';

/**
 * Builds once before all tests, so that end-to-end tests run what a user runs. Also bundles the code of the command and
 * the action for tests that run it in their own process.
 */
export default async function buildAll(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  const inProcess = 'node_modules/.in-process';
  rmSync(inProcess, { recursive: true, force: true });
  await build(cliBundle(inProcess));
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  await build({
    ...actionBundle('src/action/run.ts', `${inProcess}/action.mjs`),
    external: Object.keys(dependencies),
    alias: {},
  });
}
