import { countedWords, type Result } from '../apply/result.js';
import { shellWord } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import type { Plan } from '../plan/plan.js';
import { renderText, resultReport } from '../report/formats.js';
import { code, prose } from '../report/markdown-escape.js';
import { nextSteps } from '../report/next-steps.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKey, configInRepository } from './places.js';
import { aboutText, type Subject, subjectOf } from './subject.js';
import { origin, plainText, problemsBlock } from './text.js';

/** The characters of a comment for a result. */
const resultRoom = 50_000;
/** The same for problems. */
const problemsRoom = 8_000;

/** The redacted outcome of an apply. */
export interface Outcome {
  readonly plan: Plan;
  readonly result: Result;
  readonly problems: readonly Problem[];
  readonly failed: boolean;
  /** Whether the journal is a file of the job, not in git or PostgreSQL. */
  readonly inFiles: boolean;
}

/** Writes the outcome on the pull request that brought the commit; nothing if there was nothing to do. */
export async function reportResult(
  job: Job,
  inputs: Inputs,
  { plan, result, problems, failed, inFiles }: Outcome,
): Promise<void> {
  if (result.run === null && problems.length === 0) return;
  const subject = subjectOf(inputs, inputs.args, job.redactor.redact, plan);
  const title = `${aboutText('idops apply', subject)}: ${outcome(result)}`;
  const undo = undoLines(result, plan, inputs, subject);
  const needs = inFiles
    ? '\n\nThat needs the journal of the run, which is where the job kept its `.idops` folder.'
    : '';
  // Above the changes, so that it isn't cut off.
  const intro = undo.length === 0 ? '' : `${undo.join('\n')}${needs}`;
  const options = { ...job.log.renderOptions, budget: resultRoom, title, intro };
  const parts = [
    result.run === null
      ? `## ${title}\n`
      : await renderText(resultReport, 'markdown', { result, plan }, options),
    ...(problems.length === 0 ? [] : [await problemsBlock(problems, problemsRoom)]),
    `${origin(job.event)}\n`,
  ];
  const text = parts.join('\n');
  await job.posts.result(inputs, text);
  if (failed) await reportIssue(job, inputs, text, subject);
}

/** The same for an apply without a result: `sent` says whether requests may have been sent before it failed. */
export async function reportNotApplied(
  job: Job,
  inputs: Inputs,
  {
    plan,
    problems,
    sent,
    hide,
  }: {
    readonly plan: Plan | null;
    readonly problems: readonly Problem[];
    readonly sent: boolean;
    /** Removes credentials from names. */
    readonly hide: (text: string) => string;
  },
): Promise<void> {
  const subject = subjectOf(inputs, inputs.args, hide, plan ?? undefined);
  const title = `${aboutText('idops apply', subject)}: ${sent ? 'failed' : 'not applied'}`;
  const introduction = sent ? 'It failed, and something may have been sent:' : 'Nothing was sent:';
  const text = plainText(
    title,
    `${introduction}\n\n${await problemsBlock(problems, problemsRoom)}`,
    job.event,
  );
  await job.posts.result(inputs, text);
  await reportIssue(job, inputs, text, subject);
}

/** The same in the issue of `drift-issue`. All shards share it, as the drift job plans all of them. */
async function reportIssue(job: Job, inputs: Inputs, text: string, subject: Subject): Promise<void> {
  if (!inputs.driftIssue || !job.event.onDefaultBranch) return;
  const { shard: _, ...whole } = inputs;
  await job.posts.failure(inputs, commentKey(whole, subject.environment), { text, subject });
}

/** The outcome for a heading: `3 applied, 1 failed`. */
function outcome(result: Result): string {
  const words = [...(result.interrupted ? ['interrupted'] : []), ...countedWords(result)];
  return words.length > 0 ? words.join(', ') : 'failed';
}

/** How to undo the run, and what to look up. */
function undoLines(result: Result, plan: Plan, inputs: Inputs, { environment }: Subject): string[] {
  const config = configInRepository(inputs);
  const options = [
    ...(config === 'idops.yaml' ? [] : ['--config', shellWord(config)]),
    ...(environment === null ? [] : ['--env', shellWord(environment)]),
    ...(inputs.baseUrl === undefined ? [] : ['--base-url', shellWord(inputs.baseUrl)]),
  ];
  const steps = nextSteps(result, plan).filter(({ command }) => /^(?:undo|runs) /.test(command ?? ''));
  return steps.map(
    ({ before, command }) =>
      `${prose(before.replace(/: $/, ''))}: ${code(['idops', command, ...options].join(' '))}`,
  );
}
