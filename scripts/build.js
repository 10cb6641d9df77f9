// Builds beside dist and puts it into its place when it is whole: a module that was renamed or removed must not live on in the
// package, and a build that fails or is interrupted leaves the one before, and the action that is committed.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { actionBundle, cliBundle, startBundle } from './bundles.js';

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
    { stdio: 'inherit' },
  );
} catch (failure) {
  process.exit(failure.status ?? 1);
}

/** Modules, or their types, that these name, and those that they name in turn. */
function reached(entries) {
  const all = new Set();
  const visit = (path) => {
    if (all.has(path) || !existsSync(path)) return;
    all.add(path);
    // Whatever names a module by its path needs it: imports and exports.
    for (const [, name] of readFileSync(path, 'utf8').matchAll(/['"](\.{1,2}\/[\w./-]+\.js)['"]/g)) {
      const module = join(dirname(path), name);
      visit(module);
      if (path.endsWith('.d.ts')) visit(module.replace(/\.js$/, '.d.ts'));
    }
  };
  for (const entry of entries) visit(entry);
  return all;
}

// The library: what the command alone needs is in its bundle.
rmSync(join(made, 'cli'), { recursive: true });
rmSync(join(made, 'action'), { recursive: true });
const entries = ['index', 'sandbox/index'].flatMap((name) => [`${name}.js`, `${name}.d.ts`]);
// `npm run schemas` takes these.
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
