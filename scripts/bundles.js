// How esbuild makes one file, or a few, of what is run.
import { readFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';

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
 * Of prom-client what is used: its index loads clusters, push gateways and the metrics of Node as well. A name that isn't here fails the build.
 * @type {import('esbuild').Plugin}
 */
const usedOfMetrics = {
  name: 'used-of-prom-client',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^prom-client$/ }, () => ({ path: 'prom-client', namespace: 'used-of-prom-client' }));
    onLoad({ filter: /^/, namespace: 'used-of-prom-client' }, () => ({
      contents: ['Registry', 'Counter', 'Gauge', 'Histogram']
        .map(
          (name) =>
            `export { default as ${name} } from './node_modules/prom-client/lib/${name.toLowerCase()}.js';`,
        )
        .join('\n'),
      loader: 'js',
      resolveDir: process.cwd(),
    }));
  },
};

/**
 * Of undici what is used: its index loads fetch, WebSocket, caches and mocks as well, a tenth of a small plan's processor time. A name that
 * isn't here fails the build.
 * @type {import('esbuild').Plugin}
 */
const usedOfUndici = {
  name: 'used-of-undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'used-of-undici' }));
    onLoad({ filter: /^/, namespace: 'used-of-undici' }, () => ({
      contents: `
        import api from './node_modules/undici/lib/api/index.js';
        import Dispatcher from './node_modules/undici/lib/dispatcher/dispatcher.js';
        Object.assign(Dispatcher.prototype, api);
        export { default as Pool } from './node_modules/undici/lib/dispatcher/pool.js';
        export { default as ProxyAgent } from './node_modules/undici/lib/dispatcher/proxy-agent.js';`,
      loader: 'js',
      resolveDir: process.cwd(),
    }));
  },
};

/** What is loaded one after the other, whatever the command: nothing of a layer is loaded before those above it. */
const layers = [
  ['src/cli/program.ts'],
  ['src/cli/worker.ts'],
  ['src/project/index.ts', 'src/manifests/load.ts'],
  ['src/session/open.ts'],
];
const loadedAfter = [
  { layers: 1, files: /^src\/cli\/worker\.ts$/ },
  {
    layers: 2,
    files:
      /^src\/(project\/index|report\/(problems|github|runs|history|pull|diagnosis)|cli\/commands\/(completion|schema|sandbox|doctor|init|runs|runs-prune|state|state-migrate))\.ts$/,
  },
  { layers: 3, files: /^src\/(session\/(open|outputs|forge)|cli\/commands\/(validate|preview))\.ts$/ },
  {
    layers: 4,
    files:
      /^src\/(cli\/commands\/(plan|apply|pull|list|undo|regenerate-did|watch)|mail\/checks|state\/(git|postgres)\/index|report\/(text|json|markdown|html|result-text|result-markdown|result-page|turn))\.ts$/,
  },
];

/**
 * Fewer files, each of what is loaded together: a file of some hundred bytes takes as long to find as one of many
 * thousand. esbuild makes a file of the modules that the same entries lead to, so each entry is told what has been
 * loaded before it is.
 * @type {import('esbuild').Plugin}
 */
const inLayers = {
  name: 'in-layers',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const file = relative(process.cwd(), path).split(sep).join('/');
      const found = loadedAfter.find(({ files }) => files.test(file));
      if (found === undefined) return undefined;
      const before = layers.slice(0, found.layers).flat();
      const imports = before.map((one) => `import ${JSON.stringify(resolve(one))};`);
      return { contents: `${imports.join('')}${readFileSync(path, 'utf8')}`, loader: 'ts' };
    });
  },
};

/** What the first file of the command loads, where it doesn't answer by itself. */
const loadedByStart = ['program', 'output'];

/**
 * The first file of the command, which answers `--version` without a second one.
 * @type {(outdir: string) => import('esbuild').BuildOptions}
 */
export const startBundle = (outdir) => ({
  entryPoints: ['src/cli/main.ts'],
  external: loadedByStart.map((name) => `./${name}.js`),
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  lineLimit: 120,
  logLevel: 'warning',
});

/**
 * All else of the command: bundled, since opening some hundred small files takes longer than most of what it does.
 * @type {(outdir: string) => import('esbuild').BuildOptions}
 */
export const cliBundle = (outdir) => ({
  entryPoints: loadedByStart.map((name) => `src/cli/${name}.ts`),
  // Where a state is in a database it is loaded from the packages: it is no part of what others start.
  external: ['pg'],
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
  plugins: [oneMatcher, usedOfMetrics, usedOfUndici, inLayers],
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
