import { problemsGithub } from '../../report/github.js';
import { problemsJson } from '../../report/json.js';
import { redactProblems } from '../../report/redacted.js';
import { type Validation, validateProject } from '../../session/validation.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { githubFolder, parseFormats, type Renderers, show } from '../formats.js';

interface Options {
  readonly format: readonly string[];
}

/** `idops validate`: everything that can be found wrong without a server. */
export async function validate(context: Context, options: Options): Promise<ExitCode> {
  const formats = parseFormats(options.format, ['text', 'json', 'github']);
  const validation = await validateProject(context.project, context.redactor.add);
  const failed = validation.problems.some(({ severity }) => severity === 'error');
  const renderers: Renderers<Validation> = {
    json: ({ problems }) => ({ json: problemsJson(problems) }),
    github: ({ problems }) => ({ text: problemsGithub(problems, { folder: githubFolder() }) }),
    text: ({ objects }) => ({
      text: failed ? '' : `${objects} ${objects === 1 ? 'object is' : 'objects are'} valid.\n`,
    }),
  };
  if (validation.problems.length > 0) context.output.problems(validation.problems);
  await show(
    formats,
    renderers,
    validation,
    (found, redactor) => ({ ...found, problems: redactProblems(found.problems, redactor) }),
    context,
  );
  return failed ? exit.failed : exit.done;
}
