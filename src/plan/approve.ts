import { bare } from '../base/escape.js';
import { error, type Problem, refuse } from '../base/problems.js';
import type { Change, Plan } from './plan.js';

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

/** How many destructive things a plan does: a user who loses two memberships counts twice. */
export function countDestructions(plan: Pick<Plan, 'changes'>): number {
  return plan.changes.reduce((sum, { destructions }) => sum + destructions.length, 0);
}

/** Why a plan may not be applied: blocked entries, and more destruction than is allowed. */
export function refusals(plan: Plan, maxDestructive: number): Problem[] {
  const problems = blockedBy(plan).map(([reason, changes]) =>
    error('blocked', blockedMessage(reason, changes), [], blockedHint(changes)),
  );
  const destructions = countDestructions(plan);
  if (destructions > maxDestructive) {
    problems.push(
      error(
        'too-destructive',
        `the plan does ${destructions} destructive ${destructions === 1 ? 'thing' : 'things'}, and ${maxDestructive} are allowed (safety.max_destructive, or --allow-destructive)`,
        [],
        `review the plan; if it is meant, use --allow-destructive ${destructions}`,
      ),
    );
  }
  return problems;
}

/** What is blocked, by its reason. */
function blockedBy({ changes }: Plan): [reason: string | null, changes: readonly Change[]][] {
  const byReason = new Map<string | null, Change[]>();
  for (const change of changes) {
    if (change.action !== 'blocked') continue;
    byReason.set(change.reason, [...(byReason.get(change.reason) ?? []), change]);
  }
  return [...byReason];
}

/** How many addresses are named where many are blocked for one reason; the plan lists them all. */
const NAMED = 3;

function blockedMessage(reason: string | null, changes: readonly Change[]): string {
  const [only] = changes;
  if (only !== undefined && changes.length === 1) return `${named(only)} is blocked: ${reason}`;
  const first = changes.slice(0, NAMED).map(named);
  const more = changes.length > NAMED ? ` and ${changes.length - NAMED} more` : '';
  return `${changes.length} objects are blocked (${first.join(', ')}${more}): ${reason}`;
}

/** An object by its address and what it is called. */
function named({ address, label }: Change): string {
  return label === undefined ? address : `${address} (${bare(label)})`;
}

/** What to do; an object that a command itself named, as undo does, can't be left out. */
function blockedHint(changes: readonly Change[]): string | undefined {
  if (changes.every(({ declaredAt }) => declaredAt === null)) return undefined;
  return changes.length === 1
    ? 'mend it, or leave it out with --target'
    : 'mend them, or leave them out with --target';
}
