import { type Fields, holdsSensitive, isMap, same, type Value } from '../base/values.js';
import type { FieldChange } from '../kinds/change.js';
import type { Declared } from '../kinds/declared.js';
import { asElements, compareField, type FieldTypes, matchSets, pickMembers, value } from '../kinds/fields.js';
import { holdsSecretKey } from '../secrets/names.js';
import { type Action, type Change, isPrivileged, type Plan, type Share } from './plan.js';

/** Returns the server's present value of a field; undefined if the server doesn't show it. */
export type LiveValueOf = (field: string) => Value | undefined;

/** An object as the server last showed it. */
export interface LastShown {
  /** The run that last wrote it; null if idops only read it. */
  readonly run: string | null;
  readonly fields: Fields;
}

/**
 * Adds to each difference the value that idops saw last, if the server shows another one now. Pure.
 */
export function withDrift(
  fields: readonly FieldChange[],
  types: FieldTypes,
  left: LastShown,
  shown: LiveValueOf,
) {
  return fields.map((field) => {
    const recorded = field.byMember
      ? recordedMembers(field, left.fields, shown)
      : recordedAt(field.path, types, left.fields, shown);
    if (recorded === undefined) return field;
    const declared = isAsLeft(field, types, recorded) ? {} : { declared: 'changed' as const };
    return { ...field, drift: { recorded, run: left.run, ...declared } };
  });
}

/**
 * The drift of undeclared keys in declared maps. The plan shows it and doesn't change it. Keys in `fields` are already planned. Pure.
 */
export function undeclaredDrift(
  fields: readonly FieldChange[],
  declared: Pick<Declared, 'fields'>,
  types: FieldTypes,
  left: LastShown,
  shown: LiveValueOf,
): readonly FieldChange[] {
  return Object.entries(declared.fields).flatMap(([name, declaredMap]) => {
    const [type, was, now] = [types[name], left.fields[name], shown(name)];
    if (type?.type !== 'map' || !isMap(declaredMap) || !isMap(was ?? null) || !isMap(now ?? null)) return [];
    const own = new Set([
      ...fields.map(({ path }) => path),
      ...compareField(type, name, declaredMap, {}).map(({ path }) => path),
    ]);
    return compareField(type, name, now ?? null, was)
      .filter(({ path, verdict }) => verdict === 'different' && !own.has(path))
      .map(({ path, wanted, got = null, absentFrom }): FieldChange => {
        // No manifest declares whether its value is secret.
        const sensitive =
          holdsSensitive(wanted) ||
          holdsSensitive(got) ||
          [wanted, got].some((one) => holdsSecretKey(path, one));
        const drift = { recorded: got, run: left.run, declared: 'nowhere' as const };
        const absent = absentFrom === 'wanted' ? { was: 'absent' as const } : {};
        return { path, type: 'map', before: wanted, after: wanted, sensitive, ...absent, drift };
      });
  });
}

/** Whether a difference is drift that the plan shows and doesn't change. */
export function isUnplanned({ drift }: FieldChange): boolean {
  return drift?.declared === 'nowhere';
}

/** Whether the declared value is the one that idops saw last, so that only the server changed. */
function isAsLeft({ path, after }: FieldChange, types: FieldTypes, recorded: Value): boolean {
  // A key of a map is compared as one value.
  const type = types[path] ?? value;
  return compareField(type, path, after, recorded).every(({ verdict }) => verdict !== 'different');
}

/** The managed members that idops saw last in a set, if they have changed. */
function recordedMembers({ path, before = [], after }: FieldChange, left: Fields, shown: LiveValueOf) {
  const [was, now] = [left[path], shown(path)];
  if (was === undefined || now === undefined) return undefined;
  const named = [...asElements(before), ...asElements(after)];
  const members = pickMembers(was, named);
  const { added, removed } = matchSets(pickMembers(now, named), members);
  return added.length + removed.length === 0 ? undefined : members;
}

/** The value that idops saw last at a path, if it has changed; undefined if it has not, or if one value is unknown. */
function recordedAt(path: string, types: FieldTypes, left: Fields, shown: LiveValueOf): Value | undefined {
  const [field = ''] = /^\w*/.exec(path) ?? [];
  if (!Object.hasOwn(left, field) || !Object.hasOwn(types, field)) return undefined;
  const [was, now] = [left[field], shown(field)];
  if (was === undefined || now === undefined) return undefined;
  const parts = compareField(types[field] ?? value, field, now, was);
  const part = parts.find((one) => one.path === path);
  if (part !== undefined) return part.verdict === 'different' ? (part.got ?? null) : undefined;
  const isOther = parts.some(({ verdict }) => verdict === 'different');
  if (!isOther) return undefined;
  // The whole map was added or removed since.
  if (path === field) return was;
  const member = memberOf(was, path);
  return same(member, memberOf(now, path)) ? undefined : member;
}

/** A map's value at the path of one of its keys; null if there is none. */
function memberOf(map: Value, path: string): Value {
  // A comparison with an empty map gives the paths of all keys.
  const parts = compareField({ type: 'map' }, /^\w*/.exec(path)?.[0] ?? '', map, {});
  return parts.find((one) => one.path === path)?.wanted ?? null;
}

/** Whether one of the fields has drifted. */
export function isDrifted({ fields }: Pick<Change, 'fields'>): boolean {
  return fields.some(({ drift }) => drift !== undefined);
}

/** Whether a plan lists an object: with `debug` all, otherwise those with a change or drift. */
export function isListed(change: Change, debug: boolean): boolean {
  return debug || change.action !== 'unchanged' || isDrifted(change);
}

/** How many fields and objects have drifted. */
export function countDrift({ changes }: Pick<Plan, 'changes'>): {
  readonly fields: number;
  readonly objects: number;
} {
  const drifted = changes.filter(isDrifted);
  const fields = drifted.flatMap((change) => change.fields.filter(({ drift }) => drift !== undefined));
  return { fields: fields.length, objects: drifted.length };
}

/** The part of a plan to show, privileged changes first, and counts of the rest. */
export interface PlanShare {
  readonly changes: readonly Change[];
  /** How many changes of each action. */
  readonly leftOut: ReadonlyMap<Action, number>;
  /** How many changes that are left out are destructive. */
  readonly losesLeftOut: number;
}

/** The changes of a share. An object with drift and a change is in both; an unchanged object without drift is in neither. */
export function shareOf(changes: readonly Change[], only: Share | undefined): PlanShare {
  const ordered = [...changes.filter(isPrivileged), ...changes.filter((change) => !isPrivileged(change))];
  if (only === undefined) return { changes: ordered, leftOut: new Map(), losesLeftOut: 0 };
  const leftOut = new Map<Action, number>();
  let losesLeftOut = 0;
  const kept = ordered.filter((change) => {
    const isOf = only === 'drift' ? isDrifted(change) : isMade(change);
    if (!isOf && change.action !== 'unchanged') {
      leftOut.set(change.action, (leftOut.get(change.action) ?? 0) + 1);
      if (change.destructions.length > 0) losesLeftOut += 1;
    }
    return isOf;
  });
  return { changes: kept, leftOut, losesLeftOut };
}

/** Whether the manifests cause a change, or a part of it. */
function isMade({ action, fields }: Change): boolean {
  return (
    action !== 'unchanged' &&
    (fields.length === 0 || fields.some(({ drift }) => drift === undefined || drift.declared === 'changed'))
  );
}
