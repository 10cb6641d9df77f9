// Builds beside dist and puts it into its place when it is whole: a module that was renamed or removed must not live on in the
// package, and a build that fails or is interrupted leaves the one before, and the action that is committed.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { actionBundle, cliBundle } from './bundles.js';

// On the same disk, and nothing that git or a check looks at.
const place = mkdtempSync('node_modules/.building-');
process.once('exit', () => rmSync(place, { recursive: true, force: true }));
for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(name, () => process.exit(code));
}
const made = join(place, 'dist');

// What is wrong is printed by the compiler itself.
try {
  execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--outDir', made],
    {
      stdio: 'inherit',
    },
  );
} catch (failure) {
  process.exit(failure.status ?? 1);
}

rmSync(join(made, 'cli'), { recursive: true });
await build(cliBundle('src/cli/main.ts', join(made, 'cli')));
chmodSync(join(made, 'cli/main.js'), 0o755);

// The action is committed.
rmSync(join(made, 'action'), { recursive: true });
await build(actionBundle('src/action/main.ts', join(made, 'action.js')));

if (existsSync('dist')) renameSync('dist', join(place, 'before'));
renameSync(made, 'dist');
