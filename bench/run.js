// Runs a program in its own process, and measures it.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const peak = resolve('bench/peak.cjs');

/**
 * @typedef {object} Program
 * @property {string[]} args The arguments of Node.
 * @property {string} [cwd]
 * @property {Record<string, string>} [env] Variables in addition to PATH.
 */

/**
 * Runs a program to its end.
 * @param {Program} program
 * @param {string} scratch A folder for its output, which is removed afterwards.
 * @returns {Promise<{ ms: number, rss: number, cpu: number }>} Wall time, peak memory in MB, and the processor time of all threads.
 */
export async function run({ args, cwd = process.cwd(), env = {} }, scratch) {
  const [out, err, used] = ['out', 'err', 'used'].map((name) => join(scratch, name));
  const files = [out, err].map((file) => openSync(file, 'w'));
  try {
    const start = performance.now();
    const child = spawn(process.execPath, ['--require', peak, ...args], {
      cwd,
      stdio: ['ignore', ...files],
      env: { PATH: process.env.PATH, HOME: scratch, ...env, BENCH_PEAK: used },
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const ended = await new Promise((done, failed) => {
      child.once('error', failed);
      child.once('exit', (status, signal) => done(status ?? signal));
    }).finally(() => process.off('exit', kill));
    const ms = performance.now() - start;
    if (ended !== 0) throw new Error(`${args.join(' ')} ended with ${ended}:\n${readFileSync(err, 'utf8')}`);
    return { ms, ...JSON.parse(readFileSync(used, 'utf8')) };
  } finally {
    for (const file of files) closeSync(file);
  }
}
