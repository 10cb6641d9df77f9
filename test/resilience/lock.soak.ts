import { spawn } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../cleanups.js';
import { deadPid, holder } from './holder.js';

/** A process that takes locks on command. */
async function taker() {
  const module = pathToFileURL(resolve('dist/state/file/lock.js')).href;
  const child = spawn(process.execPath, [resolve('test/resilience/taker.mjs'), module]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hear = async (): Promise<string> => String((await lines.next()).value);
  expect(await hear()).toBe('ready');
  return async (words: string): Promise<string> => {
    child.stdin.write(`${words}\n`);
    return await hear();
  };
}

it('one of many processes takes over a dead lock', async () => {
  const takers = await Promise.all(Array.from({ length: 12 }, taker));
  for (let round = 0; round < 10; round += 1) {
    const folder = await temporaryFolder('lock');
    const state = join(folder, 'state.json');
    await writeFile(`${state}.lock`, holder({ pid: await deadPid() }));
    const said = await Promise.all(takers.map((tell) => tell(`take ${state}`)));
    expect(said.filter((text) => text === 'took')).toHaveLength(1);
    expect(said.filter((text) => text.startsWith('refused') && text.includes('apply by'))).toHaveLength(11);
    await Promise.all(takers.map((tell) => tell('release')));
    expect(await readdir(folder)).toEqual([]);
  }
});
