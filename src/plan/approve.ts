import { bare } from '../base/escape.js';
import { error, type Problem, refuse } from '../base/problems.js';
import type { Change, Plan } from './plan.js';

/** The limits of an approval. */
export interface Limits {
  /** How many destructive changes it may make; see `countDestructions`. */
  readonly maxDestructive: number;
  /**
   * When a person approved it, as a time of `performance.now()`: observations from before are read again. 0, or left out, if nobody was
   * asked.
   */
  readonly asked?: number;
}

declare const approval: unique symbol;

/** A plan that may be applied. Only `approve` makes one. */
export interface ApprovedPlan {
  /** The plan. */
  readonly plan: Plan;
  /** When a person approved it, as a time of `performance.now()`; 0 if nobody was asked. */
  readonly asked: number;
  readonly [approval]: true;
}

const made = new WeakSet<object>();

/** Whether `approve` made this. */
export function isApproved(thing: unknown): thing is ApprovedPlan {
  return typeof thing === 'object' && thing !== null && made.has(thing);
}

/** Plans that are no longer what was reviewed, and why. */
const stale = new WeakMap<Plan, readonly Problem[]>();

/** Refuses approval to a plan that is not the stored one. */
export function markStale(plan: Plan, problems: readonly Problem[]): void {
  stale.set(plan, problems);
}

/** Why a plan may not be applied: it is stale, has blocked changes, or destroys more than the limit. Empty if it may. */
export function refusalsOf(plan: Plan, maxDestructive: number): Problem[] {
  // No number is greater than NaN, which would switch the limit off.
  if (!(maxDestructive >= 0)) throw new TypeError('maxDestructive must be a number of 0 or more');
  return [...(stale.get(plan) ?? []), ...refusals(plan, maxDestructive)];
}

/**
 * Approves a plan for `apply`. Throws a ProblemsError with all of `refusalsOf` (`stale-plan`, `blocked`, `too-destructive`) if it may
 * not be applied, and a TypeError if the limit is not a number.
 */
export function approve(plan: Plan, { maxDestructive, asked = 0 }: Limits): ApprovedPlan {
  if (!Number.isFinite(asked)) throw new TypeError('asked must be a time of performance.now()');
  refuse(refusalsOf(plan, maxDestructive));
  const approved = Object.freeze({ plan, asked }) as ApprovedPlan;
  made.add(approved);
  return approved;
}

/** How many destructive changes a plan makes: a user who loses two memberships counts twice. */
export function countDestructions(plan: Pick<Plan, 'changes'>): number {
  return plan.changes.reduce((sum, { destructions }) => sum + destructions.length, 0);
}

/** The problems of blocked changes and of a limit that is exceeded. */
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

/** The blocked changes, by their reason. */
function blockedBy({ changes }: Plan): [reason: string | null, changes: readonly Change[]][] {
  const byReason = new Map<string | null, Change[]>();
  for (const change of changes) {
    if (change.action !== 'blocked') continue;
    byReason.set(change.reason, [...(byReason.get(change.reason) ?? []), change]);
  }
  return [...byReason];
}

/** How many addresses a message names; the plan lists them all. */
const NAMED = 3;

function blockedMessage(reason: string | null, changes: readonly Change[]): string {
  const [only] = changes;
  if (only !== undefined && changes.length === 1) return `${named(only)} is blocked: ${reason}`;
  const first = changes.slice(0, NAMED).map(named);
  const more = changes.length > NAMED ? ` and ${changes.length - NAMED} more` : '';
  return `${changes.length} objects are blocked (${first.join(', ')}${more}): ${reason}`;
}

/** The address of an object, and its name. */
function named({ address, label }: Change): string {
  return label === undefined ? address : `${address} (${bare(label)})`;
}

/** What to do. An object that undo names can't be left out. */
function blockedHint(changes: readonly Change[]): string | undefined {
  if (changes.every(({ declaredAt }) => declaredAt === null)) return undefined;
  return changes.length === 1
    ? 'mend it, or leave it out with --target'
    : 'mend them, or leave them out with --target';
}
