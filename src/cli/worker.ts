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

/** What a command line that asks for more than help is carried out with. */
export interface Worker {
  /** Loads a command, gives it a context, and shows what goes wrong in it. */
  work<A extends unknown[], O>(
    load: () => Promise<Work<A, O>>,
    options: O & GlobalOptions,
    args: A,
  ): Promise<ExitCode>;
  /** Shows what is wrong with the command line itself. */
  misused(problems: readonly Problem[], options: GlobalOptions): Promise<void>;
}

export function createWorker(argv: readonly string[], interrupt: Interrupt, streams: Streams): Worker {
  const redactor = knownAtStart(argv, process.env);
  const contextOf = (options: GlobalOptions): Context =>
    createContext(options, interrupt.signal, redactor, streams, argv);

  /** Shows what is wrong, without the credentials that were typed into the wrong place. */
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

/** What `--format` says, of whatever command. */
function formatsOf(options: object): readonly string[] {
  return 'format' in options && Array.isArray(options.format) ? options.format.map(String) : [];
}

/** More than any token has. */
const mostBytes = 64 * 1024;

/** A redactor that knows the tokens that a command line and its variables give, before anything is said of either. */
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

/** What a token file holds; what is wrong with it is told where it is used. */
function contentOf(path: string): string | undefined {
  try {
    // Not a pipe: it gives its token only once.
    return withFile(path, (file, { size }) => (size <= mostBytes ? readFileSync(file, 'utf8') : undefined));
  } catch {
    return undefined;
  }
}
