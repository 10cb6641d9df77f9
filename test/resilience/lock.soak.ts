import { spawn } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../cleanups.js';
import { deadPid, holder } from './holder.js';

/** A process that takes locks on command. */
async function startTaker() {
  const module = pathToFileURL(resolve('dist/state/file/lock.js')).href;
  const child = spawn(process.execPath, [resolve('test/resilience/lock-taker.mjs'), module]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const readLine = async (): Promise<string> => String((await lines.next()).value);
  expect(await readLine()).toBe('ready');
  return async (words: string): Promise<string> => {
    child.stdin.write(`${words}\n`);
    return await readLine();
  };
}

it('one of many processes takes over a dead lock', async () => {
  const commands = await Promise.all(Array.from({ length: 12 }, startTaker));
  for (let round = 0; round < 10; round += 1) {
    const folder = await temporaryFolder('lock');
    const state = join(folder, 'state.json');
    await writeFile(`${state}.lock`, holder({ pid: await deadPid() }));
    const answers = await Promise.all(commands.map((command) => command(`take ${state}`)));
    expect(answers.filter((text) => text === 'took')).toHaveLength(1);
    expect(answers.filter((text) => text.startsWith('refused') && text.includes('apply by'))).toHaveLength(
      11,
    );
    await Promise.all(commands.map((command) => command('release')));
    expect(await readdir(folder)).toEqual([]);
  }
});
