import { type Fields, holdsSensitive, isMap, same, type Value } from '../base/values.js';
import type { FieldChange } from '../kinds/change.js';
import type { Declared } from '../kinds/declared.js';
import { contrast, type FieldTypes, value } from '../kinds/fields.js';
import { holdsSecretKey } from '../secrets/names.js';
import type { Action, Change, Plan, Share } from './plan.js';

/** An object as the server showed it when idops last knew it. */
export interface LeftBehind {
  /** The run that left it so; null if it was only read. */
  readonly run: string | null;
  readonly fields: Fields;
}

/**
 * Differences, each with what the last run left where the server shows something else now: then somebody changed the
 * server, and not the manifest alone. `shown` gives what the server shows of a field just now; undefined where it doesn't. Pure.
 */
export function withDrift(
  fields: readonly FieldChange[],
  types: FieldTypes,
  left: LeftBehind,
  shown: (field: string) => Value | undefined,
): readonly FieldChange[] {
  return fields.map((field) => {
    const recorded = recordedAt(field.path, types, left.fields, shown);
    if (recorded === undefined) return field;
    const declared = isAsLeft(field, types, recorded) ? {} : { declared: 'changed' as const };
    return { ...field, drift: { recorded, run: left.run, ...declared } };
  });
}

/**
 * Keys of declared maps that no manifest declares and that somebody changed on the server: they are shown, and stay as they are. Those
 * among `fields` are planned already. Pure.
 */
export function undeclaredDrift(
  fields: readonly FieldChange[],
  declared: Pick<Declared, 'fields'>,
  types: FieldTypes,
  left: LeftBehind,
  shown: (field: string) => Value | undefined,
): readonly FieldChange[] {
  return Object.entries(declared.fields).flatMap(([name, said]) => {
    const [type, was, now] = [types[name], left.fields[name], shown(name)];
    if (type?.type !== 'map' || !isMap(said) || !isMap(was ?? null) || !isMap(now ?? null)) return [];
    const own = new Set([
      ...fields.map(({ path }) => path),
      ...contrast(type, name, said, {}).map(({ path }) => path),
    ]);
    return contrast(type, name, now ?? null, was)
      .filter(({ path, verdict }) => verdict === 'different' && !own.has(path))
      .map(({ path, wanted, got = null, lacks }): FieldChange => {
        // No manifest declares that a value of it is secret.
        const sensitive =
          holdsSensitive(wanted) ||
          holdsSensitive(got) ||
          [wanted, got].some((one) => holdsSecretKey(path, one));
        const drift = { recorded: got, run: left.run, declared: 'nowhere' as const };
        const absent = lacks === 'wanted' ? { was: 'absent' as const } : {};
        return { path, type: 'map', before: wanted, after: wanted, sensitive, ...absent, drift };
      });
  });
}

/** Whether a difference is the server's own, which a plan shows and doesn't touch. */
export function isUnplanned({ drift }: FieldChange): boolean {
  return drift?.declared === 'nowhere';
}

/** Whether what is declared is what was left, so that only the server was changed. */
function isAsLeft({ path, after }: FieldChange, types: FieldTypes, recorded: Value): boolean {
  // A key of a map is compared as one value.
  const type = types[path] ?? value;
  return contrast(type, path, after, recorded).every(({ verdict }) => verdict !== 'different');
}

/** What was left at a path, where that is something else now; undefined where it is the same or where one isn't known. */
function recordedAt(
  path: string,
  types: FieldTypes,
  left: Fields,
  shown: (field: string) => Value | undefined,
): Value | undefined {
  const [field = ''] = /^\w*/.exec(path) ?? [];
  if (!Object.hasOwn(left, field) || !Object.hasOwn(types, field)) return undefined;
  const [was, now] = [left[field], shown(field)];
  if (was === undefined || now === undefined) return undefined;
  const parts = contrast(types[field] ?? value, field, now, was);
  const part = parts.find((one) => one.path === path);
  if (part !== undefined) return part.verdict === 'different' ? (part.got ?? null) : undefined;
  const isOther = parts.some(({ verdict }) => verdict === 'different');
  if (!isOther) return undefined;
  // A map that came or went as a whole since.
  if (path === field) return was;
  const member = memberOf(was, path);
  return same(member, memberOf(now, path)) ? undefined : member;
}

/** What a map had at the path of one of its keys; null where it had none. */
function memberOf(map: Value, path: string): Value {
  // The paths of a map's keys are what comparing it with an empty one says.
  const parts = contrast({ type: 'map' }, /^\w*/.exec(path)?.[0] ?? '', map, {});
  return parts.find((one) => one.path === path)?.wanted ?? null;
}

/** Whether somebody changed the server at one of the fields since idops last knew them. */
export function isDrifted({ fields }: Pick<Change, 'fields'>): boolean {
  return fields.some(({ drift }) => drift !== undefined);
}

/** Whether a plan lists an object: with `debug` all, otherwise those with something to do or to show. */
export function isListed(change: Change, debug: boolean): boolean {
  return debug || change.action !== 'unchanged' || isDrifted(change);
}

/** How much of a plan the server's own changes are. */
export interface DriftCount {
  readonly fields: number;
  readonly objects: number;
}

export function countDrift({ changes }: Pick<Plan, 'changes'>): DriftCount {
  const drifted = changes.filter(isDrifted);
  const fields = drifted.flatMap((change) => change.fields.filter(({ drift }) => drift !== undefined));
  return { fields: fields.length, objects: drifted.length };
}

/** A plan of which a share is shown, and what is left out by that. */
export interface Shared {
  readonly changes: readonly Change[];
  /** How many changes of each action. */
  readonly leftOut: ReadonlyMap<Action, number>;
  /** How many of them would lose something. */
  readonly losesLeftOut: number;
}

/** The changes of a share. An object that has something of both is in both; unchanged ones without drift are in neither, and don't count. */
export function shareOf(changes: readonly Change[], only: Share | undefined): Shared {
  if (only === undefined) return { changes, leftOut: new Map(), losesLeftOut: 0 };
  const leftOut = new Map<Action, number>();
  let losesLeftOut = 0;
  const kept = changes.filter((change) => {
    const isOf = only === 'drift' ? isDrifted(change) : isMade(change);
    if (!isOf && change.action !== 'unchanged') {
      leftOut.set(change.action, (leftOut.get(change.action) ?? 0) + 1);
      if (change.destructions.length > 0) losesLeftOut += 1;
    }
    return isOf;
  });
  return { changes: kept, leftOut, losesLeftOut };
}

/** Whether anything of a change isn't the server's own alone: a field, or what has none. */
function isMade({ action, fields }: Change): boolean {
  return (
    action !== 'unchanged' &&
    (fields.length === 0 || fields.some(({ drift }) => drift === undefined || drift.declared === 'changed'))
  );
}
