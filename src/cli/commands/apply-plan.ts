import type { Approval } from '../../apply/approvals.js';
import { type Result, summarizeResult } from '../../apply/result.js';
import { escapeText, shellWord } from '../../base/escape.js';
import { error, ProblemsError } from '../../base/problems.js';
import { shardText } from '../../base/shard.js';
import type { NamedSample } from '../../mail/samples.js';
import { approve, countDestructions, type Limits } from '../../plan/approve.js';
import type { Plan } from '../../plan/plan.js';
import { planReport, renderText, resultReport } from '../../report/formats.js';
import { nextSteps } from '../../report/next.js';
import { plural } from '../../report/words.js';
import type { WritingSession } from '../../session/session.js';
import type { Lock, StateBackend } from '../../state/backend.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { annotate, type Format, lookElsewhere, lookOf, show, showsText } from '../formats.js';
import { readSamples } from './plan.js';

/** Shows a plan before it is applied: on standard output where the result is text too; beside it otherwise, and where a question follows. */
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
  // Whoever is asked must have seen what about.
  if (!showsText(formats) || (asks && prompt.available && !output.resultIsSeen)) {
    output.beside(await renderText(planReport, 'text', shown, lookElsewhere(context)));
  }
}

/** A server, an environment and a shard, as a question names them. */
export function where({
  server,
  environment,
  shard,
}: Pick<Plan, 'server' | 'environment' | 'shard'>): string {
  const part = shard === undefined ? '' : `, shard ${shardText(shard)}`;
  return `${server} (${environment ?? 'no environment'}${part})`;
}

/** Whether to go on: with when a person said so, where one was asked; or with which exit code not. */
export type Consent = { readonly asked: number } | { readonly refused: ExitCode };

export interface Question {
  readonly text: string;
  /** What has to be typed, where yes isn't enough; left out where it is. */
  readonly word?: string;
  /** What is said where the answer is no. */
  readonly otherwise?: string;
  /** What else can be done where nobody can be asked. */
  readonly instead?: string;
}

/** The question before a plan is carried out, which begins with what is asked; a plan that destroys wants more than a yes. */
export function questionOf(text: string, plan: Plan, instead?: string): Question {
  const destructions = countDestructions(plan);
  const rest = instead === undefined ? {} : { instead };
  if (destructions === 0) return { text, ...rest };
  const word = plan.environment ?? new URL(plan.server).host;
  const count = plural(destructions, 'destructive change');
  const among = destructions === 1 ? 'is' : 'are';
  return { text: `${text}\n${count} ${among} among them: type ${word} to go on`, word, ...rest };
}

/**
 * Asks a person, unless `--yes` has answered; the time is one of `performance.now()`, 0 where nobody was asked.
 * Throws a ProblemsError where nobody can be asked.
 */
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
        'there is nobody to ask: this is not a terminal',
        [],
        `use --yes to go on without a question${instead}`,
      ),
    ]);
  }
  const answer = await prompt.confirm(text, word);
  if (answer === 'yes') return { asked: performance.now() };
  output.message(otherwise);
  return { refused: answer === 'aborted' ? exit.interrupted : exit.failed };
}

/** Where sample data can't be had it is said, and made up: what was done has to be shown. */
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

/** Applies a plan where that was agreed to, shows the result, and gives the exit code that tells it. */
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

/** What to do after a run, a line each, a command at its end; empty where there is nothing to say. */
export function nextAfter(
  result: Result,
  plan: Pick<Plan, 'undoes' | 'again' | 'environment'>,
  options: GlobalOptions,
): string[] {
  return nextSteps(result, plan).map(({ before, command }) =>
    command === null ? before : `${before}${commandLine(command, plan.environment, options)}`,
  );
}

/** A command with the options that it needs to find the same project and server again, to be typed as it stands. */
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

/** Does something with the lock of a state held; one that can't be given back is a warning. Throws what taking it and the work throw. */
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
