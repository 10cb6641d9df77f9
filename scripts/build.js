// Builds into another folder, and replaces dist only when the build is complete: modules that were renamed or removed must not
// remain in the package, and a failed build must leave the previous one and the committed action.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { actionBundle, cliBundle, startBundle } from './bundles.js';

// On the same disk, and ignored by git and the checks.
const place = mkdtempSync('node_modules/.building-');
process.once('exit', () => rmSync(place, { recursive: true, force: true }));
for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(name, () => process.exit(code));
}
const made = join(place, 'dist');

// The compiler prints its errors itself.
try {
  execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--outDir', made],
    { stdio: 'inherit' },
  );
} catch (failure) {
  process.exit(failure.status ?? 1);
}

/** Modules and type declarations that the entries import, directly or indirectly. */
function reached(entries) {
  const all = new Set();
  const visit = (path) => {
    if (all.has(path) || !existsSync(path)) return;
    all.add(path);
    // Imports and re-exports name modules by relative paths.
    for (const [, name] of readFileSync(path, 'utf8').matchAll(/['"](\.{1,2}\/[\w./-]+\.js)['"]/g)) {
      const module = join(dirname(path), name);
      visit(module);
      if (path.endsWith('.d.ts')) visit(module.replace(/\.js$/, '.d.ts'));
    }
  };
  for (const entry of entries) visit(entry);
  return all;
}

// Modules that only the command needs are in its bundle.
rmSync(join(made, 'cli'), { recursive: true });
rmSync(join(made, 'action'), { recursive: true });
const entries = ['index', 'sandbox/index'].flatMap((name) => [`${name}.js`, `${name}.d.ts`]);
// `npm run schemas` imports these.
const schemas = ['session/json-schema.js', 'session/schema-names.js'];
const library = reached([...entries, ...schemas].map((name) => join(made, name)));
for (const entry of readdirSync(made, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && !library.has(path)) rmSync(path);
}

await build(startBundle(join(made, 'cli')));
await build(cliBundle(join(made, 'cli')));
chmodSync(join(made, 'cli/main.js'), 0o755);

// The action is committed.
await build(actionBundle('src/action/main.ts', join(made, 'action.js')));

if (existsSync('dist')) renameSync('dist', join(place, 'before'));
renameSync(made, 'dist');
