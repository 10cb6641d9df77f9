import type { Approval } from '../../apply/approvals.js';
import { isComplete, type Result } from '../../apply/result.js';
import { escapeText, shellWord } from '../../base/escape.js';
import { type Problem, ProblemsError, refuse } from '../../base/problems.js';
import type { NamedSample } from '../../mail/samples.js';
import { approve, countDestructions, refusalsOf, unlimited } from '../../plan/approve.js';
import { changesServer, countPrivileged, type Plan } from '../../plan/plan.js';
import type { Project } from '../../project/index.js';
import { planReport, renderText, resultReport } from '../../report/formats.js';
import { nextSteps } from '../../report/next-steps.js';
import { plural } from '../../report/words.js';
import { type AllowOptions, limitsOf } from '../../session/options.js';
import { planSamples } from '../../session/plan-samples.js';
import type { WritingCommand, WritingSession } from '../../session/session.js';
import type { Context, GlobalOptions, SessionSettings } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import {
  annotate,
  type Format,
  filesOf,
  plainRenderOptionsOf,
  renderOptionsOf,
  show,
  showsText,
} from '../formats.js';
import { type Question, withConsent } from './consent.js';

/** A plan that is ready to be applied. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly approval?: Approval | undefined;
  /** Warnings about what the plan doesn't do; if there are any, the command exits with 1. */
  readonly left?: readonly Problem[];
  readonly question: string;
}

/** What distinguishes the commands that apply a plan. */
export interface ApplySteps {
  readonly command: WritingCommand;
  readonly formats: readonly Format[];
  readonly about: SessionSettings;
  readonly yes: boolean;
  /** Options that override the limits of the project; undefined for no limits. */
  readonly allow?: AllowOptions;
  /** An addition to the hint if there is no terminal to ask a question. */
  readonly noTerminalHint?: string;
  preparePlan(session: WritingSession, project: Project): Promise<PreparedPlan>;
  /** Replaces the hint of a problem of the plan. */
  adjustProblem?(problem: Problem): Problem;
}

/** Loads the project, takes the lock, plans, shows the plan, asks, applies it and shows the result. Returns the exit code. */
export async function applyPlan(context: Context, steps: ApplySteps): Promise<ExitCode> {
  const { output, signal } = context;
  const { command, formats, about, yes, adjustProblem = (problem) => problem } = steps;
  const project = await context.project();
  return await context.writingSession(project, command, about, async (session) => {
    await context.refuseOutputs(filesOf(formats), { project, files: session.files });
    const { plan, approval, left = [], question } = await steps.preparePlan(session, project);
    const needsConsent = !yes && changesServer(plan);
    await showPlan(plan, formats, context, needsConsent);
    output.problems(left);
    const limits = steps.allow === undefined ? unlimited : limitsOf(project.safety(), steps.allow);
    refuse(refusalsOf(plan, limits).map(adjustProblem));
    const asking = { ...questionOf(question, plan), noTerminalHint: steps.noTerminalHint };
    return await withConsent(asking, !needsConsent, context, async (asked) => {
      if (signal.aborted) return exit.interrupted;
      const { result, problems } = await session.apply(approve(plan, { ...limits, asked }), approval);
      const samples = await readSamplesOrWarn(plan, project, formats, context);
      const writeText = isComplete(result) ? undefined : output.failure;
      await show(formats, resultReport, { result, plan, samples }, context, {}, writeText);
      for (const sentence of nextStepLines(result, plan, context.options))
        output.message(escapeText(sentence));
      output.problems(problems);
      if (problems.length > 0 && formats.some(({ name, file }) => name === 'github' && file === undefined))
        await annotate(context, problems);
      if (result.interrupted) return exit.interrupted;
      return isComplete(result) && problems.length + left.length === 0 ? exit.done : exit.failed;
    });
  });
}

/** Shows a plan before it is applied: on standard output if the result is text too, otherwise on standard error. */
async function showPlan(
  plan: Plan,
  formats: readonly Format[],
  context: Context,
  asks: boolean,
): Promise<void> {
  const { output, prompt, redactor } = context;
  const shown = planReport.redact({ plan, samples: new Map() }, redactor);
  if (showsText(formats)) {
    output.result(await renderText(planReport, 'text', shown, renderOptionsOf(context)));
  }
  // The user must see the plan before the question.
  if (!showsText(formats) || (asks && prompt.available && !output.isResultOnTerminal)) {
    output.report(await renderText(planReport, 'text', shown, plainRenderOptionsOf(context)));
  }
}

/** The question before a plan is applied; a destructive or privileged plan requires a typed confirmation. */
function questionOf(text: string, plan: Plan): Pick<Question, 'text' | 'confirmation'> {
  const destructions = countDestructions(plan);
  const privileged = countPrivileged(plan);
  if (destructions + privileged === 0) return { text };
  const confirmation = plan.environment ?? new URL(plan.server).host;
  const count = [
    ...(privileged > 0 ? [plural(privileged, 'privileged change')] : []),
    ...(destructions > 0 ? [plural(destructions, 'destructive change')] : []),
  ].join(' and ');
  return { text: `${text}\nThis includes ${count}: type ${confirmation} to continue`, confirmation };
}

/** Sample data for changed templates; empty unless a format is HTML. */
export async function readSamples(
  plan: Plan,
  project: Project,
  formats: readonly Format[],
  { output }: Context,
): Promise<ReadonlyMap<string, readonly NamedSample[]>> {
  if (!formats.some(({ name }) => name === 'html')) return new Map();
  const { samples, warnings } = await planSamples(plan, project);
  output.problems(warnings);
  return samples;
}

/** Sample data for the result. Problems of it are warnings, since the result must be shown. */
async function readSamplesOrWarn(
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

/** Suggestions after a run; each ends with a command line. */
export function nextStepLines(
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
