import { type Fields, filterValues, holdsSensitive, isMap, same, type Value } from '../base/values.js';
import {
  asElements,
  compareField,
  type FieldType,
  mapWithCounterparts,
  matchSets,
  value,
} from '../kinds/fields.js';
import type { UntilChanges } from '../plan/plan.js';
import type { Dates } from '../plan/until.js';
import { type LeftField, SECRET_BEFORE } from './undo-deletion.js';

const UNKNOWN_BEFORE = 'the value before the run is unknown';
const ENDED = 'access that has ended is not restored';
const PASSED = 'its end before the run has passed';
export const CHANGED_SINCE = 'it was changed since the run (--force restores it anyway)';

/** A set before and after the run, and the ends of its members: before the run, changed by it, and now. */
interface ChangedSet {
  readonly was: Value;
  readonly became: Value;
  readonly isByMember: boolean;
  readonly ended: readonly string[];
  readonly former: Dates[string];
  readonly changed: UntilChanges[string];
  readonly present: Dates[string];
  readonly now: Date;
  readonly force: boolean;
}

/**
 * Restores the members that the run removed and the former ends, and removes the members that it added. Access that has ended is not
 * restored. If only single members are managed, the others aren't changed.
 */
export function undoSet(
  type: FieldType,
  path: string,
  { was, became, isByMember, ended, former, changed, present, now, force }: ChangedSet,
): ReturnType<typeof undoField> {
  const left: LeftField[] = [];
  const { pairs, added, removed } = matchSets(asElements(became), asElements(was));
  const isOver = (id: string): boolean => Date.parse(former[id]?.at ?? '') <= now.getTime();
  const back = removed.filter(({ id }) => !ended.includes(String(id)) && !isOver(String(id)));
  if (back.length < removed.length) left.push({ path, reason: ENDED });
  const moved = pairs.flatMap(({ got }) => {
    const id = String(got.id);
    const { [id]: end } = changed;
    if (end === undefined || end?.at === former[id]?.at) return [];
    const isChanged = !force && end?.at !== present[id]?.at;
    if (!isChanged && !isOver(id)) return [got];
    const name = former[id]?.name ?? end?.name ?? id;
    left.push({ path: `${path}[${JSON.stringify(name)}].until`, reason: isChanged ? CHANGED_SINCE : PASSED });
    return [];
  });
  const dated = (element: Fields): Fields => {
    const id = String(element.id);
    const end = back.includes(element) || moved.includes(element) ? former[id] : present[id];
    return end === undefined ? element : { ...element, until: end.at };
  };
  if (isByMember) {
    const add = [...back, ...moved].map(dated);
    if (add.length + added.length === 0) return { value: undefined, left };
    return { value: { add, remove: [...added] }, left };
  }
  const gone = new Set(removed.filter((element) => !back.includes(element)));
  const whole = asElements(was).filter((element) => !gone.has(element));
  const { value } = undoField(type, path, became, whole, became);
  return { value: value === undefined && moved.length === 0 ? undefined : whole.map(dated), left };
}

/** The value that restores a field; undefined if there is nothing to restore. */
export function undoField(
  type: FieldType,
  path: string,
  asked: Value,
  was: Value | undefined,
  became: Value,
): { value: Value | undefined; left: readonly LeftField[] } {
  if (type.type === 'members' && isMap(asked) && isMap(became) && (was === undefined || isMap(was))) {
    // The answer also shows members that the run didn't change.
    const members = Object.entries(asked).map(([member, wish]) => {
      const inner = type.members[member] ?? value;
      return {
        member,
        ...undoField(inner, `${path}.${member}`, wish, was?.[member], became[member] ?? wish),
      };
    });
    const known = members.flatMap(({ member, value }) =>
      value === undefined ? [] : [[member, value] as const],
    );
    return {
      value: known.length === 0 ? undefined : Object.fromEntries(known),
      left: members.flatMap(({ left }) => left),
    };
  }
  const nothing = { value: undefined, left: [] };
  if (type.type === 'list' && Array.isArray(was) && Array.isArray(became)) {
    const back = mapWithCounterparts(type.by, was, became, withoutEqualSecrets);
    if (compareField(type, path, back, became).every(({ verdict }) => verdict === 'same')) return nothing;
    return holdsSensitive(back)
      ? { ...nothing, left: [{ path, reason: SECRET_BEFORE }] }
      : { value: back, left: [] };
  }
  if (was === undefined) return { ...nothing, left: [{ path, reason: UNKNOWN_BEFORE }] };
  if (holdsSensitive(was))
    return same(was, became) ? nothing : { ...nothing, left: [{ path, reason: SECRET_BEFORE }] };
  if (compareField(type, path, was, became).every(({ verdict }) => verdict === 'same')) return nothing;
  if (type.type === 'map' && isMap(was) && isMap(became)) return { value: mapPatch(was, became), left: [] };
  return { value: type.type === 'set' ? asElements(was) : was, left: [] };
}

/** An element without secrets that are equal in another one: an update keeps members that are left out. */
function withoutEqualSecrets(element: Value, other: Value | undefined): Value {
  if (!isMap(element) || !isMap(other)) return element;
  return filterValues(element, (was, member) => !holdsSensitive(was) || !same(was, other[member] ?? null));
}

/** The merge patch that restores a map: former values, and null for added keys. */
function mapPatch(was: Fields, became: Fields): Value {
  const changed = Object.keys({ ...was, ...became }).filter(
    (key) =>
      Object.hasOwn(was, key) !== Object.hasOwn(became, key) || !same(was[key] ?? null, became[key] ?? null),
  );
  return Object.fromEntries(changed.map((key) => [key, Object.hasOwn(was, key) ? (was[key] ?? null) : null]));
}
