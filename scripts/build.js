// Empties dist first: a module that was renamed or removed must not live on in the package.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { actionBundle, cliBundle } from './bundles.js';

rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], {
  stdio: 'inherit',
});

rmSync('dist/cli', { recursive: true });
await build(cliBundle('src/cli/main.ts', 'dist/cli'));
chmodSync('dist/cli/main.js', 0o755);

// The action is committed.
rmSync('dist/action', { recursive: true });
await build(actionBundle('src/action/main.ts', 'dist/action.js'));
