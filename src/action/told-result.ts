import { type Result, summarizeResult } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import { shellWord } from '../base/shell.js';
import type { Plan } from '../plan/plan.js';
import { renderText, resultReport } from '../report/formats.js';
import { code, prose } from '../report/marked.js';
import { nextSteps } from '../report/next.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { markerLine, noPlan } from './marker.js';
import { commentKey, configInRepository, runAddress } from './places.js';
import { partsOf, sectionText, withResult } from './sections.js';
import { aboutText, type Subject, subjectOf } from './subject.js';
import { origin, planText, problemsBlock } from './text.js';

/** How much of a comment a result may take. */
const resultRoom = 12_000;

/** What became of a run of apply; everything in it is without secrets. */
export interface Became {
  readonly plan: Plan;
  readonly result: Result;
  readonly problems: readonly Problem[];
}

/** Tells in the comment of the pull request that brought the commit what became of its plan. */
export async function tellResult(
  job: Job,
  inputs: Inputs,
  { plan, result, problems }: Became,
): Promise<void> {
  const subject = subjectOf(inputs, inputs.args, job.redactor.redact, plan);
  const did = result.results.some(({ attempts }) => attempts > 0);
  const title = `${aboutText('idops apply', subject)}: ${outcome(result, problems.length > 0)}`;
  const look = { ...job.log.look, budget: resultRoom, title };
  const parts = [
    result.run === null
      ? `## ${title}\n`
      : await renderText(resultReport, 'markdown', { result, plan }, look),
    ...undoLines(result, plan, inputs, subject).map((line) => `${line}\n`),
    ...(problems.length === 0 ? [] : [await problemsBlock(problems)]),
    `${origin(job.event)}\n`,
  ];
  await post(job, inputs, plan, { text: parts.join('\n'), opens: did, replaces: result.run !== null });
}

/** The same where it came to nothing: `sent` says whether something may have been sent before it failed. */
export async function tellNotApplied(
  job: Job,
  inputs: Inputs,
  {
    plan,
    problems,
    sent,
  }: { readonly plan: Plan | null; readonly problems: readonly Problem[]; readonly sent: boolean },
): Promise<void> {
  const subject = subjectOf(inputs, inputs.args, job.redactor.redact, plan ?? undefined);
  const said = sent ? 'It failed, and something may have been sent:' : 'Nothing was sent:';
  const title = `${aboutText('idops apply', subject)}: ${sent ? 'failed' : 'not applied'}`;
  const text = [`## ${title}`, said, await problemsBlock(problems), `${origin(job.event)}\n`].join('\n\n');
  await post(job, inputs, plan, { text, opens: sent, replaces: true });
}

async function post(
  job: Job,
  inputs: Inputs,
  plan: Plan | null,
  told: { readonly text: string; readonly opens: boolean; readonly replaces: boolean },
): Promise<void> {
  const key = commentKey(inputs, plan?.environment ?? null);
  const link = runAddress(job.event);
  await job.posts.result(inputs, key, async (body) => {
    if (body !== null) {
      const parts = partsOf(body, key);
      // A run that had nothing to do takes nothing away of what one before it did.
      return parts.hasResult && !told.replaces ? null : withResult(parts, key, told.text, link);
    }
    if (!told.opens || plan === null) return null;
    const first = markerLine({ kind: 'plan', key, run: job.event.runId, ...noPlan });
    const planned = await planText(await job.shared(inputs, plan), job.event);
    const parts = partsOf(`${first}\n${sectionText(key, planned)}`, key);
    return withResult(parts, key, told.text, link);
  });
}

/** What became of the changes, in words for a heading: `3 applied, 1 failed`. */
function outcome(result: Result, troubled: boolean): string {
  const count = summarizeResult(result);
  const parts = [
    [count.failed, 'failed'],
    [count.not_converged, 'not converged'],
    [count.unknown, 'unknown'],
    [count.skipped, 'skipped'],
    [count.applied, 'applied'],
  ] as const;
  const told = parts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  if (result.interrupted) told.unshift('interrupted');
  if (told.length > 0) return told.join(', ');
  return troubled ? 'failed' : 'there was nothing to apply';
}

/** How it is put back, and what a person has to find out. */
function undoLines(result: Result, plan: Plan, inputs: Inputs, { environment }: Subject): string[] {
  const config = configInRepository(inputs);
  const options = [
    ...(config === 'idops.yaml' ? [] : ['--config', shellWord(config)]),
    ...(environment === null ? [] : ['--env', shellWord(environment)]),
    ...(inputs.baseUrl === undefined ? [] : ['--base-url', shellWord(inputs.baseUrl)]),
  ];
  const steps = nextSteps(result, plan).filter(({ command }) => /^(?:undo|runs) /.test(command ?? ''));
  const lines = steps.map(
    ({ before, command }) =>
      `${prose(before.replace(/: $/, ''))}: ${code(['idops', command, ...options].join(' '))}`,
  );
  return lines.length === 0
    ? []
    : [...lines, 'That needs the journal of the run, which is where the job kept its `.idops` folder.'];
}
