import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterwards, temporaryFolder } from './cleanups.js';
import { runInProcess } from './e2e/in-process.js';
import { cli } from './e2e/running.js';

interface Block {
  readonly secondTerminal: boolean;
  readonly commands: string;
}

/** The commands that a reader of a page types, in order. */
function typed(page: string): Block[] {
  return [...page.matchAll(/^```sh( second-terminal)?\n([\s\S]*?)^```$/gm)].map(
    ([, second, commands = '']) => ({ secondTerminal: second !== undefined, commands }),
  );
}

/** The commands of a block; a here-document is one command. */
function steps(commands: string): string[] {
  return commands.match(/^.*<<'END'\n[\s\S]*?^END$|^.+$/gm) ?? [];
}

/** A terminal in an empty folder. */
class Terminal {
  readonly env: { [name: string]: string | undefined };
  output = '';
  cwd: string;

  constructor(folder: string) {
    this.cwd = folder;
    this.env = { PATH: process.env.PATH, HOME: folder };
  }

  /** Runs a command, which must succeed: `idops` in this process, others in a shell. */
  async type(command: string): Promise<void> {
    const [word, ...words] = command.split(' ');
    if (word === 'cd') this.cwd = join(this.cwd, words.join(' '));
    else if (word === 'idops') {
      const ran = await runInProcess(words, this);
      this.output += `${ran?.stdout}${ran?.stderr}`;
      expect(ran?.code, `${command}\n${ran?.stderr}`).toBe(0);
    } else {
      const child = spawn('bash', ['-euo', 'pipefail', '-c', command], { cwd: this.cwd, env: this.env });
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          this.output += chunk;
        });
      }
      expect(await new Promise((done) => child.on('close', done)), command).toBe(0);
    }
  }
}

/** Starts the command of the second terminal, and returns the variables that it prints for export. */
async function secondTerminal(command: string, cwd: string): Promise<{ [name: string]: string }> {
  const [word, ...words] = command.trim().split(' ');
  expect(word).toBe('idops');
  const child: ChildProcess = spawn(process.execPath, [cli, ...words], { cwd });
  const ended = new Promise((done) => child.on('close', done));
  afterwards(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let output = '';
  return await new Promise((done, failed) => {
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      const found = [...output.matchAll(/^export (\w+)=(.+)\n/gm)].map(([, name, value]) => [name, value]);
      if (found.length === 2) done(Object.fromEntries(found));
    });
    child.on('close', () => failed(new Error(`the server has ended: ${output}`)));
  });
}

describe('the page for beginners', async () => {
  const page = await readFile('docs/tutorial/getting-started.md', 'utf8');

  // The page uses one profile, but its commands must work with the other too.
  test.each(['boruta', 'documented'])('works as written, with the profile %s', async (profile) => {
    const folder = await temporaryFolder('beginner');
    const terminal = new Terminal(folder);
    const blocks = typed(page.replaceAll('boruta\n', `${profile}\n`));
    expect(blocks.filter((block) => block.secondTerminal)).toHaveLength(1);
    for (const block of blocks) {
      if (block.secondTerminal) Object.assign(terminal.env, await secondTerminal(block.commands, folder));
      else for (const step of steps(block.commands)) await terminal.type(step);
    }
    // The output on the page matches.
    const shown = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    expect(shown).toHaveLength(1);
    for (const text of shown) expect(terminal.output).toContain(text);
    expect(terminal.output).toContain('Nothing to change');
    // Files that don't belong in git aren't added.
    const inGit = terminal.output.slice(terminal.output.indexOf('A  '));
    expect(inGit).toContain('A  idops.yaml');
    expect(inGit).not.toMatch(/\.idops|plan\.json|preview\.html/);
  });
});
