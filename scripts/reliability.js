// Writes the fault matrix into docs/reliability.md; a test holds the two equal.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

// In the package, so that its dependencies and its version are found.
const folder = mkdtempSync(resolve('.reliability-'));
try {
  const outfile = join(folder, 'matrix.mjs');
  await build({
    entryPoints: ['test/faults/matrix.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  const { measure, tables, withTables } = await import(pathToFileURL(outfile).href);
  const page = readFileSync('docs/reliability.md', 'utf8');
  writeFileSync('docs/reliability.md', withTables(page, tables(await measure())));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
