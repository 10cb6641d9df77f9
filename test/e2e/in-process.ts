import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../../src/session/watch/repeat.js';
import type { Ran } from './running.js';

/** The folder and the variables of a command. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
}

export interface InProcessOptions {
  /** The clock of `watch`. */
  readonly clock?: Clock;
  /** Receives what the command writes, at once. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

type Program = typeof import('../../src/cli/program.js');

/** The command's code, bundled the same way, except for the line that calls `run`. */
const program = pathToFileURL(resolve('node_modules/.in-process/program.js')).href;

/** Node and its libraries read these only when they start. */
const readAtStart = /^(?:NODE_|UV_|SSL_|OPENSSL_|LC_|LANG$|TZ$)/;

let busy = false;
/** The signal listeners that existed before the command in this process. */
let others: ReadonlySet<unknown> = new Set();

/** Sends a signal to the command in this process. */
export function signal(name: 'SIGINT' | 'SIGTERM'): void {
  for (const listener of process.listeners(name)) if (!others.has(listener)) listener(name);
}

/**
 * Runs work in this process with another folder and other variables. Undefined if that would differ from a new process:
 * if other work runs this way now, or if a variable changes how Node starts.
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

/** Runs a command to its end in this process; undefined if that would differ from a new process. */
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

/** Changes the variables in place: system functions see them, but not a replaced object. */
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
