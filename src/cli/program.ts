import type { Command } from 'commander';
import { whyRefused } from '../base/errno.js';
import { error, type Problem } from '../base/problems.js';
import { withoutPasted, withoutPastedIn } from '../base/unsaid.js';
import { problemsText } from '../report/problems.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { helpAsOption, mistakeBeside } from './asked.js';
import { type Context, createContext, type GlobalOptions, type Streams } from './context.js';
import { declare, type Work } from './declare.js';
import { exit } from './exit.js';
import { tellPrograms } from './formats.js';
import { onInterrupt } from './interrupt.js';
import { knownAtStart } from './known.js';
import { Ended, endQuietly, formatsAsked, misuse } from './misuse.js';

/**
 * Runs a command line with a process's streams and gives the exit code. Never throws: what goes wrong is printed on
 * standard error.
 */
export async function run(argv: readonly string[], streams: Streams): Promise<number> {
  let code: number = exit.done;
  const interrupt = onInterrupt();
  const redactor = knownAtStart(argv, process.env);
  // A token that was typed into the wrong place must not come back in what is wrong with it.
  const unsaid = (text: string): string =>
    withoutPasted(argv, (word) => (redactor.holds(word) ? redactor.redact(word) : word))(text);

  /** Shows what is wrong, without the credentials that were typed into the wrong place. */
  const tell = async (
    context: Context,
    found: readonly Problem[],
    formats: readonly string[],
  ): Promise<void> => {
    await context.learnTokens();
    const problems = withoutPastedIn(found, argv, redactor);
    context.output.problems(problems);
    await tellPrograms(context, problems, formats);
  };

  /** Loads a command when it is used, gives it a context, and shows what goes wrong in it. */
  const action =
    <A extends unknown[], O>(load: () => Promise<Work<A, O>>) =>
    async (...all: unknown[]): Promise<void> => {
      const command = all.at(-1) as Command;
      const options = command.optsWithGlobals<O & GlobalOptions>();
      const context = createContext(options, interrupt.signal, redactor, streams);
      interrupt.lastWords = context.lastWords;
      try {
        const work = await load();
        code = await work(context, options, ...(all.slice(0, -2) as A));
      } catch (failure) {
        code = interrupt.signal.aborted ? exit.interrupted : exit.failed;
        await tell(context, problemsOf(failure), formatsOf(options));
        context.output.debug(unsaid(stacksOf(failure)));
      }
      await context.output.flush().catch((failure: unknown) => {
        if (!interrupt.signal.aborted) code = exit.failed;
        streams.stderr.write(unwritable(failure));
      });
    };

  const watched = watchStreams(streams);
  const program = declare(action);
  endQuietly(program, streams);
  let parsed = program;
  try {
    const line = helpAsOption(argv, program);
    const probe = declare(() => async () => {});
    const mistake = await mistakeBeside(line, probe);
    if (mistake !== undefined) {
      parsed = probe;
      throw mistake;
    }
    await program.parseAsync(line, { from: 'user' });
  } catch (failure) {
    if (!(failure instanceof Ended)) throw failure;
    code = failure.failure.exitCode === 0 ? exit.done : exit.failed;
    const problems = misuse(failure);
    if (problems.length > 0) {
      const context = createContext(parsed.opts<GlobalOptions>(), interrupt.signal, redactor, streams);
      await tell(context, problems, formatsAsked(argv));
      await context.output.flush().catch(() => {});
    }
    // What commander wrote may be under way still.
    await new Promise<void>((done) => streams.stdout.write('', () => done()));
    if (watched.failure !== null) {
      code = exit.failed;
      streams.stderr.write(unwritable(watched.failure));
    }
  } finally {
    interrupt.release();
  }
  return code;
}

/** What help and the version are written with: they don't go through a command's own output. */
function watchStreams({ stdout, stderr }: Streams): { readonly failure: Error | null } {
  const watched: { failure: Error | null } = { failure: null };
  const failed = (failure: NodeJS.ErrnoException): void => {
    // A reader that went away, as `head` does, is no mistake.
    if (failure.code !== 'EPIPE') watched.failure = failure;
  };
  stdout.on('error', failed);
  stderr.on('error', () => {});
  return watched;
}

function unwritable(failure: unknown): string {
  const hint = 'make room, or send it elsewhere; what the command did is done';
  const problem = error('not-writable', `standard output can't be written: ${whyRefused(failure)}`, [], hint);
  return problemsText([problem], { color: false });
}

/** What `--format` says, of whatever command. */
function formatsOf(options: object): readonly string[] {
  return 'format' in options && Array.isArray(options.format) ? options.format.map(String) : [];
}
