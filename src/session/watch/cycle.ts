import { type Result, summarizeResult } from '../../apply/result.js';
import type { Problem } from '../../base/problems.js';
import { approve, refusalsOf } from '../../plan/approve.js';
import { isDrifted } from '../../plan/drift.js';
import { changesServer, type Plan } from '../../plan/plan.js';
import type { Project } from '../../project/index.js';
import type { Outcome } from '../../report/outcomes.js';
import { problemsOf } from '../failures.js';
import { openForWriting, openSession } from '../open.js';
import type { PlanOptions, Session, SessionOptions, WritingSession } from '../session.js';

export interface CycleOptions {
  /** Reads the configuration, as it is by then. */
  readonly project: () => Promise<Project>;
  readonly session: SessionOptions & { readonly signal: AbortSignal };
  readonly plan: PlanOptions;
  /** What applying is done with; left out where nothing is applied. */
  readonly apply?: { readonly allowDestructive?: number };
  /** Told of the plan before any of it is applied. */
  readonly onPlan?: (made: CyclePlan) => void;
  /** The time in milliseconds. */
  readonly now: () => number;
}

/** What is known of a turn as soon as there is its plan. */
export interface CyclePlan extends Pick<Session, 'declared'> {
  readonly plan: Plan;
  /** From the beginning of the turn. */
  readonly seconds: number;
}

/** What one look at a server came to, and what was done about it. */
export interface Cycle {
  readonly outcome: Outcome;
  /** Null where none could be made. */
  readonly plan: Plan | null;
  /** Null where nothing was applied. */
  readonly result: Result | null;
  /** What went wrong, and warnings of the manifests. */
  readonly problems: readonly Problem[];
  /** What a person should know beside. */
  readonly notes: readonly string[];
  /** What was thrown, for --debug. */
  readonly failure?: unknown;
  /** Seconds from the beginning to the plan, and for applying it; null for what was not done. */
  readonly took: { readonly plan: number | null; readonly apply: number | null };
}

/** Whether a turn came to what it is for. */
export function succeeded(outcome: Outcome): boolean {
  return ['unchanged', 'changes', 'drift', 'applied'].includes(outcome);
}

/**
 * Reads configuration, manifests and credentials anew, plans, and applies the plan where that is asked for, as `apply --yes` would.
 * Never throws: what goes wrong is what the turn came to.
 */
export async function runCycle(options: CycleOptions): Promise<Cycle> {
  const turn = new TurnUnderWay(options);
  try {
    return await turn.take();
  } catch (failure) {
    const { aborted } = options.session.signal;
    const problems = problemsOf(failure);
    if (!aborted) return { ...turn.soFar('failed', problems), failure };
    // What was asked for is no problem.
    const others = problems.filter(({ code }) => code !== 'interrupted');
    return { ...turn.soFar('interrupted', others), failure };
  }
}

class TurnUnderWay {
  readonly #options: CycleOptions;
  readonly #began: number;
  #plan: Plan | null = null;
  #result: Result | null = null;
  #told: Pick<Session, 'warnings' | 'notes'> = { warnings: [], notes: [] };
  #planned: number | null = null;
  #applied: number | null = null;

  constructor(options: CycleOptions) {
    this.#options = options;
    this.#began = options.now();
  }

  async take(): Promise<Cycle> {
    const { session: given, apply } = this.#options;
    const project = await this.#options.project();
    // Without --apply there is no writer at all.
    if (apply === undefined) {
      return await andClose(await openSession(project, given), async (session) => {
        const plan = await this.#makePlan(session);
        const refusals = refusalsOf(plan, Number.POSITIVE_INFINITY);
        if (refusals.length > 0) return this.soFar('refused', refusals);
        if (plan.changes.some(isDrifted)) return this.soFar('drift');
        return this.soFar(changesServer(plan) ? 'changes' : 'unchanged');
      });
    }
    return await andClose(await openForWriting(project, 'apply', given), async (session) => {
      const plan = await this.#makePlan(session);
      const maxDestructive = apply.allowDestructive ?? project.maxDestructive();
      const refusals = refusalsOf(plan, maxDestructive);
      if (refusals.length > 0) return this.soFar('refused', refusals);
      if (given.signal.aborted) return this.soFar('interrupted');
      return await this.#apply(session, plan, maxDestructive);
    });
  }

  /** The turn as far as it has come. */
  soFar(outcome: Outcome, problems: readonly Problem[] = []): Cycle {
    return {
      outcome,
      plan: this.#plan,
      result: this.#result,
      problems: [...problems, ...this.#told.warnings],
      notes: this.#told.notes,
      took: { plan: this.#planned, apply: this.#applied },
    };
  }

  async #makePlan(session: Session): Promise<Plan> {
    this.#told = { warnings: session.warnings, notes: session.notes };
    const plan = await session.plan(this.#options.plan);
    const seconds = this.#seconds();
    this.#plan = plan;
    this.#planned = seconds;
    this.#options.onPlan?.({ plan, declared: session.declared, seconds });
    return plan;
  }

  async #apply(session: WritingSession, plan: Plan, maxDestructive: number): Promise<Cycle> {
    const began = this.#seconds();
    const { result, problems } = await session.apply(approve(plan, { maxDestructive }));
    // Where there was nothing to do, no run was made.
    if (result.run !== null) {
      this.#result = result;
      this.#applied = this.#seconds() - began;
    }
    return this.soFar(outcomeOf(result, problems), problems);
  }

  #seconds(): number {
    return (this.#options.now() - this.#began) / 1000;
  }
}

function outcomeOf(result: Result, problems: readonly Problem[]): Outcome {
  const { failed, not_converged, unknown, skipped } = summarizeResult(result);
  // An interruption that came after the last request has kept nothing from being done.
  if (result.interrupted && skipped > 0) return 'interrupted';
  if (failed + not_converged + unknown + skipped + problems.length > 0) return 'failed';
  return result.run === null ? 'unchanged' : 'applied';
}

async function andClose<S extends Session>(session: S, work: (session: S) => Promise<Cycle>): Promise<Cycle> {
  let left: readonly Problem[] = [];
  let turn: Cycle;
  try {
    turn = await work(session);
  } finally {
    left = await session.close();
  }
  return { ...turn, problems: [...turn.problems, ...left] };
}
