// How esbuild makes one file, or a few, of what is run.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

// Some packages still ask for `require`, which a module doesn't have by itself.
const banner = {
  js: "import { createRequire as idopsRequire } from 'node:module'; const require = idopsRequire(import.meta.url);",
};

/**
 * One copy of what matches globs: fdir asks for another at run time, for a method that nobody calls.
 * @type {import('esbuild').Plugin}
 */
const oneMatcher = {
  name: 'one-matcher-of-globs',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]fdir[\\/]dist[\\/]index\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace(
        /__require\.resolve\("picomatch"\);\s*pm = __require\("picomatch"\);/,
        '',
      );
      if (contents === text)
        throw new Error('fdir loads its matcher in another way now: mend scripts/bundles.js');
      return { contents, loader: 'js' };
    });
  },
};

/**
 * The command: bundled, since opening some hundred small files takes longer than most of what it does.
 * @type {(entry: string, outdir: string) => import('esbuild').BuildOptions}
 */
export const cliBundle = (entry, outdir) => ({
  entryPoints: { [basename(entry, '.ts')]: entry, thread: 'src/source/thread.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'linked',
  logLevel: 'warning',
  banner,
  plugins: [oneMatcher],
});

/**
 * The action: one file, the same wherever it is built, since its runner installs nothing.
 * @type {(entry: string, outfile: string) => import('esbuild').BuildOptions}
 */
export const actionBundle = (entry, outfile) => ({
  entryPoints: [entry],
  outfile,
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
