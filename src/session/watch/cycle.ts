import { isComplete, type Result, summarizeResult } from '../../apply/result.js';
import type { Problem } from '../../base/problems.js';
import { approve, refusalsOf, unlimited } from '../../plan/approve.js';
import { isDrifted } from '../../plan/drift.js';
import { changesServer, type Plan } from '../../plan/plan.js';
import type { Project } from '../../project/index.js';
import type { Outcome, ShownCycle } from '../../report/watch-cycle.js';
import { problemsOf } from '../failures.js';
import { openForWriting, openSession, withSession } from '../open.js';
import { type AllowOptions, limitsOf } from '../options.js';
import type { PlanOptions, Session, SessionOptions, WritingSession } from '../session.js';

export interface CycleOptions {
  /** Reads the configuration as it is now. */
  readonly project: () => Promise<Project>;
  readonly session: SessionOptions & { readonly signal: AbortSignal };
  readonly plan: PlanOptions;
  /** Undefined if nothing is applied. */
  readonly apply: AllowOptions | undefined;
  /** Called with the plan before any of it is applied. */
  readonly onPlan?: (made: CyclePlan) => void;
  /** The time in milliseconds. */
  readonly now: () => number;
}

/** What is known of a cycle as soon as there is a plan. */
export interface CyclePlan extends Pick<Session, 'declared'> {
  readonly plan: Plan;
  /** Seconds from the start of the cycle to the plan. */
  readonly seconds: number;
}

/** One cycle of `watch`: a plan if one could be made, the result if something was applied, and what went wrong. */
export interface Cycle extends Omit<ShownCycle, 'number' | 'time' | 'seconds' | 'changed'> {
  /** What was thrown, for --debug. */
  readonly failure?: unknown;
  /** Seconds to make the plan, and to apply it; null for a step that was not done. */
  readonly durations: { readonly plan: number | null; readonly apply: number | null };
}

export function succeeded(outcome: Outcome): boolean {
  return ['unchanged', 'changes', 'drift', 'applied'].includes(outcome);
}

/**
 * Reads configuration, manifests and credentials, plans, and with `apply` applies the plan as `apply --yes` does.
 * Never throws: the cycle has the problems.
 */
export async function runCycle(options: CycleOptions): Promise<Cycle> {
  const { session: sessionOptions, apply, now } = options;
  const { signal } = sessionOptions;
  const began = now();
  const seconds = (): number => (now() - began) / 1000;
  let known: Omit<Cycle, 'outcome'> = {
    plan: null,
    result: null,
    problems: [],
    notes: [],
    durations: { plan: null, apply: null },
  };
  const addFirst = (problems: readonly Problem[]): void => {
    known = { ...known, problems: [...problems, ...known.problems] };
  };
  try {
    const project = await options.project();
    // Without --apply there is no writer at all.
    const opened: Session & Partial<Pick<WritingSession, 'apply'>> =
      apply === undefined
        ? await openSession(project, sessionOptions)
        : await openForWriting(project, 'apply', sessionOptions);
    const tell = (problems: readonly Problem[], notes: readonly string[]): void => {
      known = { ...known, problems: [...known.problems, ...problems], notes: [...known.notes, ...notes] };
    };
    const outcome = await withSession(opened, tell, async (session): Promise<Outcome> => {
      const { declared } = session;
      const plan = await session.plan(options.plan);
      const took = seconds();
      known = { ...known, plan, durations: { plan: took, apply: null } };
      options.onPlan?.({ plan, declared, seconds: took });
      const limits = apply === undefined ? unlimited : limitsOf(project.safety(), apply);
      const refusals = refusalsOf(plan, limits);
      addFirst(refusals);
      if (refusals.length > 0) return 'refused';
      if (session.apply === undefined)
        return plan.changes.some(isDrifted) ? 'drift' : changesServer(plan) ? 'changes' : 'unchanged';
      if (signal.aborted) return 'interrupted';
      const applying = seconds();
      const { result, problems } = await session.apply(approve(plan, limits));
      // If there was nothing to do, there is no run.
      if (result.run !== null)
        known = { ...known, result, durations: { ...known.durations, apply: seconds() - applying } };
      addFirst(problems);
      return outcomeOf(result, problems);
    });
    return { ...known, outcome };
  } catch (failure) {
    // An interruption by the user is not a problem.
    addFirst(problemsOf(failure).filter(({ code }) => !signal.aborted || code !== 'interrupted'));
    return { ...known, outcome: signal.aborted ? 'interrupted' : 'failed', failure };
  }
}

function outcomeOf(result: Result, problems: readonly Problem[]): Outcome {
  // An interruption after the last request has no effect.
  if (result.interrupted && summarizeResult(result).skipped > 0) return 'interrupted';
  if (!isComplete(result) || problems.length > 0) return 'failed';
  return result.run === null ? 'unchanged' : 'applied';
}
