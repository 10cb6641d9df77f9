import { contributionsReport, validationReport } from '../../report/formats.js';
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

export async function validate(context: Context, options: Options): Promise<ExitCode> {
  const { explain: address } = options;
  const formats = parseFormats(
    options.format,
    address === undefined ? validationReport : contributionsReport,
  );
  const { problems, objects, declared } = await validateProject(context.project, {
    onSecret: context.redactor.add,
    signal: context.signal,
    ...(options.now === undefined ? {} : { now: options.now }),
  });
  context.output.problems(problems);
  const isWrong = problems.some(({ severity }) => severity === 'error');
  if (address === undefined || isWrong) {
    await show(formats, validationReport, { problems, objects }, context);
  } else await show(formats, contributionsReport, { address, ...explain(declared, address) }, context);
  return isWrong ? exit.failed : exit.done;
}
