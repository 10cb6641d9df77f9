import { contributionsText } from '../../report/contributions.js';
import { validationReport } from '../../report/formats.js';
import { explain } from '../../session/explain.js';
import { validateProject } from '../../session/validation.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';

interface Options {
  readonly format: readonly string[];
  readonly now?: Date;
  readonly explain?: string;
}

/** `idops validate`: checks everything that needs no server. */
export async function validate(context: Context, options: Options): Promise<ExitCode> {
  const formats = parseFormats(options.format, validationReport);
  const validation = await validateProject(context.project, {
    onSecret: context.redactor.add,
    signal: context.signal,
    ...(options.now === undefined ? {} : { now: options.now }),
  });
  const { problems } = validation;
  context.output.problems(problems);
  if (options.explain !== undefined && problems.every(({ severity }) => severity !== 'error')) {
    context.output.result(contributionsText(explain(validation.declared, options.explain), options.explain));
    return exit.done;
  }
  await show(formats, validationReport, validation, context);
  return problems.some(({ severity }) => severity === 'error') ? exit.failed : exit.done;
}
