// The esbuild options for the bundles of the command and the action.
import { readFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';

// Some packages still use `require`, which ES modules lack.
const banner = {
  js: "import { createRequire as idopsRequire } from 'node:module'; const require = idopsRequire(import.meta.url);",
};

/**
 * Keeps one copy of the glob matcher: fdir requires another at run time, for a method that isn't used.
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
 * Bundles only the used parts of prom-client: its index also loads clusters, push gateways and Node's metrics. A name that is missing here fails the build.
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
 * Bundles only the used parts of undici: its index also loads fetch, WebSocket, caches and mocks, a tenth of a small plan's processor time. A name
 * that is missing here fails the build.
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

/** Modules in loading order, the same for every command: a layer is loaded after all layers above it. */
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
 * Makes esbuild write fewer chunks, because opening a tiny file takes as long as a large one. esbuild puts modules that the
 * same entries reach into one chunk, so each entry imports what was loaded before it.
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

/** Files that main.js loads, unless it can answer without them. */
const loadedByStart = ['program', 'output'];

/**
 * The first file of the command, which answers `--version` without loading others.
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
 * The rest of the command, bundled, because opening some hundred small files takes longer than most commands.
 * @type {(outdir: string) => import('esbuild').BuildOptions}
 */
export const cliBundle = (outdir) => ({
  entryPoints: loadedByStart.map((name) => `src/cli/${name}.ts`),
  // Only a state in PostgreSQL needs pg, so it is loaded from its package.
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
 * The action: a single file, because the runner installs nothing, and reproducible on every machine.
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
  // One copy of packages that others depend on in several versions.
  alias: { undici: './node_modules/undici/index.js' },
  plugins: [
    {
      name: 'unused-parts-of-the-toolkit',
      setup({ onResolve, resolve }) {
        // OpenID Connect tokens and commands aren't used, so their dependencies are omitted.
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
