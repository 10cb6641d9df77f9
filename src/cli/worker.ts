import { readFileSync } from 'node:fs';
import { withFile } from '../base/read-file.js';
import { type ResettableRedactor, resettableRedactor } from '../secrets/redactor.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { createContext, type GlobalOptions, type Streams } from './context.js';
import type { CommandFunction } from './declare.js';
import { type ExitCode, exit } from './exit.js';
import { showFailure } from './formats.js';
import type { Interrupt } from './interrupt.js';
import { formatsInArguments, valuesOf } from './misuse.js';
import { unwritableMessage } from './output.js';

/** Runs one command and returns its exit code; failures are printed. */
export async function runCommand<A extends unknown[], O>(
  argv: readonly string[],
  interrupt: Interrupt,
  streams: Streams,
  load: () => Promise<CommandFunction<A, O>>,
  options: O & GlobalOptions,
  args: A,
): Promise<ExitCode> {
  let code: ExitCode;
  const redactor = initialRedactor(argv, process.env);
  const context = createContext(options, interrupt.signal, redactor, streams, argv);
  interrupt.unfinishedRequests = context.unfinishedRequests;
  try {
    code = await (await load())(context, options, ...args);
  } catch (failure) {
    code = interrupt.signal.aborted ? exit.interrupted : exit.failed;
    const problems = await context.scrubProblems(problemsOf(failure));
    context.output.problems(problems);
    await showFailure(context, problems, formatsOf(options) ?? formatsInArguments(argv));
    context.output.debug(context.scrub(stacksOf(failure)));
  }
  await context.output.flush().catch((failure: unknown) => {
    if (!interrupt.signal.aborted) code = exit.failed;
    streams.stderr.write(unwritableMessage(failure));
  });
  return code;
}

/** The values of `--format`; undefined if the command line could not be parsed. */
function formatsOf(options: object): readonly string[] | undefined {
  return 'format' in options && Array.isArray(options.format) ? options.format.map(String) : undefined;
}

const MAX_TOKEN_BYTES = 64 * 1024;

/** A redactor with the tokens of `--token-file` and IDOPS_TOKEN, created before anything is printed. */
function initialRedactor(
  argv: readonly string[],
  variables: { readonly [name: string]: string | undefined },
): ResettableRedactor {
  const files = valuesOf(argv, '--token-file');
  const tokens = [variables.IDOPS_TOKEN, ...files.map(contentOf)].map((token = '') => token.trim());
  return resettableRedactor(tokens.filter((token) => token !== ''));
}

function contentOf(path: string): string | undefined {
  try {
    // A pipe can be read only once, so it is skipped.
    return withFile(path, (file, { size }) =>
      size <= MAX_TOKEN_BYTES ? readFileSync(file, 'utf8') : undefined,
    );
  } catch {
    return undefined;
  }
}
