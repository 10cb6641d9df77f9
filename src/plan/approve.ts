import { type Problem, refuse } from '../base/problems.js';
import type { Plan } from './plan.js';
import { refusals } from './safety.js';

/** What a plan is approved with. */
export interface Limits {
  /** How many destructive things it may do; see `countDestructions`. */
  readonly maxDestructive: number;
  /**
   * When a person said yes to it, as a time of `performance.now()`: what was read before is read again before it is
   * built on. 0, or left out, where nobody was asked.
   */
  readonly asked?: number;
}

declare const approval: unique symbol;

/** A plan that may be applied. Only `approve` makes one. */
export interface ApprovedPlan {
  /** The plan. */
  readonly plan: Plan;
  /** When a person said yes to it, as a time of `performance.now()`; 0 if nobody was asked. */
  readonly asked: number;
  readonly [approval]: true;
}

const made = new WeakSet<object>();

/** Whether something was made by `approve`. */
export function isApproved(thing: unknown): thing is ApprovedPlan {
  return typeof thing === 'object' && thing !== null && made.has(thing);
}

/** What is wrong with plans that are no longer what was reviewed. */
const stale = new WeakMap<Plan, readonly Problem[]>();

/** Keeps a plan from being approved for good: it is not the one that was stored. */
export function markStale(plan: Plan, problems: readonly Problem[]): void {
  stale.set(plan, problems);
}

/** Why a plan may not be applied: it is stale, has blocked entries, or destroys more than is allowed; empty where it may. */
export function refusalsOf(plan: Plan, maxDestructive: number): Problem[] {
  // Nothing is more than NaN, so nothing would be too destructive.
  if (!(maxDestructive >= 0)) throw new TypeError('maxDestructive must be a number of 0 or more');
  return [...(stale.get(plan) ?? []), ...refusals(plan, maxDestructive)];
}

/**
 * Makes of a plan what `apply` takes. Throws a ProblemsError with all of `refusalsOf` (`stale-plan`, `blocked`,
 * `too-destructive`) if it may not be applied, and a TypeError for a limit that is no number.
 */
export function approve(plan: Plan, { maxDestructive, asked = 0 }: Limits): ApprovedPlan {
  if (!Number.isFinite(asked)) throw new TypeError('asked must be a time of performance.now()');
  refuse(refusalsOf(plan, maxDestructive));
  const approved = Object.freeze({ plan, asked }) as ApprovedPlan;
  made.add(approved);
  return approved;
}
