// What commands cost in figures that are the same on every machine. `npm run figures` writes them into bench/figures.json, and a test
// compares.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { organizations, users, write } from './projects.js';
import { sending } from './sending.js';
import { serve } from './serving.js';

export const figuresFile = 'bench/figures.json';
/** How much a size may grow before somebody has to say that it may. */
const margin = 0.02;

const cli = resolve('dist/cli/main.js');
const log = resolve('bench/log.cjs');
const number = 200;
/** The functions that are called once for each file, and once for each document. */
const counted = { 'files parsed': 'parsing', 'documents read': 'readDocument' };

/**
 * @typedef {{ exact: Record<string, number>, size: Record<string, number> }} Figures `exact` ones have to stay, the
 *   others may change by less than the margin.
 */

/** @returns {Promise<Figures>} */
export async function figures() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'idops-figures-')));
  try {
    const requests = await sent(folder);
    const [start, bundles] = [await started(folder), await bundled()];
    const validating = await validated(folder);
    return {
      exact: { ...requests, ...(await sending(folder)), ...validating.exact },
      size: { ...start, ...validating.size, ...bundles },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is wrong with the figures, in sentences. */
export function worse(now, committed) {
  const wrong = [];
  for (const name of new Set([...Object.keys(committed.exact), ...Object.keys(now.exact)])) {
    const [is, was] = [now.exact[name], committed.exact[name]];
    if (is !== was) wrong.push(`${name}: ${is ?? 'no longer there'}, committed ${was ?? 'is none'}`);
  }
  for (const name of new Set([...Object.keys(committed.size), ...Object.keys(now.size)])) {
    const [is, was] = [now.size[name], committed.size[name]];
    if (is === undefined || was === undefined) {
      wrong.push(`${name}: ${is ?? 'no longer there'}, committed ${was ?? 'is none'}`);
    } else if (is > was * (1 + margin)) {
      wrong.push(`${name}: ${is}, committed ${was}, which may grow by ${margin * 100} %`);
    } else if (is < was * (1 - margin)) {
      wrong.push(`${name}: ${is}, committed ${was}: npm run figures keeps it from growing again`);
    }
  }
  return wrong;
}

/** How many requests each scenario sends in its small size: the quick run of the whole suite. */
async function sent(folder) {
  const file = join(folder, 'quick.json');
  await promisify(execFile)(process.execPath, ['bench/main.js', '--quick', '--json', file]);
  const found = {};
  for (const [letter, { results }] of Object.entries(JSON.parse(readFileSync(file, 'utf8')).scenarios)) {
    for (const { name, sent: counts } of results) {
      if (counts === undefined) continue;
      if (counts.length > 1)
        throw new Error(`(${letter}) ${name} sent ${counts.join(' and then ')} requests`);
      found[`requests of (${letter}) ${name}`] = counts[0];
    }
  }
  return found;
}

/** The files of dist that a command loads, and their bytes. */
async function started(folder) {
  const { files, seed } = organizations(10, 0);
  const cwd = join(folder, 'small');
  write(cwd, files);
  const server = await serve(folder, { seed });
  try {
    const found = {};
    for (const command of ['--version', '--help', 'validate', 'plan']) {
      const env = { IDOPS_BASE_URL: server.url, IDOPS_TOKEN: server.token };
      const scripts = await covered(folder, [cli, command], { cwd, env });
      const bytes = [...scripts.keys()].reduce((sum, file) => sum + statSync(file).size, 0);
      found[`modules loaded by ${command}`] = scripts.size;
      found[`bytes loaded by ${command}`] = bytes;
    }
    return found;
  } finally {
    await server.close();
  }
}

/** What validating some users reads and parses. */
async function validated(folder) {
  const cwd = join(folder, `users-${number}`);
  const { 'manifests/0000.yaml': text, ...rest } = users(number, 'boruta').files;
  const documents = text.split('---\n');
  const half = documents.length / 2;
  write(cwd, {
    ...rest,
    'manifests/a.yaml': documents.slice(0, half).join('---\n'),
    'manifests/b.yaml': documents.slice(half).join('---\n'),
  });
  const noted = join(folder, `reads-${number}.jsonl`);
  const args = ['--require', log, cli, 'validate'];
  const scripts = await covered(folder, args, { cwd, env: { BENCH_LOG: noted, BENCH_FOLDER: cwd } });
  const lines = readFileSync(noted, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const calls = new Map();
  let all = 0;
  for (const functions of scripts.values()) {
    for (const { name, count } of functions) {
      // A bundle numbers those that are called alike.
      const plain = name.replace(/\d+$/, '');
      calls.set(plain, (calls.get(plain) ?? 0) + count);
      all += count;
    }
  }
  const exact = {
    [`bytes read to validate ${number} users`]: lines.reduce((sum, { bytes }) => sum + bytes, 0),
    [`files read to validate ${number} users`]: lines.filter(({ bytes }) => bytes > 0).length,
  };
  for (const [what, name] of Object.entries(counted)) {
    if (!calls.has(name))
      throw new Error(`no function is called ${name}: name the one for "${what}" in bench/figures.js`);
    exact[`${what} to validate ${number} users`] = calls.get(name);
  }
  return { exact, size: { [`function calls to validate ${number} users`]: all } };
}

/** Runs a command, and gives the functions of each file of dist that it loaded, with the number of their calls. */
async function covered(folder, args, { cwd, env }) {
  const coverage = mkdtempSync(join(folder, 'coverage-'));
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: 'ignore',
    // What a cache holds compiled is not counted whole.
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      ...env,
      NODE_V8_COVERAGE: coverage,
      NODE_DISABLE_COMPILE_CACHE: '1',
    },
  });
  const code = await new Promise((done) => child.once('exit', done));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  const scripts = new Map();
  for (const name of readdirSync(coverage)) {
    for (const { url, functions } of JSON.parse(readFileSync(join(coverage, name), 'utf8')).result) {
      if (!url.startsWith('file:')) continue;
      const file = fileURLToPath(url);
      if (!file.startsWith(resolve('dist'))) continue;
      const found = functions.map(({ functionName, ranges }) => ({
        name: functionName,
        count: ranges[0].count,
      }));
      scripts.set(file, [...(scripts.get(file) ?? []), ...found]);
    }
  }
  return scripts;
}

/** The bytes of the command's entry with what it imports at once, of all its files, and of the action. */
async function bundled() {
  const { metafile } = await build({
    entryPoints: [cli],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'unwritten',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const entry = 'dist/cli/main.js';
  const atOnce = new Set([entry]);
  for (const file of atOnce) {
    for (const { path, kind, external } of metafile.inputs[file]?.imports ?? []) {
      if (kind === 'import-statement' && !external) atOnce.add(path);
    }
  }
  const bytes = (files) => [...files].reduce((sum, file) => sum + statSync(file).size, 0);
  const scripts = readdirSync('dist/cli').filter((name) => name.endsWith('.js'));
  return {
    'bytes of the command with what it imports at once': bytes(atOnce),
    'bytes of all of the command': bytes(scripts.map((name) => join('dist/cli', name))),
    'bytes of the action': bytes(['dist/action.js']),
  };
}
