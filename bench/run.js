// One run of a program in a process of its own, and what it took.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const peak = resolve('bench/peak.cjs');
const shown = 2000;

/**
 * @typedef {object} Program
 * @property {string[]} args What Node is given.
 * @property {string} [cwd]
 * @property {Record<string, string>} [env] Besides the search path.
 * @property {number} [code] What it ends with where all went well.
 */

/**
 * @typedef {object} Taken
 * @property {number} ms From before the process was started to its end.
 * @property {number} [rss] The most memory it had at once, in MB.
 * @property {number} [cpu] What processors worked for it, all threads together, in milliseconds.
 */

/**
 * Runs a program to its end. With `usage` a file is loaded first that writes down memory and processor time; it takes a
 * millisecond, which is much where only the start is measured.
 * @param {Program} program
 * @param {string} scratch Where what it prints is kept for a moment.
 * @param {{ usage: boolean }} options
 * @returns {Promise<Taken>}
 */
export async function run({ args, cwd = process.cwd(), env = {}, code = 0 }, scratch, { usage }) {
  const [out, err, used] = ['out', 'err', 'used'].map((name) => join(scratch, name));
  rmSync(used, { force: true });
  const files = [out, err].map((file) => openSync(file, 'w'));
  try {
    const start = performance.now();
    const child = spawn(process.execPath, [...(usage ? ['--require', peak] : []), ...args], {
      cwd,
      stdio: ['ignore', ...files],
      env: { PATH: process.env.PATH, HOME: scratch, ...env, ...(usage ? { BENCH_PEAK: used } : {}) },
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const ended = await new Promise((done, failed) => {
      child.once('error', failed);
      child.once('exit', (status, signal) => done(status ?? signal));
    }).finally(() => process.off('exit', kill));
    const ms = performance.now() - start;
    if (ended !== code) {
      const said = readFileSync(err, 'utf8').slice(-shown) || readFileSync(out, 'utf8').slice(-shown);
      throw new Error(`${args.join(' ')} ended with ${ended}, not ${code}:\n${said}`);
    }
    return tenths({ ms, ...(usage ? JSON.parse(readFileSync(used, 'utf8')) : {}) });
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** More digits tell nothing. */
function tenths(taken) {
  return Object.fromEntries(
    Object.entries(taken).map(([name, number]) => [name, Math.round(number * 10) / 10]),
  );
}
