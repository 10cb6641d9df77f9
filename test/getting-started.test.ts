import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

interface Block {
  readonly secondTerminal: boolean;
  readonly commands: string;
}

/** What a reader of a page types, in its order. */
function typed(page: string): Block[] {
  return [...page.matchAll(/^```sh( second-terminal)?\n([\s\S]*?)^```$/gm)].map(
    ([, second, commands = '']) => ({
      secondTerminal: second !== undefined,
      commands,
    }),
  );
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A folder with nothing in it, and the command `idops` on the path. */
async function beginner(): Promise<{ readonly folder: string; readonly env: NodeJS.ProcessEnv }> {
  const folder = await mkdtemp(join(tmpdir(), 'idops-beginner-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const home = await mkdtemp(join(tmpdir(), 'idops-home-'));
  cleanups.push(() => rm(home, { recursive: true, force: true }));
  const command = join(home, 'idops');
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${resolve('dist/cli/main.js')}" "$@"\n`);
  await chmod(command, 0o755);
  return {
    folder,
    env: { PATH: `${home}${delimiter}${process.env.PATH}`, HOME: home, GIT_CONFIG_NOSYSTEM: '1' },
  };
}

/** Runs commands to their end, or to the first that fails. */
function shell(commands: string, folder: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  child.stdin.end();
  return new Promise((done) => child.on('close', (code) => done({ code, output })));
}

/** Starts what the second terminal is for, and gives the `export` lines that it prints. */
async function secondTerminal(commands: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child: ChildProcess = spawn('bash', ['-c', `exec ${commands}`], { cwd: folder, env });
  const ended = new Promise((done) => child.on('close', done));
  cleanups.push(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let output = '';
  return await new Promise((done, failed) => {
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      const lines = output.match(/^export .+\n/gm) ?? [];
      if (lines.length === 2) done(lines.join(''));
    });
    child.on('close', () => failed(new Error(`the server has ended: ${output}`)));
  });
}

describe('the page for beginners', async () => {
  const page = await readFile('docs/getting-started.md', 'utf8');

  // The page is about one of the two; with the other it must work as well.
  test.each(['boruta', 'documented'])('works as it stands, with the profile %s', async (profile) => {
    const { folder, env } = await beginner();
    const blocks = typed(page.replaceAll('boruta\n', `${profile}\n`));
    expect(blocks.filter((block) => block.secondTerminal)).toHaveLength(1);
    let exports = '';
    const commands: string[] = [];
    for (const block of blocks) {
      if (block.secondTerminal) exports = await secondTerminal(block.commands, folder, env);
      else commands.push(`echo "## ${commands.length}"`, block.commands);
    }
    const { code, output } = await shell(`${exports}${commands.join('\n')}`, folder, env);
    expect(code, output).toBe(0);
    // What the page shows of the output is what comes.
    const shown = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    expect(shown).toHaveLength(1);
    for (const text of shown) expect(output).toContain(text);
    expect(output).toContain('Nothing to change');
    // What isn't for git stays out of it.
    expect(output.split('## ').at(-1)).not.toMatch(/\.idops|plan\.json|preview\.html/);
    expect(output.split('## ').at(-1)).toContain('A  idops.yaml');
  });
});
