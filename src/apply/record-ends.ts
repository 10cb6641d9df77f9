import { filterValues, mapValues, type Value } from '../base/values.js';
import { idsIn } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { End, UntilChanges } from '../plan/plan.js';
import type { ResourceRecord } from '../state/state.js';
import type { ObservedOutcome, RequestedChange } from './recorded-fields.js';

function isDone({ status }: Pick<ObservedOutcome, 'status'>): boolean {
  return status === 'applied' || status === 'not_converged';
}

/** The ends of access that a change has set. After a failure: those of members that it may have added. */
export function newEnds(
  { until = {}, before = {} }: RequestedChange,
  outcome: ObservedOutcome,
): UntilChanges {
  if (isDone(outcome)) return until;
  const { status, ambiguous, after } = outcome;
  if (status === 'skipped' || (after === undefined && !ambiguous)) return {};
  const contains = (set: Value | undefined, id: string): boolean => idsIn(set).includes(id);
  const added = mapValues(until, (ends, field) =>
    filterValues(
      ends,
      (end, id) =>
        end !== null && !contains(before[field], id) && (after === undefined || contains(after[field], id)),
    ),
  );
  return filterValues(added, (ends) => Object.keys(ends).length > 0);
}

/** A record with the ends of access, and the members that idops added, without those that the object no longer has. */
export function withEnds(
  { until: _, given: __, ...record }: ResourceRecord,
  former: ResourceRecord | undefined,
  asked: RequestedChange,
  outcome: ObservedOutcome,
): ResourceRecord {
  const { until: formerUntil = {}, given: formerGiven = {} } = former ?? {};
  const { expected, before = {}, kind } = asked;
  const added = newEnds(asked, outcome);
  const grants = isDone(outcome) && kindOf(kind).access !== undefined;
  const sets = grants
    ? Object.keys(expected).filter((name) => kindOf(kind).fields[name]?.type === 'set')
    : [];
  const until: NonNullable<ResourceRecord['until']> = {};
  const given: NonNullable<ResourceRecord['given']> = {};
  for (const field of new Set([...Object.keys({ ...formerUntil, ...added, ...formerGiven }), ...sets])) {
    const list = isDone(outcome) ? expected[field] : undefined;
    const currentIds = Array.isArray(list) ? new Set(idsIn(list)) : undefined;
    const ends = Object.entries({ ...formerUntil[field], ...added[field] }).filter(
      (entry): entry is [string, End] => entry[1] !== null && currentIds?.has(entry[0]) !== false,
    );
    if (ends.length > 0) until[field] = Object.fromEntries(ends);
    const idsBefore = new Set(idsIn(before[field]));
    const ids = [
      ...(formerGiven[field] ?? []),
      ...ends.flatMap(([id, { received }]) => (received ? [id] : [])),
      ...(sets.includes(field) ? idsIn(list).filter((id) => !idsBefore.has(id)) : []),
    ].filter((id) => currentIds?.has(id) !== false);
    if (ids.length > 0) given[field] = [...new Set(ids)].sort();
  }
  return {
    ...record,
    ...(Object.keys(until).length === 0 ? {} : { until }),
    ...(Object.keys(given).length === 0 ? {} : { given }),
  };
}
