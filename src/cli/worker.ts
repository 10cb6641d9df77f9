import { readFileSync } from 'node:fs';
import type { Problem } from '../base/problems.js';
import { withFile } from '../base/read-file.js';
import { type ResettableRedactor, resettableRedactor } from '../secrets/redactor.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { type Context, createContext, type GlobalOptions, type Streams } from './context.js';
import type { Work } from './declare.js';
import { type ExitCode, exit } from './exit.js';
import { tellPrograms } from './formats.js';
import type { Interrupt } from './interrupt.js';
import { formatsAsked } from './misuse.js';
import { unwritable } from './output.js';

/** Runs commands, after the command line was parsed. */
export interface Worker {
  /** Loads and runs a command, and shows its failure. */
  work<A extends unknown[], O>(
    load: () => Promise<Work<A, O>>,
    options: O & GlobalOptions,
    args: A,
  ): Promise<ExitCode>;
  /** Shows problems of the command line. */
  misused(problems: readonly Problem[], options: GlobalOptions): Promise<void>;
}

export function createWorker(argv: readonly string[], interrupt: Interrupt, streams: Streams): Worker {
  const redactor = knownAtStart(argv, process.env);
  const contextOf = (options: GlobalOptions): Context =>
    createContext(options, interrupt.signal, redactor, streams, argv);

  const tell = async (
    context: Context,
    found: readonly Problem[],
    formats: readonly string[],
  ): Promise<void> => {
    const problems = await context.tellable(found);
    context.output.problems(problems);
    await tellPrograms(context, problems, formats);
  };

  return {
    async work(load, options, args) {
      let code: ExitCode;
      const context = contextOf(options);
      interrupt.lastWords = context.lastWords;
      try {
        const work = await load();
        code = await work(context, options, ...args);
      } catch (failure) {
        code = interrupt.signal.aborted ? exit.interrupted : exit.failed;
        await tell(context, problemsOf(failure), formatsOf(options));
        context.output.debug(context.scrub(stacksOf(failure)));
      }
      await context.output.flush().catch((failure: unknown) => {
        if (!interrupt.signal.aborted) code = exit.failed;
        streams.stderr.write(unwritable(failure));
      });
      return code;
    },
    async misused(problems, options) {
      const context = contextOf(options);
      await tell(context, problems, formatsAsked(argv));
      await context.output.flush().catch(() => {});
    },
  };
}

function formatsOf(options: object): readonly string[] {
  return 'format' in options && Array.isArray(options.format) ? options.format.map(String) : [];
}

const MAX_TOKEN_BYTES = 64 * 1024;

/** A redactor with the tokens of the command line and of variables, made before anything is printed. */
export function knownAtStart(
  argv: readonly string[],
  variables: { readonly [name: string]: string | undefined },
): ResettableRedactor {
  const file = argv.flatMap((word, index) =>
    word === '--token-file'
      ? argv.slice(index + 1, index + 2)
      : word.startsWith('--token-file=')
        ? [word.slice(word.indexOf('=') + 1)]
        : [],
  );
  const tokens = [variables.IDOPS_TOKEN, ...file.map(contentOf)].map((token = '') => token.trim());
  return resettableRedactor(tokens.filter((token) => token !== ''));
}

/** The content of a token file; errors are reported on use. */
function contentOf(path: string): string | undefined {
  try {
    // Not a pipe, which can be read only once.
    return withFile(path, (file, { size }) =>
      size <= MAX_TOKEN_BYTES ? readFileSync(file, 'utf8') : undefined,
    );
  } catch {
    return undefined;
  }
}
