import type { ProblemCode } from '../base/problem-codes.js';
import { isMap, type Json, mapValues, Sensitive, type Value, withoutUndefined } from '../base/values.js';
import type { FieldType } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import { isListed, shareOf } from '../plan/drift.js';
import type { Change, FieldChange, Plan, WarningPlace } from '../plan/plan.js';
import { requestOf, type WriteRequest } from '../server/operations.js';
import { planJson } from './json.js';
import type { ChangeJson, FieldJson, PlaceJson, PlanJson, WarningJson } from './schemas.js';

/** What showing a stored plan needs in addition to its JSON. */
export interface StoredSelection {
  readonly objects: readonly { readonly address: string; readonly action: string }[];
  readonly targets: readonly string[];
  readonly kinds: readonly string[];
}

/** The JSON of a plan for a plan file: with `confirmed`, which showing it again needs. */
export function storedJson(plan: Plan): PlanJson {
  const shown = planJson(plan, { debug: false });
  const listed = shareOf(plan.changes, undefined).changes.filter((change) => isListed(change, false));
  return {
    ...shown,
    changes: shown.changes.map((change, changeIndex) => ({
      ...change,
      fields: change.fields.map((field, fieldIndex) =>
        listed[changeIndex]?.fields[fieldIndex]?.confirmed === true ? { ...field, confirmed: true } : field,
      ),
    })),
  };
}

/** A stored plan that can only be shown; hidden values stay hidden. Undefined if a request isn't one of the API. */
export function planOfJson(json: PlanJson, { objects, targets, kinds }: StoredSelection): Plan | undefined {
  const changes = json.changes.map(changeOfJson);
  if (!changes.every((change) => change !== undefined)) return undefined;
  const shown = new Set(changes.map(({ address }) => address));
  const unchanged = objects.filter(({ address, action }) => action === 'unchanged' && !shown.has(address));
  return {
    toolVersion: json.tool_version,
    createdAt: json.created_at,
    server: json.server,
    profile: json.profile as Plan['profile'],
    environment: json.environment,
    ...withoutUndefined({ asOf: json.now, holdsUntil: json.holds_until, shard: json.shard }),
    changes: [...changes, ...unchanged.map(({ address }) => unchangedOf(address))],
    requiredScopes: json.required_scopes as Plan['requiredScopes'],
    warnings: json.warnings.map(warningOfJson),
    ...(objects.length === 0 && (targets.length + kinds.length > 0 || json.shard !== undefined)
      ? { leavesOut: true }
      : {}),
    digest: json.digest,
  };
}

function warningOfJson({ code, message, place, places, more_places }: WarningJson) {
  return {
    code: code as ProblemCode,
    message,
    ...withoutUndefined({
      place: place && placeOfJson(place),
      places: places?.map(placeOfJson),
      morePlaces: more_places,
    }),
  };
}

function placeOfJson({ file, line, column }: PlaceJson): WarningPlace {
  return { file, line, ...withoutUndefined({ column }) };
}

function changeOfJson(json: ChangeJson): Change | undefined {
  const { address, label, kind, action, recorded_at, privileges } = json;
  const requests = json.requests.map(({ method, path }) => requestOf(method, path));
  if (!requests.every((request): request is WriteRequest => request !== undefined)) return undefined;
  const fields = json.fields.map((field) => fieldOfJson(kind, field, json.action === 'create'));
  const generation = fields.find(({ path }) => path === kindOf(kind).regeneration?.counter)?.after;
  const change = changeForDisplay({ address, ...withoutUndefined({ label }), kind, action, fields });
  return {
    ...change,
    observed: json.observed,
    ...withoutUndefined({ recordedAt: recorded_at, privileges }),
    destructions: json.destructions,
    requests,
    warnings: json.warnings.map(warningOfJson),
    reason: json.reason,
    declaredAt: json.declared_at,
    apply: {
      ...change.apply,
      // Only differences are known.
      before: bodiesOf(fields, ({ before }) => before),
      expected: bodiesOf(fields, ({ after }) => after),
      ...(typeof generation === 'number' ? { generation } : {}),
    },
  };
}

function bodiesOf(
  fields: readonly FieldChange[],
  side: (field: FieldChange) => Value | undefined,
): Change['apply']['before'] {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = field.sensitive ? new Sensitive(null) : side(field);
      return field.type !== 'body' || value === undefined ? [] : [[field.path, value]];
    }),
  );
}

function unchangedOf(address: string): Change {
  const kind = address.slice(0, address.indexOf('/')) as Change['kind'];
  return changeForDisplay({ address, kind, action: 'unchanged', fields: [] });
}

/** A change that can only be shown: what isn't given is empty. */
export function changeForDisplay(
  change: Pick<Change, 'address' | 'label' | 'kind' | 'action' | 'fields'>,
): Change {
  return {
    ...change,
    observed: 'live',
    destructions: [],
    requests: [],
    warnings: [],
    reason: null,
    declaredAt: null,
    apply: { key: change.address, identity: {}, expected: {}, before: {}, existed: null, managed: [] },
  };
}

function fieldOfJson(kind: Change['kind'], json: FieldJson, isNew: boolean): FieldChange {
  const { path, sensitive, becomes, was, confirmed, places, drift } = json;
  return {
    path,
    type: typeAt(kind, path),
    before: sideOf(json.before),
    // `becomes` says what the server then uses.
    after: becomes === undefined ? (sideOf(json.after) ?? null) : null,
    sensitive,
    ...withoutUndefined({
      becomes,
      was: isNew ? ('new' as const) : was,
      confirmed,
      places: places?.map(placeOfJson),
      drift: drift && driftOfJson(drift),
    }),
  };
}

function driftOfJson({ recorded, run, declared }: NonNullable<FieldJson['drift']>) {
  return { recorded: valueOfJson(recorded), run, ...withoutUndefined({ declared }) };
}

/** One side of a difference; undefined if unknown. */
function sideOf(json: Json): Value | undefined {
  return isMap(json) && json.unknown === true && Object.keys(json).length === 1
    ? undefined
    : valueOfJson(json);
}

function valueOfJson(json: Json): Value {
  if (Array.isArray(json)) return json.map(valueOfJson);
  if (!isMap(json)) return json;
  const isSensitive = json.sensitive === true && Object.keys(json).length === 1;
  return isSensitive ? new Sensitive(null) : mapValues(json as { [key: string]: Json }, valueOfJson);
}

function typeAt(kind: Change['kind'], path: string): FieldType['type'] {
  const [name = '', member = ''] = path.split(/[.[]/);
  const { fields } = kindOf(kind);
  const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (type?.type !== 'members' || member === '') return type?.type ?? 'value';
  return Object.hasOwn(type.members, member) ? (type.members[member]?.type ?? 'value') : 'value';
}
