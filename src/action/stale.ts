import { error, type Problem } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import type { Plan } from '../plan/plan.js';
import { type MarkedChange, type MarkedPlan, markedId } from './marker.js';

/** What was approved: a digest, and the changes that it stands for where those are known. */
export interface Approval {
  readonly digest: string;
  /** The hash over what the server had; null where it was approved for whatever the server has. */
  readonly observed: string | null;
  readonly changes: readonly MarkedChange[] | null;
  /** Where it was found, for people. */
  readonly source: string;
  /** Where the plan that was approved is shown whole; null where that isn't known. */
  readonly runUrl: string | null;
}

/** How many differences are named. */
const namedMost = 100;

/** How a plan differs from the approved one; null where it doesn't. */
export function staleness(
  plan: Plan,
  marked: MarkedPlan,
  approval: Approval,
  redactor: Redactor,
): Problem | null {
  const { digest, observed, source, changes } = approval;
  const isSent = digest === plan.digest;
  if (isSent && (observed === null || observed === marked.observed)) return null;
  const told = changes === null ? [] : differences(changes, plan, marked, approval, redactor);
  const whole = isSent
    ? 'the server has something else now than when the plan was made'
    : 'what would be sent is not what was approved';
  return error(
    'stale-plan',
    [
      isSent
        ? `stale plan: ${source} approved ${digest} for what the server had then, and it was changed since`
        : `stale plan: ${source} approved ${digest}, and it is ${plan.digest} now`,
      ...(told.length === 0 ? [whole] : told.slice(0, namedMost)),
      ...(told.length > namedMost ? [`and ${told.length - namedMost} more`] : []),
    ].join('\n'),
    [],
    'nothing was sent; make a new plan and review it',
  );
}

function differences(
  approved: readonly MarkedChange[],
  plan: Plan,
  marked: MarkedPlan,
  { digest, runUrl }: Approval,
  redactor: Redactor,
): string[] {
  const now = new Map((marked.changes ?? []).map((change) => [change.id, change]));
  const names = namesOf(plan, redactor);
  const before = new Set(approved.map(({ id }) => id));
  const nameless = new Set<string>();
  const told = approved.flatMap(({ id, address, action, hash }): string[] => {
    const name = address ?? names.get(id);
    const present = now.get(id);
    if (present?.action === action && present.hash.startsWith(hash)) return [];
    if (name === undefined) {
      nameless.add(id);
      return [];
    }
    if (present === undefined) return [`${name}: ${action} was approved, and nothing is to be done now`];
    if (present.action !== action)
      return [`${name}: ${action} was approved, and it is ${present.action} now`];
    return [
      digest === plan.digest
        ? `${name}: the server has something else there now`
        : `${name}: something else would be sent now, or the server has something else there`,
    ];
  });
  const fresh = [...now.values()]
    .filter(({ id }) => !before.has(id))
    .map(({ address, action }) => `${address}: ${action} is new`);
  const where = runUrl === null ? '' : `; ${runUrl} shows what was approved`;
  const rest =
    nameless.size === 0 ? [] : [`approved, and not in the plan any more: ${nameless.size}${where}`];
  return [...told, ...fresh, ...rest];
}

/** What is known of the present plan's objects by name, also of those that are as declared. */
function namesOf(plan: Plan, redactor: Redactor): Map<string, string> {
  return new Map(
    plan.changes.map((change) => [markedId(change, redactor), redactor.redactName(change.address)]),
  );
}
