import { type Result, summarizeResult } from '../../apply/result.js';
import type { Problem } from '../../base/problems.js';
import { approve, refusalsOf, unlimited } from '../../plan/approve.js';
import { isDrifted } from '../../plan/drift.js';
import { changesServer, type Plan } from '../../plan/plan.js';
import type { Project } from '../../project/index.js';
import type { Outcome } from '../../report/turn.js';
import { problemsOf } from '../failures.js';
import { openForWriting, openSession } from '../open.js';
import { type AllowOptions, limitsOf } from '../options.js';
import type { PlanOptions, Session, SessionOptions } from '../session.js';

export interface CycleOptions {
  /** Reads the configuration as it is now. */
  readonly project: () => Promise<Project>;
  readonly session: SessionOptions & { readonly signal: AbortSignal };
  readonly plan: PlanOptions;
  /** Left out if nothing is applied. */
  readonly apply?: AllowOptions;
  /** Called with the plan before any of it is applied. */
  readonly onPlan?: (made: CyclePlan) => void;
  /** The time in milliseconds. */
  readonly now: () => number;
}

/** What is known of a cycle as soon as there is a plan. */
export interface CyclePlan extends Pick<Session, 'declared'> {
  readonly plan: Plan;
  /** Since the cycle began. */
  readonly seconds: number;
}

/** One cycle of `watch`: a plan, and what was applied of it. */
export interface Cycle {
  readonly outcome: Outcome;
  /** Null if none could be made. */
  readonly plan: Plan | null;
  /** Null if nothing was applied. */
  readonly result: Result | null;
  /** What went wrong, and warnings of the manifests. */
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
  /** What was thrown, for --debug. */
  readonly failure?: unknown;
  /** Seconds from the beginning to the plan, and for applying it; null for what was not done. */
  readonly took: { readonly plan: number | null; readonly apply: number | null };
}

export function succeeded(outcome: Outcome): boolean {
  return ['unchanged', 'changes', 'drift', 'applied'].includes(outcome);
}

/**
 * Reads configuration, manifests and credentials, plans, and with `apply` applies the plan as `apply --yes` does.
 * Never throws: what goes wrong is in the cycle.
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
    took: { plan: null, apply: null },
  };
  const cycle = (outcome: Outcome, problems: readonly Problem[] = []): Cycle => ({
    ...known,
    outcome,
    problems: [...problems, ...known.problems],
  });
  const makePlan = async ({ warnings, notes, declared, plan: planIn }: Session): Promise<Plan> => {
    known = { ...known, problems: warnings, notes };
    const plan = await planIn(options.plan);
    const took = seconds();
    known = { ...known, plan, took: { plan: took, apply: null } };
    options.onPlan?.({ plan, declared, seconds: took });
    return plan;
  };
  try {
    const project = await options.project();
    // Without --apply there is no writer at all.
    if (apply === undefined) {
      return await andClose(await openSession(project, sessionOptions), async (session) => {
        const plan = await makePlan(session);
        const refusals = refusalsOf(plan, unlimited);
        if (refusals.length > 0) return cycle('refused', refusals);
        if (plan.changes.some(isDrifted)) return cycle('drift');
        return cycle(changesServer(plan) ? 'changes' : 'unchanged');
      });
    }
    return await andClose(await openForWriting(project, 'apply', sessionOptions), async (session) => {
      const plan = await makePlan(session);
      const limits = limitsOf(project.safety(), apply);
      const refusals = refusalsOf(plan, limits);
      if (refusals.length > 0) return cycle('refused', refusals);
      if (signal.aborted) return cycle('interrupted');
      const applying = seconds();
      const { result, problems } = await session.apply(approve(plan, limits));
      // If there was nothing to do, no run was made.
      if (result.run !== null)
        known = { ...known, result, took: { ...known.took, apply: seconds() - applying } };
      return cycle(outcomeOf(result, problems), problems);
    });
  } catch (failure) {
    const problems = problemsOf(failure);
    if (!signal.aborted) return { ...cycle('failed', problems), failure };
    // An interruption that was asked for is no problem.
    const others = problems.filter(({ code }) => code !== 'interrupted');
    return { ...cycle('interrupted', others), failure };
  }
}

function outcomeOf(result: Result, problems: readonly Problem[]): Outcome {
  const { failed, not_converged, unknown, skipped } = summarizeResult(result);
  // An interruption after the last request stopped nothing.
  if (result.interrupted && skipped > 0) return 'interrupted';
  if (failed + not_converged + unknown + skipped + problems.length > 0) return 'failed';
  return result.run === null ? 'unchanged' : 'applied';
}

async function andClose<S extends Session>(session: S, work: (session: S) => Promise<Cycle>): Promise<Cycle> {
  let left: readonly Problem[] = [];
  let cycle: Cycle;
  try {
    cycle = await work(session);
  } finally {
    left = await session.close();
  }
  return { ...cycle, problems: [...cycle.problems, ...left] };
}
