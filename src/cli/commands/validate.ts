import { validationReport } from '../../report/formats.js';
import { validateProject } from '../../session/validation.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';

interface Options {
  readonly format: readonly string[];
}

/** `idops validate`: checks everything that needs no server. */
export async function validate(context: Context, options: Options): Promise<ExitCode> {
  const formats = parseFormats(options.format, validationReport);
  const validation = await validateProject(context.project, {
    onSecret: context.redactor.add,
    signal: context.signal,
  });
  const { problems } = validation;
  context.output.problems(problems);
  await show(formats, validationReport, validation, context);
  return problems.some(({ severity }) => severity === 'error') ? exit.failed : exit.done;
}
