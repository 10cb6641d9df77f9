import type { Approval } from '../../apply/approvals.js';
import { type Result, summarizeResult } from '../../apply/result.js';
import { escapeText, shellWord } from '../../base/escape.js';
import { error, ProblemsError } from '../../base/problems.js';
import { shardText } from '../../base/shard.js';
import type { NamedSample } from '../../mail/samples.js';
import { approve, countDestructions, type Limits } from '../../plan/approve.js';
import { countPrivileged, type Plan } from '../../plan/plan.js';
import type { Project } from '../../project/index.js';
import { planReport, renderText, resultReport } from '../../report/formats.js';
import { nextSteps } from '../../report/next-steps.js';
import { plural } from '../../report/words.js';
import { planSamples } from '../../session/plan-samples.js';
import type { WritingSession } from '../../session/session.js';
import type { Lock, StateBackend } from '../../state/backend.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { annotate, type Format, lookElsewhere, lookOf, show, showsText } from '../formats.js';

/** Shows a plan before it is applied: on standard output if the result is text too, otherwise on standard error. */
export async function showPlan(
  made: Plan,
  formats: readonly Format[],
  context: Context,
  { asks }: { readonly asks: boolean },
): Promise<void> {
  const { output, prompt, redactor } = context;
  const shown = planReport.redact({ plan: made, samples: new Map() }, redactor);
  if (showsText(formats)) {
    output.result(await renderText(planReport, 'text', shown, lookOf(context)));
  }
  // Whoever answers the question must have seen the plan.
  if (!showsText(formats) || (asks && prompt.available && !output.resultIsSeen)) {
    output.beside(await renderText(planReport, 'text', shown, lookElsewhere(context)));
  }
}

/** The server, environment and shard, for a question. */
export function where({
  server,
  environment,
  shard,
}: Pick<Plan, 'server' | 'environment' | 'shard'>): string {
  const part = shard === undefined ? '' : `, shard ${shardText(shard)}`;
  return `${server} (${environment ?? 'no environment'}${part})`;
}

/** When a person agreed, 0 if nobody was asked; or the exit code of a refusal. */
export type Consent = { readonly asked: number } | { readonly refused: ExitCode };

export interface Question {
  readonly text: string;
  /** What must be typed if yes isn't enough. */
  readonly word?: string;
  /** The message if the answer is no. */
  readonly otherwise?: string;
  /** The alternative if there is no terminal. */
  readonly instead?: string;
}

/** The question before a plan is applied; a destructive or privileged plan needs more than a yes. */
export function questionOf(text: string, plan: Plan, instead?: string): Question {
  const destructions = countDestructions(plan);
  const rest = instead === undefined ? {} : { instead };
  const privileged = countPrivileged(plan);
  if (destructions + privileged === 0) return { text, ...rest };
  const word = plan.environment ?? new URL(plan.server).host;
  const count = [
    ...(privileged > 0 ? [plural(privileged, 'privileged change')] : []),
    ...(destructions > 0 ? [plural(destructions, 'destructive change')] : []),
  ].join(' and ');
  return { text: `${text}\nThis includes ${count}: type ${word} to continue`, word, ...rest };
}

/** Asks a person, unless `--yes` was given; `asked` is of `performance.now()`. Throws a ProblemsError without a terminal. */
export async function consent(
  { text, word, otherwise = 'Nothing was sent.', instead = '' }: Question,
  yes: boolean,
  { prompt, output }: Context,
): Promise<Consent> {
  if (yes) return { asked: 0 };
  if (!prompt.available) {
    throw new ProblemsError([
      error(
        'no-terminal',
        'this needs an answer, and there is no terminal',
        [],
        `use --yes to continue without a question${instead}`,
      ),
    ]);
  }
  const answer = await prompt.confirm(text, word);
  if (answer === 'yes') return { asked: performance.now() };
  output.message(otherwise);
  return { refused: answer === 'aborted' ? exit.interrupted : exit.failed };
}

/** Sample data for changed templates, which only HTML reports show. */
export async function readSamples(
  plan: Plan,
  project: Project,
  formats: readonly Format[],
  { output }: Context,
): Promise<ReadonlyMap<string, readonly NamedSample[]>> {
  if (!formats.some(({ name }) => name === 'html')) return new Map();
  const { samples, warnings } = await planSamples(plan, project);
  if (warnings.length > 0) output.problems(warnings);
  return samples;
}

/** Samples for the result; if they can't be read that is a warning, since the result must be shown. */
async function samplesOrNone(
  ...asked: Parameters<typeof readSamples>
): Promise<ReadonlyMap<string, readonly NamedSample[]>> {
  try {
    return await readSamples(...asked);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    const [, , , { output }] = asked;
    output.problems(failure.problems.map((problem) => ({ ...problem, severity: 'warning' })));
    return new Map();
  }
}

/** Applies a plan after consent, shows the result, and returns the exit code. */
export async function carryOut(
  session: WritingSession,
  plan: Plan,
  limits: Limits,
  agreed: Consent,
  formats: readonly Format[],
  context: Context,
  approval?: Approval,
): Promise<ExitCode> {
  const { output, signal } = context;
  if ('refused' in agreed) return agreed.refused;
  if (signal.aborted) return exit.interrupted;
  const { result, problems } = await session.apply(approve(plan, { ...limits, ...agreed }), approval);
  const samples = await samplesOrNone(plan, session.project, formats, context);
  await show(formats, resultReport, { result, plan, samples }, context);
  for (const sentence of nextAfter(result, plan, context.options)) output.message(escapeText(sentence));
  if (problems.length > 0) {
    output.problems(problems);
    if (formats.some(({ name, file }) => name === 'github' && file === undefined))
      await annotate(context, problems);
  }
  if (result.interrupted) return exit.interrupted;
  const { failed, not_converged, unknown, skipped } = summarizeResult(result);
  return failed + not_converged + unknown + skipped + problems.length > 0 ? exit.failed : exit.done;
}

/** Suggestions after a run, each ending with a command. */
export function nextAfter(
  result: Result,
  plan: Pick<Plan, 'undoes' | 'again' | 'environment'>,
  options: GlobalOptions,
): string[] {
  return nextSteps(result, plan).map(({ before, command }) =>
    command === null ? before : `${before}${commandLine(command, plan.environment, options)}`,
  );
}

/** A command line for the same project and server, ready to type. */
export function commandLine(
  command: string,
  environment: string | null,
  { config, baseUrl, tokenFile }: GlobalOptions,
): string {
  const options = { config, env: environment ?? undefined, 'base-url': baseUrl, 'token-file': tokenFile };
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, shellWord(value)],
  );
  return ['idops', command, ...given].join(' ');
}

/** Works with the lock of a state held; a failure to release it is a warning. */
export async function holding<T>(
  backend: StateBackend,
  command: string,
  { output }: Context,
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  const lock = await backend.lock(command, new Date());
  try {
    return await work(lock);
  } finally {
    const left = await lock.release();
    if (left.length > 0) output.problems(left);
  }
}
