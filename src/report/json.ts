import { type Result, summarizeResult } from '../apply/result.js';
import { isPlannedId } from '../base/identifiers.js';
import type { Problem } from '../base/problems.js';
import {
  holdsSensitive,
  isMap,
  type Json,
  mapValues,
  Sensitive,
  type Value,
  withoutUndefined,
} from '../base/values.js';
import { countDrift, isListed, shareOf } from '../plan/drift.js';
import {
  type Change,
  countPrivileged,
  type FieldChange,
  isPrivileged,
  type Plan,
  type PlanWarning,
  type Share,
  summarize,
  type WarningPlace,
} from '../plan/plan.js';
import { operationPath, operations } from '../server/operations.js';
import type { ChangeJson, FieldJson, PlaceJson, PlanJson, ResultJson, WarningJson } from './schemas.js';

/** With `debug`, lists unchanged objects too. `only` selects changes; summary and digest cover the whole plan. */
export function planJson(plan: Plan, { debug, only }: { debug: boolean; only?: Share }): PlanJson {
  const { changes, leftOut } = shareOf(plan.changes, only);
  const { objects: drift } = countDrift(plan);
  const privileged = countPrivileged(plan);
  const { create, ...counts } = summarize(plan);
  return {
    format_version: 1,
    tool_version: plan.toolVersion,
    created_at: plan.createdAt,
    server: plan.server,
    profile: plan.profile,
    environment: plan.environment,
    ...withoutUndefined({
      shard: plan.shard,
      now: plan.asOf,
      holds_until: plan.holdsUntil,
      partial: plan.partial,
    }),
    summary: {
      ...(create > 0 ? { create } : {}),
      ...counts,
      ...(privileged > 0 ? { privileged } : {}),
      ...(drift > 0 ? { drift } : {}),
    },
    required_scopes: [...plan.requiredScopes],
    ...(only === undefined ? {} : { only, left_out: Object.fromEntries(leftOut) }),
    changes: changes.filter((change) => isListed(change, debug)).map(changeJson),
    warnings: plan.warnings.map(warningJson),
    digest: plan.digest,
  };
}

function warningJson({ code, message, place, places, morePlaces }: PlanWarning): WarningJson {
  return {
    code,
    message,
    ...withoutUndefined({
      place: place && placeJson(place),
      places: places?.map(placeJson),
      more_places: morePlaces,
    }),
  };
}

export function placeJson({ file, inProject = file, line, column }: WarningPlace): PlaceJson {
  return { file: inProject, line, ...withoutUndefined({ column }) };
}

function changeJson(change: Change): ChangeJson {
  return {
    address: change.address,
    ...withoutUndefined({ label: change.label }),
    kind: change.kind,
    action: change.action,
    observed: change.observed,
    ...withoutUndefined({ recorded_at: change.observed === 'recorded' ? change.recordedAt : undefined }),
    destructive: change.destructions.length > 0,
    destructions: [...change.destructions],
    privileged: isPrivileged(change),
    ...withoutUndefined({ privileges: change.privileges && [...change.privileges] }),
    requests: change.requests.map(({ operation, params }) => ({
      method: operations[operation].method,
      path: operationPath(operation, params),
    })),
    fields: change.fields.map(fieldJson),
    warnings: change.warnings.map(warningJson),
    reason: change.reason,
    declared_at: change.declaredAt === null ? null : placeJson(change.declaredAt),
  };
}

export function fieldJson(field: FieldChange): FieldJson {
  const { path, type, before, sensitive, becomes, was, places, drift } = field;
  const after = ['set', 'reference', 'members'].includes(type) ? withoutPlannedIds(field.after) : field.after;
  const more = withoutUndefined({
    places: places?.map(placeJson),
    drift: drift && { ...drift, recorded: recordedJson(drift.recorded, sensitive) },
  });
  const lost = withoutUndefined({ becomes });
  if (sensitive)
    return { path, before: { sensitive: true }, after: { sensitive: true }, sensitive, ...lost, ...more };
  return {
    path,
    before: before === undefined ? { unknown: true } : jsonOf(before),
    // The server's built-in text is unknown.
    after: becomes === 'built-in' ? { unknown: true } : jsonOf(after),
    sensitive,
    ...lost,
    ...(was === 'absent' ? { was } : {}),
    ...more,
  };
}

function recordedJson(recorded: Value, sensitive: boolean): Json {
  return sensitive || holdsSensitive(recorded) ? { sensitive: true } : jsonOf(recorded);
}

/** A value as JSON; secrets become `{"sensitive": true}`. */
export function jsonOf(value: Value): Json {
  if (value instanceof Sensitive) return value.toJSON();
  if (Array.isArray(value)) return value.map(jsonOf);
  return isMap(value) ? mapValues(value, jsonOf) : value;
}

export function resultJson(result: Result): ResultJson {
  return {
    format_version: 1,
    run: result.run,
    ...withoutUndefined({ shard: result.shard, undoes: result.undoes }),
    summary: summarizeResult(result),
    results: result.results.map((one) => ({
      address: one.address,
      ...withoutUndefined({ label: one.label }),
      action: one.action,
      status: one.status,
      http_status: one.httpStatus,
      attempts: one.attempts,
      unverified: [...one.unverified],
      error: one.error,
      ...withoutUndefined({ notes: one.notes && [...one.notes], did: one.did }),
    })),
  };
}

export function problemsJson(problems: readonly Problem[]) {
  return {
    format_version: 1,
    problems: problems.map(({ code, severity, message, hint, places, morePlaces }) => ({
      code,
      severity,
      message,
      hint: hint ?? null,
      places: places.map(placeJson),
      ...withoutUndefined({ more_places: morePlaces }),
    })),
  };
}

/** A report of the type `terraform`, which GitLab shows in a merge request. */
export function planGitlab(plan: Plan) {
  const { create, update, regenerate, delete: deleted } = summarize(plan);
  return { create, update: update + regenerate, delete: deleted };
}

/** The value without the temporary ids that a plan gives to new objects. */
function withoutPlannedIds(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutPlannedIds);
  if (!isMap(value)) return value;
  const { id } = value;
  const isPlanned = typeof id === 'string' && isPlannedId(id);
  const members = Object.entries(value).filter(([name]) => name !== 'id' || !isPlanned);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutPlannedIds(member)]));
}
