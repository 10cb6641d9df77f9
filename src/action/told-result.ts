import { type Result, summarizeResult } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import { shellWord } from '../base/shell.js';
import type { Plan } from '../plan/plan.js';
import { renderText, resultReport } from '../report/formats.js';
import { code, prose } from '../report/marked.js';
import { nextSteps } from '../report/next.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { markerLine, noPlan, readMarkers } from './marker.js';
import type { ResultInputs } from './no-plan.js';
import { commentKey, configInRepository, environmentOf, runAddress } from './places.js';
import { partsOf, sectionText, undoText, withResult } from './sections.js';
import { aboutText, type Subject, subjectOf } from './subject.js';
import { origin, planText, problemsBlock } from './text.js';

/** How much of a comment a result may take. */
const resultRoom = 12_000;
/** The same of problems beside it. */
const problemsRoom = 8_000;

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
  const key = commentKey(inputs, plan.environment);
  const undo = undoLines(result, plan, inputs, subject);
  const needs = 'That needs the journal of the run, which is where the job kept its `.idops` folder.';
  // Above what became of each change, so that no number of them cuts it off.
  const intro = undo.length === 0 ? '' : `${undoText(key, undo)}\n\n${needs}`;
  const look = { ...job.log.look, budget: resultRoom, title, intro };
  const parts = [
    result.run === null
      ? `## ${title}\n`
      : await renderText(resultReport, 'markdown', { result, plan }, look),
    ...(problems.length === 0 ? [] : [await problemsBlock(problems, problemsRoom)]),
    `${origin(job.event)}\n`,
  ];
  const words = outcome(result, problems.length > 0);
  await post(job, inputs, plan, { text: parts.join('\n'), words, sent: did, did: result.run !== null });
}

/** The same where it came to nothing: `sent` says whether something may have been sent before it failed. */
export async function tellNotApplied(
  job: Job,
  inputs: ResultInputs,
  {
    plan,
    problems,
    sent,
    hide = job.redactor.redact,
  }: {
    readonly plan: Plan | null;
    readonly problems: readonly Problem[];
    readonly sent: boolean;
    /** Takes credentials out of what names the plan. */
    readonly hide?: (text: string) => string;
  },
): Promise<void> {
  const subject = subjectOf(inputs, inputs.args, hide, plan ?? undefined);
  const said = sent ? 'It failed, and something may have been sent:' : 'Nothing was sent:';
  const title = `${aboutText('idops apply', subject)}: ${sent ? 'failed' : 'not applied'}`;
  const text = [
    `## ${title}`,
    said,
    await problemsBlock(problems, problemsRoom),
    `${origin(job.event)}\n`,
  ].join('\n\n');
  await post(job, inputs, plan, { text, words: sent ? 'failed' : 'not applied', sent, did: true });
}

async function post(
  job: Job,
  inputs: ResultInputs,
  plan: Plan | null,
  {
    did,
    words,
    ...said
  }: { readonly text: string; readonly words: string; readonly sent: boolean; readonly did: boolean },
): Promise<void> {
  const key = commentKey(inputs, plan?.environment ?? null);
  const name = plan?.environment ?? environmentOf(inputs);
  const listed = name === null ? {} : { listed: { name, words: `apply: ${words}` } };
  const told = { ...said, ...listed, link: runAddress(job.event) };
  const tell = async (body: string | null): Promise<string | null> => {
    if (body !== null) {
      const parts = partsOf(body, key);
      // A run that had nothing to do takes nothing away of what one before it did.
      const { result, unsent } = parts;
      if ((result ?? unsent) !== null && !did) return null;
      const shown = readMarkers(body).find((marker) => marker.kind === 'plan' && marker.key === key);
      const isOther = told.sent && plan !== null && shown?.digest !== plan.digest;
      return withResult(parts, key, isOther ? { ...told, text: ofOtherPlan(told.text) } : told);
    }
    if (!told.sent || plan === null) return null;
    const first = markerLine({ kind: 'plan', key, run: job.event.runId, ...noPlan });
    const planned = await planText(await job.shared(inputs, plan), job.event);
    const parts = partsOf(`${first}\n${sectionText(key, planned)}`, key);
    return withResult(parts, key, told);
  };
  await job.posts.result(inputs, key, tell);
}

/** A result that isn't of the plan below it. */
function ofOtherPlan(text: string): string {
  const note = '**What was applied is another plan than the one below:** the summary of the run shows it.';
  return text.replace(/^## .*$/m, (title) => `${title}\n\n${note}`);
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
  return steps.map(
    ({ before, command }) =>
      `${prose(before.replace(/: $/, ''))}: ${code(['idops', command, ...options].join(' '))}`,
  );
}
