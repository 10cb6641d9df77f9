import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../../src/session/watch/repeat.js';
import type { Ran } from './running.js';

/** Where a command runs and what it is given. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
}

export interface InProcessOptions {
  /** What `watch` waits by. */
  readonly clock?: Clock;
  /** Gets what the command writes, as soon as it does. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

type Program = typeof import('../../src/cli/program.js');

/** The same code as the command's, bundled the same way, but for the line that calls `run`. */
const program = pathToFileURL(resolve('node_modules/.in-process/program.js')).href;

/** Node and the libraries below it read these when they start, so that they mean nothing later. */
const readAtStart = /^(?:NODE_|UV_|SSL_|OPENSSL_|LC_|LANG$|TZ$)/;

let busy = false;
/** What listened before the command that runs in this process did. */
let others: ReadonlySet<unknown> = new Set();

/** Does what a signal does to the command that runs in this process. */
export function signal(name: 'SIGINT' | 'SIGTERM'): void {
  for (const listener of process.listeners(name)) if (!others.has(listener)) listener(name);
}

/**
 * Does something in this process with the folder and the variables of one of its own. Undefined where it can't be told
 * from one that way: where something else is done so, or where a variable says how Node starts.
 */
export function inSurroundings<T>(
  { cwd, env }: Surroundings,
  work: () => Promise<T>,
): Promise<T> | undefined {
  if (busy || Object.keys(env).some((name) => readAtStart.test(name))) return undefined;
  busy = true;
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const surrounded = async (): Promise<T> => {
    try {
      process.chdir(cwd);
      setVariables(env);
      return await work();
    } finally {
      setVariables(before.env);
      process.chdir(before.cwd);
      busy = false;
    }
  };
  return surrounded();
}

/** Runs a command to its end in this process; undefined where that can't be told from one of its own. */
export function runInProcess(
  args: readonly string[],
  surroundings: Surroundings,
  { clock, onOutput }: InProcessOptions = {},
): Promise<Ran> | undefined {
  return inSurroundings(surroundings, async () => {
    others = new Set([...process.listeners('SIGINT'), ...process.listeners('SIGTERM')]);
    const { run } = (await import(/* @vite-ignore */ program)) as Program;
    const stdout = collecting((text) => onOutput?.('stdout', text));
    const stderr = collecting((text) => onOutput?.('stderr', text));
    const stdin = Readable.from([]);
    const code = await run(args, { stdin, stdout: stdout.stream, stderr: stderr.stream, clock });
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  });
}

/** Changes the variables themselves, which the system's functions see, not the object that shows them. */
function setVariables(env: Surroundings['env']): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}

function collecting(onText: (text: string) => void): { readonly stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      onText(chunk.toString('utf8'));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
