import { error, type Problem } from '../problems.js';
import type { Plan } from './plan.js';

/** How many destructive things a plan does: a user who loses two memberships counts twice. */
export function countDestructions(plan: Plan): number {
  return plan.changes.reduce((sum, { destructions }) => sum + destructions.length, 0);
}

/** Why a plan may not be applied: blocked entries, and more destruction than is allowed. */
export function refusals(plan: Plan, maxDestructive: number): Problem[] {
  const problems = blockedBy(plan).map(([reason, addresses]) =>
    error('blocked', blockedMessage(reason, addresses), [], blockedHint(addresses)),
  );
  const destructions = countDestructions(plan);
  if (destructions > maxDestructive) {
    problems.push(
      error(
        'too-destructive',
        `the plan does ${destructions} destructive things, and ${maxDestructive} are allowed (safety.max_destructive, or --allow-destructive)`,
        [],
        `review the plan; if it is meant, use --allow-destructive ${destructions}`,
      ),
    );
  }
  return problems;
}

/** What is blocked, by its reason. */
function blockedBy({ changes }: Plan): [reason: string | null, addresses: readonly string[]][] {
  const byReason = new Map<string | null, string[]>();
  for (const { action, address, reason } of changes) {
    if (action === 'blocked') byReason.set(reason, [...(byReason.get(reason) ?? []), address]);
  }
  return [...byReason];
}

/** How many addresses are named where many are blocked for one reason; the plan lists them all. */
const NAMED = 3;

function blockedMessage(reason: string | null, addresses: readonly string[]): string {
  const [only] = addresses;
  if (addresses.length === 1) return `${only} is blocked: ${reason}`;
  const named = addresses.slice(0, NAMED).join(', ');
  const more = addresses.length > NAMED ? ` and ${addresses.length - NAMED} more` : '';
  return `${addresses.length} objects are blocked (${named}${more}): ${reason}`;
}

function blockedHint({ length }: readonly string[]): string {
  return length === 1
    ? 'mend it, or leave it out with --target'
    : 'mend them, or leave them out with --target';
}
