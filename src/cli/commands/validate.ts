import { checkDeclaredTemplates } from '../../mail/findings.js';
import { loadManifests } from '../../manifests/index.js';
import type { Problem } from '../../problems.js';
import { problemsGithub } from '../../report/github.js';
import { problemsJson } from '../../report/json.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { problemsOf } from '../failures.js';
import { githubFolder, parseFormats, type Renderers, show } from '../formats.js';

interface Options {
  readonly format: readonly string[];
}

interface Validation {
  readonly problems: readonly Problem[];
  readonly objects: number;
}

/** `idops validate`: everything that can be found wrong without a server. */
export async function validate(context: Context, options: Options): Promise<ExitCode> {
  const formats = parseFormats(options.format, ['text', 'json', 'github']);
  const validation = await check(context);
  const failed = validation.problems.some(({ severity }) => severity === 'error');
  const renderers: Renderers<Validation> = {
    json: ({ problems }) => ({ json: problemsJson(problems) }),
    github: ({ problems }) => ({ text: problemsGithub(problems, { folder: githubFolder() }) }),
    text: ({ objects }) => ({
      text: failed ? '' : `${objects} ${objects === 1 ? 'object is' : 'objects are'} valid.\n`,
    }),
  };
  if (validation.problems.length > 0) context.output.problems(validation.problems);
  await show(formats, renderers, validation, context);
  return failed ? exit.failed : exit.done;
}

async function check(context: Context): Promise<Validation> {
  try {
    const project = await context.project();
    const loaded = await loadManifests(project, { lenient: true });
    for (const secret of loaded.secrets) context.redactor.add(secret);
    const bodies = checkDeclaredTemplates(loaded.declared, project.checks());
    return { problems: [...loaded.problems, ...bodies], objects: loaded.declared.length };
  } catch (failure) {
    const problems = problemsOf(failure);
    if (problems.some(({ code }) => code === 'internal')) throw failure;
    return { problems, objects: 0 };
  }
}
