import { quoteIfNeeded } from '../base/escape.js';
import { error, type Problem, type ProblemCode, refuse } from '../base/problems.js';
import { groupBy } from '../base/values.js';
import { firstFew } from '../base/words.js';
import { countPrivileged, isChanging, type Plan } from './plan.js';

/** The limits of an approval. */
export interface Limits {
  /** How many destructive changes it may make; see `countDestructions`. */
  readonly maxDestructive: number;
  /** How many privileged changes it may make; 0 if it is left out. */
  readonly maxPrivileged?: number;
  /** How many objects it may change; any number if it is left out. */
  readonly maxChanges?: number;
  /**
   * When a person approved it, as a time of `performance.now()`: observations from before are read again. 0, or left out, if nobody was
   * asked.
   */
  readonly asked?: number;
}

/** No limits, if nothing is applied or a person is asked about each change. */
export const unlimited = {
  maxDestructive: Number.POSITIVE_INFINITY,
  maxPrivileged: Number.POSITIVE_INFINITY,
  maxChanges: Number.POSITIVE_INFINITY,
} as const;

declare const approval: unique symbol;

/** A plan that may be applied. Only `approve` makes one. */
export interface ApprovedPlan {
  /** The plan. */
  readonly plan: Plan;
  /** When a person approved it, as a time of `performance.now()`; 0 if nobody was asked. */
  readonly asked: number;
  readonly [approval]: true;
}

const approvedPlans = new WeakSet<object>();

/** Whether `approve` made this. */
export function isApproved(thing: unknown): thing is ApprovedPlan {
  return typeof thing === 'object' && thing !== null && approvedPlans.has(thing);
}

/** The problems of plans that differ from what was reviewed. */
const staleProblems = new WeakMap<Plan, readonly Problem[]>();

/** Refuses approval to a plan that is not the stored one. */
export function markStale(plan: Plan, problems: readonly Problem[]): void {
  staleProblems.set(plan, problems);
}

/**
 * Approves a plan for `apply`. Throws a ProblemsError with all of `refusalsOf` (`stale-plan`, `blocked`, `too-destructive`) if it may
 * not be applied, and a TypeError if a limit is not a number.
 */
export function approve(plan: Plan, limits: Limits): ApprovedPlan {
  const { asked = 0 } = limits;
  if (!Number.isFinite(asked)) throw new TypeError('asked must be a time of performance.now()');
  refuse(refusalsOf(plan, limits));
  const approved = Object.freeze({ plan, asked }) as ApprovedPlan;
  approvedPlans.add(approved);
  return approved;
}

/** How many destructive changes a plan makes: a user who loses two memberships counts twice. */
export function countDestructions(plan: Pick<Plan, 'changes'>): number {
  return plan.changes.reduce((sum, { destructions }) => sum + destructions.length, 0);
}

/**
 * Why a plan may not be applied: it is stale, has blocked changes, or exceeds a limit. Empty if it may. A number is the limit of
 * destructive changes.
 */
export function refusalsOf(plan: Plan, limits: number | Limits): Problem[] {
  const {
    maxDestructive,
    maxPrivileged = 0,
    maxChanges = Number.POSITIVE_INFINITY,
  } = typeof limits === 'number' ? { maxDestructive: limits } : limits;
  // NaN would disable the limit, since no number is greater than NaN.
  for (const [name, limit] of Object.entries({ maxDestructive, maxPrivileged, maxChanges }))
    if (!(limit >= 0)) throw new TypeError(`${name} must be a number of 0 or more`);
  const changing = plan.changes.filter(isChanging).length;
  const privileged = countPrivileged(plan);
  const destructions = countDestructions(plan);
  return [
    ...(staleProblems.get(plan) ?? []),
    ...blockedProblems(plan),
    ...exceeded('too-many-changes', 'changes', changing, maxChanges, 'changes # object'),
    ...exceeded('too-privileged', 'privileged', privileged, maxPrivileged, 'makes # privileged change'),
    ...exceeded('too-destructive', 'destructive', destructions, maxDestructive, 'does # destructive thing'),
  ];
}

/** The problem of a limit that is exceeded. `does` is what the plan does, `#` in it the count. */
function exceeded(
  code: ProblemCode,
  limit: 'changes' | 'privileged' | 'destructive',
  count: number,
  most: number,
  does: string,
): Problem[] {
  if (count <= most) return [];
  const done = `${does.replace('#', String(count))}${count === 1 ? '' : 's'}`;
  const message = `the plan ${done}, and ${most} are allowed (safety.max_${limit}, or --allow-${limit})`;
  return [error(code, message, [], `review the plan; if it is intended, use --allow-${limit} ${count}`)];
}

/** A problem for each reason why changes are blocked. */
function blockedProblems(plan: Plan): Problem[] {
  const blocked = plan.changes.filter(({ action }) => action === 'blocked');
  return [...groupBy(blocked, ({ reason }) => reason)].map(([reason, changes]) => {
    const isOne = changes.length === 1;
    const names = changes.map(({ address, label }) =>
      label === undefined ? address : `${address} (${quoteIfNeeded(label)})`,
    );
    const what = isOne
      ? `${names[0]} is blocked`
      : `${changes.length} objects are blocked (${firstFew(names)})`;
    // --target can't leave out an object of an undo.
    const isDeclared = changes.some(({ declaredAt }) => declaredAt !== null);
    const them = isOne ? 'it' : 'them';
    const hint = `fix ${them}, or leave ${them} out with --target`;
    return error('blocked', `${what}: ${reason}`, [], isDeclared ? hint : undefined);
  });
}
