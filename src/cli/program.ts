import type { Command } from 'commander';
import type { GlobalOptions, Streams } from './context.js';
import { type CommandFunction, declare } from './declare.js';
import { exit } from './exit.js';
import { onInterrupt } from './interrupt.js';
import { CommanderExit, throwInsteadOfExit, usageError } from './misuse.js';

/** Runs a command line and returns the exit code. Never throws: failures are printed on standard error. */
export async function run(argv: readonly string[], streams: Streams): Promise<number> {
  let code: number = exit.done;
  const interrupt = onInterrupt();
  // Loaded on use, since help and the version don't need it.
  const work = async <A extends unknown[], O>(
    load: () => Promise<CommandFunction<A, O>>,
    options: O & GlobalOptions,
    args: A,
  ): Promise<void> => {
    code = await (await import('./worker.js')).runCommand(argv, interrupt, streams, load, options, args);
  };
  const action =
    <A extends unknown[], O>(load: () => Promise<CommandFunction<A, O>>) =>
    async (...all: unknown[]): Promise<void> => {
      const command = all.at(-1) as Command;
      await work(load, command.optsWithGlobals<O & GlobalOptions>(), all.slice(0, -2) as A);
    };

  const watchedStreams = watchStreams(streams);
  const program = declare(action);
  throwInsteadOfExit(program, streams);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (failure) {
    if (!(failure instanceof CommanderExit)) throw failure;
    code = failure.failure.exitCode === 0 ? exit.done : exit.failed;
    const wrong = usageError(failure);
    if (wrong !== undefined) await work(() => Promise.reject(wrong), program.opts<GlobalOptions>(), []);
    // Waits until the output of commander is written.
    await new Promise<void>((done) => streams.stdout.write('', () => done()));
    if (watchedStreams.failure !== null) {
      code = exit.failed;
      streams.stderr.write((await import('./output.js')).unwritableMessage(watchedStreams.failure));
    }
  } finally {
    interrupt.release();
  }
  return code;
}

/** Records failures of writing help and the version, which commander writes itself. */
function watchStreams({ stdout, stderr }: Streams): { readonly failure: Error | null } {
  const watched: { failure: Error | null } = { failure: null };
  const failed = (failure: NodeJS.ErrnoException): void => {
    // A closed pipe, as with `head`, is not a failure.
    if (failure.code !== 'EPIPE') watched.failure = failure;
  };
  stdout.on('error', failed);
  stderr.on('error', () => {});
  return watched;
}
