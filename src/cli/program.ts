import type { Command } from 'commander';
import type { GlobalOptions, Streams } from './context.js';
import { declare, type Work } from './declare.js';
import { exit } from './exit.js';
import { onInterrupt } from './interrupt.js';
import { Ended, endQuietly, misuse } from './misuse.js';
import type { Worker } from './worker.js';

/**
 * Runs a command line and returns the exit code. Never throws: failures are printed on standard error.
 */
export async function run(argv: readonly string[], streams: Streams): Promise<number> {
  let code: number = exit.done;
  const interrupt = onInterrupt();
  let opened: Promise<Worker> | undefined;
  // Loaded on use: help and the version need none of it.
  const worker = (): Promise<Worker> => {
    opened ??= import('./worker.js').then(({ createWorker }) => createWorker(argv, interrupt, streams));
    return opened;
  };

  const action =
    <A extends unknown[], O>(load: () => Promise<Work<A, O>>) =>
    async (...all: unknown[]): Promise<void> => {
      const command = all.at(-1) as Command;
      const options = command.optsWithGlobals<O & GlobalOptions>();
      code = await (await worker()).work(load, options, all.slice(0, -2) as A);
    };

  const watched = watchStreams(streams);
  const program = declare(action);
  endQuietly(program, streams);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (failure) {
    if (!(failure instanceof Ended)) throw failure;
    code = failure.failure.exitCode === 0 ? exit.done : exit.failed;
    const problems = misuse(failure);
    if (problems.length > 0) await (await worker()).misused(problems, program.opts<GlobalOptions>());
    // Wait for what commander wrote.
    await new Promise<void>((done) => streams.stdout.write('', () => done()));
    if (watched.failure !== null) {
      code = exit.failed;
      streams.stderr.write((await import('./output.js')).unwritable(watched.failure));
    }
  } finally {
    interrupt.release();
  }
  return code;
}

/** Notices failures of writing help and the version, which bypass a command's output. */
function watchStreams({ stdout, stderr }: Streams): { readonly failure: Error | null } {
  const watched: { failure: Error | null } = { failure: null };
  const failed = (failure: NodeJS.ErrnoException): void => {
    // A closed pipe, as with `head`, is no failure.
    if (failure.code !== 'EPIPE') watched.failure = failure;
  };
  stdout.on('error', failed);
  stderr.on('error', () => {});
  return watched;
}
