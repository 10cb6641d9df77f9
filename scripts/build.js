// Empties dist first: a module that was renamed or removed must not live on in the package.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], {
  stdio: 'inherit',
});

// The command is bundled: opening some hundred small files takes longer than most of what it does.
rmSync('dist/cli', { recursive: true });
await build({
  entryPoints: ['src/cli/main.ts'],
  outdir: 'dist/cli',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  legalComments: 'linked',
  logLevel: 'warning',
  // Some packages still ask for `require`, which a module doesn't have by itself.
  banner: {
    js: "import { createRequire as idopsRequire } from 'node:module'; const require = idopsRequire(import.meta.url);",
  },
});
chmodSync('dist/cli/main.js', 0o755);
