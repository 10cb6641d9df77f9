import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * Bundles a TypeScript module, and passes its exports to `work`.
 * @type {<T>(entry: string, work: (module: any) => Promise<T>) => Promise<T>}
 */
export async function bundled(entry, work) {
  // Inside the package, so that its dependencies and version are found.
  const folder = mkdtempSync(resolve('.bundled-'));
  try {
    const outfile = join(folder, 'module.mjs');
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      logLevel: 'error',
    });
    return await work(await import(pathToFileURL(outfile).href));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
