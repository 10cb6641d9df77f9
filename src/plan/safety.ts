import { bare } from '../base/escape.js';
import { error, type Problem } from '../base/problems.js';
import type { Change, Plan } from './plan.js';

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
