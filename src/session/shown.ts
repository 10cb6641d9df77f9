import * as z from 'zod';
import { error, type Problem } from '../base/problems.js';
import { mask, type Redactor } from '../base/redact.js';
import { canonical, type Json } from '../base/values.js';
import { normalForm, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { KindName } from '../kinds/kind.js';
import type { Plan } from '../plan/plan.js';
import type { StoredPlan } from '../plan/stored.js';
import { redactPlan } from '../report/redacted.js';
import type { PlanJson } from '../report/schemas.js';
import { storedJson } from '../report/stored.js';

type ChangeJson = PlanJson['changes'][number];

/** What of a stored plan people judge it by, as loosely as a later idops may have stored it. */
const shownSchema = z.looseObject({
  tool_version: z.string(),
  profile: z.string(),
  summary: z.looseObject({}),
  required_scopes: z.array(z.string()),
  warnings: z.array(z.looseObject({ code: z.string(), message: z.string() })),
  changes: z.array(
    z.looseObject({
      address: z.string(),
      label: z.string().optional(),
      action: z.string(),
      observed: z.string(),
      destructive: z.boolean(),
      destructions: z.array(z.string()),
      requests: z.array(z.looseObject({ method: z.string(), path: z.string() })),
      fields: z.array(
        z.looseObject({
          path: z.string(),
          before: z.unknown(),
          after: z.unknown(),
          sensitive: z.boolean(),
        }),
      ),
      warnings: z.array(z.looseObject({ code: z.string(), message: z.string() })),
      reason: z.string().nullable(),
    }),
  ),
});

type Shown = z.infer<typeof shownSchema>;
type ShownChange = Shown['changes'][number];

/**
 * What a stored plan shows otherwise than the plan that would be applied for it, which has the same changes; nothing where it
 * shows that very plan. Where things are declared, when, and since which run the server was changed may be otherwise.
 */
export function shownOtherwise(stored: StoredPlan, plan: Plan, redactor: Redactor): Problem[] {
  const parsed = shownSchema.safeParse(stored);
  const found = parsed.success
    ? differences(parsed.data, storedJson(redactPlan(plan, redactor)))
    : [`${parsed.error.issues[0]?.path.map(String).join('.')} isn't there, or is something else`];
  if (found.length === 0) return [];
  const told = found.length > SHOWN ? [...found.slice(0, SHOWN), `and ${found.length - SHOWN} more`] : found;
  return [
    error(
      'plan-altered',
      `the stored plan shows something else than applying it would do: ${told.join('; ')}`,
      [],
      'nothing was sent; make a new one with idops plan --out FILE and review it',
    ),
  ];
}

/** How many differences are told one by one. */
const SHOWN = 20;

function differences(shown: Shown, now: PlanJson): string[] {
  // Sentences may be worded otherwise in another version; what they are about is compared in any.
  const worded = shown.tool_version === now.tool_version;
  const { drift: _, ...counted } = shown.summary;
  const { drift: __, ...counts } = now.summary;
  const whole = [
    ...(shown.profile === now.profile ? [] : ['the profile']),
    ...(alike(counted, counts) ? [] : ['the summary']),
    ...(alike([...shown.required_scopes].sort(), [...now.required_scopes].sort()) ? [] : ['the scopes']),
    ...(alike(told(shown.warnings, worded), told(now.warnings, worded)) ? [] : ['the warnings']),
  ];
  if (shown.changes.length !== now.changes.length) return [...whole, 'the number of changes'];
  const left = new Map(now.changes.map((change) => [change.address, change]));
  return [
    ...whole,
    ...shown.changes.flatMap((change) => {
      const same =
        left.get(change.address) ?? [...left.values()].find(({ address }) => names(change.address, address));
      if (same === undefined) return [`${change.address} isn't in it`];
      left.delete(same.address);
      const parts = differing(change, same, worded);
      return parts.length === 0 ? [] : [`${same.address}: ${parts.join(', ')}`];
    }),
  ];
}

/** The parts of a change that are shown otherwise. */
function differing(shown: ShownChange, now: ChangeJson, worded: boolean): string[] {
  const requests = shown.requests.map(({ method, path }) => `${method} ${path}`);
  const kept = new Map(shown.fields.map((field) => [field.path, field]));
  const paths = new Set([...kept.keys(), ...now.fields.map(({ path }) => path)]);
  const present = new Map(now.fields.map((field) => [field.path, field]));
  const sentences = (texts: readonly string[]): Json => (worded ? [...texts] : texts.length);
  return [
    ...(shown.action === now.action ? [] : ['the action']),
    ...(shown.observed === now.observed ? [] : ['where its present value is known from']),
    ...(shown.label === undefined || shown.label === now.label ? [] : ['what it is called']),
    ...(requests.length === now.requests.length &&
    now.requests.every(({ method, path }, at) => names(requests[at] ?? '', `${method} ${path}`))
      ? []
      : ['the requests']),
    ...(shown.destructive === now.destructive &&
    alike(sentences(shown.destructions), sentences(now.destructions))
      ? []
      : ['what would be lost']),
    ...(alike(told(shown.warnings, worded), told(now.warnings, worded)) ? [] : ['the warnings']),
    ...((worded ? shown.reason === now.reason : (shown.reason === null) === (now.reason === null))
      ? []
      : ['why it is blocked']),
    ...[...paths].filter((path) => {
      const [one, other] = [kept.get(path), present.get(path)];
      return (
        one === undefined ||
        other === undefined ||
        !alike(fieldForm(now.kind, one), fieldForm(now.kind, other)) ||
        // Who shows names as confirmed by the server leaves out the ids beside them.
        (one.confirmed === true && other.confirmed !== true)
      );
    }),
  ];
}

/** A difference in the form that its meaning has alone: sets in one order, without what is told beside it. */
function fieldForm(kind: KindName, field: { readonly [part: string]: unknown }): Json {
  const { path, before, after, sensitive, becomes = null, was = null } = field as { [part: string]: Json };
  const types = kindOf(kind).fields;
  const type = typeof path === 'string' && Object.hasOwn(types, path) ? types[path] : undefined;
  const form = (side: Json | undefined) => normalForm(type ?? value, side ?? null) as Json;
  return [path ?? null, form(before), form(after), sensitive ?? null, becomes, was];
}

function told(
  warnings: readonly { readonly code: string; readonly message: string }[],
  worded: boolean,
): Json {
  return warnings.map(({ code, message }) => (worded ? `${code} ${message}` : code)).sort();
}

function alike(a: unknown, b: unknown): boolean {
  return canonical(a as Json) === canonical(b as Json);
}

/** Whether a name, in which something may be masked that isn't a credential any more, can be another one. */
function names(masked: string, name: string): boolean {
  const [first = '', ...rest] = masked.split(mask);
  if (rest.length === 0) return masked === name;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}
