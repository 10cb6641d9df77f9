import { error, type Problem } from '../problems.js';
import type { Plan } from './plan.js';

/** How many destructive things a plan does: a user who loses two memberships counts twice. */
export function countDestructions(plan: Plan): number {
  return plan.changes.reduce((sum, { destructions }) => sum + destructions.length, 0);
}

/** Why a plan may not be applied: blocked entries, and more destruction than is allowed. */
export function refusals(plan: Plan, maxDestructive: number): Problem[] {
  const problems: Problem[] = [];
  for (const { action, address, reason } of plan.changes) {
    if (action !== 'blocked') continue;
    problems.push(
      error('blocked', `${address} is blocked: ${reason}`, [], 'mend it, or leave it out with --target'),
    );
  }
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
