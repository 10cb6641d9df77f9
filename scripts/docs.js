// Writes the generated parts of docs/ anew: commands, options, exit codes, fields, the list of errors. A test holds them equal.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

// In the package, so that its dependencies and its version are found.
const folder = mkdtempSync(resolve('.docs-'));
try {
  const outfile = join(folder, 'pages.mjs');
  await build({
    entryPoints: ['scripts/reference/pages.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  const { pages } = await import(pathToFileURL(outfile).href);
  for (const { path, made } of await pages()) writeFileSync(path, made);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
