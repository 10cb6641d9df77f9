// How many requests a command has in flight, and how often it flushes its journal. Unlike times, these are the same on every machine.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { email, organizations, templates, write } from './projects.js';

const cli = resolve('dist/cli/main.js');
const log = resolve('bench/log.cjs');
const number = 30;
const listed = 2600;
/** How long to wait for unexpected further requests, in milliseconds. */
const settled = 200;
/** How long to wait for the expected requests after the first one, in milliseconds; then the lower figure is reported. */
const patience = 60_000;

/**
 * @typedef {object} Held
 * @property {number} expected How many requests to hold before all are answered.
 * @property {(request: { method: string, path: string }) => boolean} is Which requests to hold.
 */

/** @returns {Promise<Record<string, number>>} */
export async function sending(folder) {
  const changed = organizations(number, number);
  const same = organizations(listed, 0);
  const emails = Array.from({ length: number }, (_, index) => email(2000, `number ${index}`));
  const declared = templates(emails.map((written) => ({ live: written, declared: written })));
  const reads = ({ method, path }) => method === 'GET' && path.includes('/email-templates/');
  const writes = ({ method }) => method !== 'GET';
  const pages = ({ path }) => /[?&]page=(?!1\b)/.test(path);
  const most = async (name, { files, seed }, args, held) => {
    const cwd = join(folder, name);
    write(cwd, files);
    return await inFlight({ cwd, seed, args, held });
  };
  return {
    [`in flight of plan of ${number} templates`]: await most('reads', declared, ['plan'], {
      expected: 10,
      is: reads,
    }),
    [`in flight of plan of ${number} templates, --concurrency 3`]: await most(
      'few',
      declared,
      ['plan', '--concurrency', '3'],
      { expected: 3, is: reads },
    ),
    [`in flight of plan of ${listed} organizations`]: await most('pages', same, ['plan'], {
      expected: Math.ceil(listed / 500) - 1,
      is: pages,
    }),
    [`in flight of apply of ${number} organizations`]: await most('writes', changed, ['apply', '--yes'], {
      expected: 10,
      is: writes,
    }),
    [`flushes of the journal of ${number} changes, one after the other`]: await flushes(folder, changed),
  };
}

/** The most held requests of a command that were in flight at once. */
async function inFlight({ cwd, seed, args, held: { expected, is } }) {
  let open = false;
  let waiting = 0;
  let come;
  const came = new Promise((done) => {
    come = done;
  });
  let opened;
  const opening = () =>
    Promise.race([came.then(() => wait(settled)), wait(patience, undefined, { ref: false })]).then(() => {
      open = true;
    });
  await withSandbox(
    {
      seed,
      intercept: async (request) => {
        if (open || !is(request)) return undefined;
        waiting += 1;
        opened ??= opening();
        if (waiting === expected) come();
        await opened;
        return undefined;
      },
    },
    (env) => finished(args, { cwd, env }),
  );
  return waiting;
}

async function flushes(folder, { files, seed }) {
  const cwd = join(folder, 'flushes');
  write(cwd, files);
  const noted = join(folder, 'flushes.jsonl');
  await withSandbox({ seed }, (env) =>
    finished(['apply', '--yes', '--concurrency', '1'], {
      cwd,
      env: { ...env, BENCH_LOG: noted, BENCH_FOLDER: cwd },
      before: ['--require', log],
    }),
  );
  const flushed = readFileSync(noted, 'utf8').trimEnd().split('\n');
  return flushed.filter((file) => file.endsWith('.jsonl')).length;
}

async function withSandbox(options, work) {
  const { startSandbox } = await import('../dist/sandbox/index.js');
  const sandbox = await startSandbox(options);
  try {
    return await work({ IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token });
  } finally {
    await sandbox.close();
  }
}

async function finished(args, { cwd, env, before = [] }) {
  const child = spawn(process.execPath, [...before, cli, ...args], {
    cwd,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
  });
  const code = await new Promise((done) => child.once('exit', done));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}
