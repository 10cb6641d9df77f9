import type { Fields, Value } from '../base/values.js';
import { asElements } from '../kinds/fields.js';
import type { UntilChanges } from '../plan/plan.js';
import type { ResourceRecord } from '../state/state.js';
import type { Status } from './result.js';

/** A change, as far as the ends of access need it. */
interface Asked {
  readonly until?: UntilChanges | undefined;
  readonly expected: Fields;
  readonly before?: Fields;
}

/** What became of it. */
interface Outcome {
  readonly status: Status;
  readonly ambiguous: boolean;
  readonly after: Fields | undefined;
}

function isDone({ status }: Pick<Outcome, 'status'>): boolean {
  return status === 'applied' || status === 'not_converged';
}

/** The ends of access that a change has set: after a failure, those of members that it may have added. */
export function newEnds({ until = {}, before = {} }: Asked, outcome: Outcome): UntilChanges {
  if (isDone(outcome)) return until;
  const { status, ambiguous, after } = outcome;
  if (status === 'skipped' || (after === undefined && !ambiguous)) return {};
  const has = (set: Value | undefined, id: string): boolean =>
    asElements(set ?? null).some((element) => element.id === id);
  const added = Object.entries(until).map(([field, ends]) => {
    const own = Object.entries(ends).filter(
      ([id, end]) =>
        end !== null && !has(before[field], id) && (after === undefined || has(after[field], id)),
    );
    return [field, Object.fromEntries(own)] as const;
  });
  return Object.fromEntries(added.filter(([, ends]) => Object.keys(ends).length > 0));
}

/** A record with the ends of access: none of members that the object doesn't have any more. */
export function withEnds(
  { until: _, ...record }: ResourceRecord,
  before: ResourceRecord | undefined,
  asked: Asked,
  outcome: Outcome,
): ResourceRecord {
  const known = before?.until ?? {};
  const added = newEnds(asked, outcome);
  const ends = [...new Set([...Object.keys(known), ...Object.keys(added)])].flatMap((field) => {
    const members = { ...known[field], ...added[field] };
    const list = isDone(outcome) ? asked.expected[field] : undefined;
    const held = Array.isArray(list) ? new Set(asElements(list).map(({ id }) => id)) : undefined;
    const kept = Object.entries(members).flatMap(([id, end]) =>
      end === null || held?.has(id) === false ? [] : [[id, end] as const],
    );
    return kept.length === 0 ? [] : [[field, Object.fromEntries(kept)] as const];
  });
  return ends.length === 0 ? record : { ...record, until: Object.fromEntries(ends) };
}
