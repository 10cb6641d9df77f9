import { error, type Problem } from '../base/problems.js';
import { canonical, type Json } from '../base/values.js';
import { normalForm, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Plan } from '../plan/plan.js';
import type { StoredPlan } from '../plan/stored.js';
import { redactPlan } from '../report/redact-plan.js';
import { type PlanJson, planSchema } from '../report/schemas.js';
import { storedJson } from '../report/stored.js';
import type { Redactor } from '../secrets/redactor.js';

/** How many differences are listed. */
const MAX_LISTED = 20;

/**
 * A problem if a stored plan differs from the plan that would be applied. Places of declarations, times and details of drift may differ.
 * With `left`, only changes that send requests are compared. `settings` are those of the plan that would be applied: they may explain the
 * differences.
 */
export function storedPlanDiff(
  stored: StoredPlan,
  plan: Plan,
  redactor: Redactor,
  left?: readonly string[],
  settings?: StoredPlan['apply']['settings'],
): Problem[] {
  const { apply: _, ...rest } = stored;
  const read = planSchema.safeParse(rest);
  const made = storedJson(redactPlan(plan, redactor));
  const sending = new Set(
    made.changes.filter(({ requests }) => requests.length > 0).map(({ address }) => address),
  );
  const only = left === undefined ? undefined : sending;
  const found = read.success
    ? differences(reviewedParts(read.data, only), reviewedParts(made, only))
    : [`${read.error.issues[0]?.path.map(String).join('.')} is missing or invalid`];
  if (found.length === 0) return [];
  const listed =
    found.length > MAX_LISTED
      ? [...found.slice(0, MAX_LISTED), `and ${found.length - MAX_LISTED} more`]
      : found;
  const { settings: before } = stored.apply;
  const sections = (['checks', 'safety'] as const).filter(
    (section) => before !== undefined && settings !== undefined && before[section] !== settings[section],
  );
  const hint = 'nothing was sent; make a new plan with idops plan --out FILE and review it';
  if (sections.length > 0) {
    const message = `stale plan: ${sections.join(' and ')} changed in the configuration, so these differ: ${listed.join('; ')}`;
    return [error('stale-plan', message, [], hint)];
  }
  const message = `the stored plan differs from what apply would do: ${listed.join('; ')}`;
  return [error('plan-altered', message, [], hint)];
}

/** The parts of a plan that a reviewer sees, as canonical JSON, by their names in messages. */
type ReviewedParts = ReadonlyMap<string, string>;

/** Prefix of the part that is an object's label. */
const LABEL_PREFIX = 'the name of ';

function differences(shown: ReviewedParts, now: ReviewedParts): string[] {
  // A label that the stored plan lacks may have become known later.
  const isAll = (part: string): boolean => shown.has(part) || !part.startsWith(LABEL_PREFIX);
  const parts = new Set([...shown.keys(), ...now.keys()].filter(isAll));
  return [...parts].filter((part) => shown.get(part) !== now.get(part));
}

function reviewedParts(
  { profile, summary, required_scopes: scopes, warnings, changes }: PlanJson,
  only: ReadonlySet<string> | undefined,
): ReviewedParts {
  const { drift: _, ...counts } = summary;
  const planned = changes.filter(({ address, action }) => only?.has(address) ?? action !== 'unchanged');
  const parts = planned.flatMap((change) => {
    const {
      address,
      label,
      kind,
      fields,
      warnings: told,
      declared_at: _,
      recorded_at: _time,
      ...rest
    } = change;
    return [
      [address, { ...rest, kind, warnings: warningKeys(told) }],
      ...(label === undefined ? [] : [[`${LABEL_PREFIX}${address}`, label]]),
      ...fields
        .filter(({ drift }) => drift?.declared !== 'nowhere')
        .map((field) => [`${address}: ${field.path}`, reviewedField(kind, field)]),
    ] as [string, unknown][];
  });
  const whole = { profile, summary: counts, scopes: [...scopes].sort(), warnings: warningKeys(warnings) };
  const named = Object.entries(only === undefined ? whole : {}).map(([part, form]): [string, unknown] => [
    `the ${part}`,
    form,
  ]);
  return new Map([...named, ...parts].map(([part, form]) => [part, canonical(form as Json)]));
}

/** A field of a change, with its sets sorted and without its drift. */
function reviewedField(
  kind: PlanJson['changes'][number]['kind'],
  field: { readonly [part: string]: unknown },
) {
  const { path, before, after, drift: _, places: _places, ...rest } = field as { [part: string]: Json };
  const types = kindOf(kind).fields;
  const type = typeof path === 'string' && Object.hasOwn(types, path) ? types[path] : undefined;
  const form = (side: Json | undefined) => normalForm(type ?? value, side ?? null);
  return { ...rest, before: form(before), after: form(after) };
}

/** The warnings as texts, without `access-ends-soon`, which depends on the time. */
function warningKeys(warnings: PlanJson['warnings']): string[] {
  return warnings
    .filter(({ code }) => code !== 'access-ends-soon')
    .map(({ code, message }) => `${code} ${message}`)
    .sort();
}
