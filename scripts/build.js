// Empties dist first: a module that was renamed or removed must not live on in the package.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], {
  stdio: 'inherit',
});

// Some packages still ask for `require`, which a module doesn't have by itself.
const banner = {
  js: "import { createRequire as idopsRequire } from 'node:module'; const require = idopsRequire(import.meta.url);",
};

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
  legalComments: 'linked',
  logLevel: 'warning',
  banner,
});
chmodSync('dist/cli/main.js', 0o755);

// The action is committed, and its runner installs nothing: one file, the same wherever it is built.
rmSync('dist/action', { recursive: true });
await build({
  entryPoints: ['src/action/main.ts'],
  outfile: 'dist/action.js',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'eof',
  logLevel: 'warning',
  banner,
  // One copy of what several packages bring in versions of their own.
  alias: { undici: './node_modules/undici/index.js' },
  plugins: [
    {
      name: 'unused-parts-of-the-toolkit',
      setup({ onResolve, resolve }) {
        // Tokens of OpenID Connect and commands are not used; what they need is not loaded either.
        onResolve(
          { filter: /^(@actions\/(http-client|exec)|\.\/oidc-utils\.js|\.\/platform\.js)/ },
          async (args) => {
            if (args.pluginData === 'resolved') return undefined;
            const found = await resolve(args.path, {
              importer: args.importer,
              kind: args.kind,
              resolveDir: args.resolveDir,
              pluginData: 'resolved',
            });
            return { ...found, sideEffects: false };
          },
        );
      },
    },
  ],
});
