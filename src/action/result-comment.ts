import { countedWords, type Result } from '../apply/result.js';
import { shellWord } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import type { Plan } from '../plan/plan.js';
import { renderText, resultReport } from '../report/formats.js';
import { code, prose } from '../report/markdown-escape.js';
import { nextSteps } from '../report/next-steps.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { headingOf, type Subject, subjectOf } from './subject.js';
import { originLine, plainText, problemsBlock } from './text.js';
import { commentKey, configInRepository } from './workspace.js';

/** The maximum length of a result in a comment, in characters. */
const maxResultLength = 50_000;
/** The maximum length of problems in a comment, in characters. */
const maxProblemsLength = 8_000;

/** The redacted outcome of an apply. */
export interface ApplyOutcome {
  readonly plan: Plan;
  readonly result: Result;
  readonly problems: readonly Problem[];
  readonly failed: boolean;
  /** Whether the journal is a file of the job instead of in git or PostgreSQL. */
  readonly journalIsFile: boolean;
}

/** Reports the result of an apply on its pull request, and a failure in the issue of `drift-issue`. Nothing if there was nothing to do. */
export async function reportResult(
  job: Job,
  inputs: Inputs,
  { plan, result, problems, failed, journalIsFile }: ApplyOutcome,
): Promise<void> {
  if (result.run === null && problems.length === 0) return;
  const subject = subjectOf(inputs, inputs.args, job.redactor.redact, plan);
  const title = `${headingOf('idops apply', subject)}: ${outcomeText(result)}`;
  const undo = undoLines(result, plan, inputs, subject);
  const journalNote = journalIsFile
    ? "\n\nThat needs the run's journal, which is in the job's `.idops` folder."
    : '';
  // Above the changes, so that the length limit doesn't remove it.
  const intro = undo.length === 0 ? '' : `${undo.join('\n')}${journalNote}`;
  const options = { ...job.log.renderOptions, budget: maxResultLength, title, intro };
  const parts = [
    result.run === null
      ? `## ${title}\n`
      : await renderText(resultReport, 'markdown', { result, plan }, options),
    ...(problems.length === 0 ? [] : [await problemsBlock(problems, maxProblemsLength)]),
    `${originLine(job.event)}\n`,
  ];
  const text = parts.join('\n');
  await job.posts.result(inputs, text);
  if (failed) await reportIssue(job, inputs, text, subject);
}

/** Reports an apply that failed without a result, in the same places. */
export async function reportNotApplied(
  job: Job,
  inputs: Inputs,
  {
    plan,
    problems,
    mayHaveSent,
    hide,
  }: {
    readonly plan: Plan | null;
    readonly problems: readonly Problem[];
    /** Whether requests may have been sent before the failure. */
    readonly mayHaveSent: boolean;
    /** Removes credentials from names. */
    readonly hide: (text: string) => string;
  },
): Promise<void> {
  const subject = subjectOf(inputs, inputs.args, hide, plan ?? undefined);
  const title = `${headingOf('idops apply', subject)}: ${mayHaveSent ? 'failed' : 'not applied'}`;
  const introduction = mayHaveSent ? 'It failed, and something may have been sent:' : 'Nothing was sent:';
  const text = plainText(
    title,
    `${introduction}\n\n${await problemsBlock(problems, maxProblemsLength)}`,
    job.event,
  );
  await job.posts.result(inputs, text);
  await reportIssue(job, inputs, text, subject);
}

/** Reports a failure in the issue of `drift-issue`. All shards share it, since the drift job plans all of them. */
async function reportIssue(job: Job, inputs: Inputs, text: string, subject: Subject): Promise<void> {
  if (!inputs.driftIssue || !job.event.onDefaultBranch) return;
  const { shard: _, ...unsharded } = inputs;
  await job.posts.failure(inputs, commentKey(unsharded, subject.environment), { text, subject });
}

/** The outcome for a heading: `3 applied, 1 failed`. */
function outcomeText(result: Result): string {
  const words = [...(result.interrupted ? ['interrupted'] : []), ...countedWords(result)];
  return words.length > 0 ? words.join(', ') : 'failed';
}

/** The commands that undo a run or settle its open requests. */
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
