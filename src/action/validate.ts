import { validText } from '../report/problems.js';
import { plural } from '../report/words.js';
import { redactReport } from '../secrets/redact-report.js';
import { validateProject } from '../session/validation.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { reportNoPlan } from './no-plan.js';
import { type StepOutcome, writeSummary } from './outputs.js';
import { problemsBlock } from './text.js';

/** Checks the project without a server. `reason` says why it does so instead of planning. */
export async function validate(job: Job, inputs: Inputs, reason: string | null = null): Promise<StepOutcome> {
  const { problems: found, objects } = await validateProject(() => job.project(inputs), {
    onSecret: job.redactor.add,
    signal: job.signal,
  });
  const problems = redactReport(found, job.redactor);
  await job.log.problems(problems);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const failed = errors > 0;
  const summary = failed ? plural(errors, 'error') : validText(objects);
  const why =
    reason === null
      ? ''
      : `There is no plan for this ${job.event.pullRequest === null ? 'run' : 'pull request'}: ${reason}. It was only validated.`;
  if (why !== '') job.log.annotate('notice', why);
  job.log.write(`${summary}.`);
  const texts = [why, problems.length === 0 ? '' : await problemsBlock(problems)];
  await writeSummary([`## idops validate: ${summary}`, ...texts].join('\n\n').trimEnd());
  if (reason !== null && inputs.command === 'plan') {
    const text = `${why} ${failed ? `It is not valid: ${summary}.` : `${summary}.`}`;
    await reportNoPlan(job, inputs, {
      title: 'validated only',
      text,
      hide: job.redactor.redact,
      quiet: true,
    });
  }
  return { code: failed ? 1 : 0, summary: why === '' ? summary : `${summary}. ${why}`, changed: false };
}
