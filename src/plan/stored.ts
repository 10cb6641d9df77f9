import * as z from 'zod';
import { parseJson } from '../base/json.js';
import { error, type Problem } from '../base/problems.js';
import type { Safety } from '../base/safety.js';
import { type Shard, shardText } from '../base/shard.js';
import { holdsSensitive, isMap, type Json, mapValues, Sensitive, type Value } from '../base/values.js';
import { type FieldType, normalForm, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { ChecksSettings } from '../mail/settings.js';
import type { Hasher } from '../secrets/hash.js';
import { redactAddress } from '../secrets/redactor.js';
import { eachWithSlowHashes } from '../secrets/slow-hash.js';
import { type DigestScope, digestHasher, hashOf, planDigest, withHashes } from './digest.js';
import type { Change, Plan } from './plan.js';

const hash = z.string().describe('A hash that tells whether it is the same now');

/** What a stored plan contains in addition, so that apply can check whether it is current. */
const sealSchema = z
  .strictObject({
    targets: z.array(z.string()),
    kinds: z.array(z.string()),
    prune: z.boolean(),
    assert: z.boolean(),
    shard: z
      .strictObject({ index: z.int().min(1), count: z.int().min(1) })
      .optional()
      .describe('The part of the objects that it is about; left out where it is about all'),
    settings: z
      .strictObject({ checks: hash, safety: hash })
      .optional()
      .describe('Sections of the configuration that decide how changes are judged'),
    objects: z.array(
      z.strictObject({
        address: z.string(),
        action: z.string(),
        observed: hash.describe('Over everything that was observed of the object'),
        requests: hash.describe('Over what would be sent for it'),
      }),
    ),
    whole: hash.describe('Over all the rest of the file, whatever its layout'),
  })
  .describe('What else apply needs');

export type Seal = z.infer<typeof sealSchema>;

const storedSchema = z.looseObject({
  format_version: z.literal(1),
  server: z.string(),
  environment: z.string().nullable(),
  created_at: z.string(),
  holds_until: z.string().optional(),
  digest: z.string(),
  apply: sealSchema,
});

/** A plan that was read from a file: enough to make it again and compare. */
export type StoredPlan = z.infer<typeof storedSchema>;

type Redact = (text: string) => string;

/** Seals a plan for storage. Secrets become slow hashes; if `redactName` changes a name, the id replaces it. */
export async function seal(plan: Plan, options: Omit<Seal, 'objects' | 'whole'>, redactName: Redact) {
  return { ...options, objects: await sealObjects(plan, redactName) };
}

/** Hashes of what was observed of each object, and of what would be sent. */
export async function sealObjects(plan: Pick<Plan, keyof DigestScope | 'changes'>, redactName: Redact) {
  const hasher = digestHasher(plan);
  return await eachWithSlowHashes(plan.changes, (change) => ({
    address: sealedName(change, redactName),
    action: change.action,
    observed: hashOf(observedOf(change, hasher)),
    requests: planDigest(plan, [change]),
  }));
}

/** The address of an object; its key if the address contains a credential. */
function sealedName({ address, apply }: Pick<Change, 'address' | 'apply'>, redactName: Redact) {
  return redactAddress(address, { redactName }) === address
    ? address
    : redactAddress(apply.key, { redactName });
}

/**
 * Everything that was observed of an object, with sets sorted, and the recorded generation. A value that the manifest declares as a
 * secret is a secret on the server, too.
 */
function observedOf(change: Change, hasher: Hasher): Json {
  const { kind, fields, apply } = change;
  const types = kindOf(kind).fields;
  const secret = secretFields(change);
  const before = mapValues(apply.before, (field, name) => {
    const type = types[name] ?? value;
    const shown = apply.byMember?.includes(name)
      ? (fields.find(({ path }) => path === name)?.before ?? [])
      : field;
    const normal = withoutLabels(type, normalForm(type, shown));
    return secret.has(name) ? new Sensitive(withHashes(normal, hasher)) : normal;
  });
  const generation = fields.find(({ path }) => path === kindOf(kind).regeneration?.counter);
  return [
    withHashes(before, hasher),
    apply.existed,
    apply.generation ?? null,
    withHashes(generation?.before ?? null, hasher),
  ];
}

/** A set without the labels of its elements. They belong to other objects, which another shard of the run may change. */
function withoutLabels({ type }: FieldType, field: Value): Value {
  if (type !== 'set' || !Array.isArray(field)) return field;
  return field.map((element) => {
    if (!isMap(element) || typeof element.id !== 'string') return element;
    const { label: _, ...rest } = element;
    return rest;
  });
}

/** The fields with declared secrets; of a blocked change all declared fields. */
function secretFields({ action, fields, apply }: Change): Set<string> {
  if (action === 'blocked') return new Set(apply.managed);
  const asked = Object.entries(apply.expected).flatMap(([name, field]) =>
    holdsSensitive(field) ? [name] : [],
  );
  const shown = fields.flatMap(({ path, sensitive }) => (sensitive ? [path.replace(/[.[].*$/s, '')] : []));
  return new Set([...asked, ...shown]);
}

/** Hashes of the settings that decide how changes are judged. */
export function settingsHashes(checks: ChecksSettings, { privileged, protect, keep }: Safety) {
  const rules = keep.map(({ scope = null, role = null, at_least: least }) => [scope, role, least]);
  return { checks: hashOf(checks as Json), safety: hashOf([[...privileged], [...protect], rules]) };
}

/** The hash of a stored plan without the hash itself: it shows whether the file was changed. */
export function planHash({ apply, ...shown }: { readonly apply: Partial<Seal> }): string {
  const { whole: _, ...rest } = apply;
  return hashOf({ ...shown, apply: rest } as Json);
}

/** The problem of a stored plan that was changed; none if it was not. */
export function alterationProblems(stored: StoredPlan, file: string): Problem[] {
  if (stored.apply.whole === planHash(stored)) return [];
  const message = `${file} was changed after it was stored: what it shows is not the plan that was made`;
  return [error('plan-altered', message, [], 'make it again with idops plan --out FILE and review it')];
}

/** Parses a stored plan. Returns a problem if this version can't use the text. */
export function parseStoredPlan(text: string, file: string): StoredPlan | Problem {
  const unusable = (why: string) => unusablePlan(file, why);
  let data: unknown;
  try {
    data = parseJson(text);
  } catch {
    return unusable('it is not JSON');
  }
  const version = (data as { format_version?: unknown } | null)?.format_version;
  if (typeof version === 'number' && version > 1)
    return unusable(`it has format ${version}, this idops knows format 1`);
  const parsed = storedSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  return unusable(notStored(parsed.error.issues[0]?.path ?? []));
}

/** The problem of an unusable plan file. */
export function unusablePlan(file: string, why: string): Problem {
  const hint = 'make it again with idops plan --out FILE';
  return error('plan-unreadable', `${file} can't be used: ${why}`, [], hint);
}

/** The message that a file isn't a stored plan, with the path of the first mistake. */
export function notStored(path: readonly PropertyKey[]): string {
  const where = path.length === 0 ? '' : ` (see ${path.map(String).join('.')})`;
  return `it is not a plan that was stored with --out${where}`;
}

/** Whether the result of parsing is a stored plan. */
export function isStoredPlan(read: StoredPlan | Problem): read is StoredPlan {
  return 'digest' in read;
}

function partOf({ shard }: { readonly shard?: Shard | undefined }): string {
  return shard === undefined ? 'all objects' : `the shard ${shardText(shard)}`;
}

/**
 * Why a stored plan differs from what would be done now; empty if it doesn't. `left` has the keys of objects that an earlier attempt left
 * to do: only their changes may remain, and they must be as stored.
 */
export async function staleness(stored: StoredPlan, now: Plan, left?: readonly string[]): Promise<Problem[]> {
  const found: string[] = [];
  const compare = (one: string, other: string): void => {
    if (one !== other) found.push(`it is for ${one}, and this is ${other}`);
  };
  compare(stored.server, now.server);
  if (stored.environment !== now.environment)
    found.push(
      `it is for the environment ${stored.environment ?? 'none'}, and this is ${now.environment ?? 'none'}`,
    );
  compare(partOf(stored.apply), partOf(now));
  const { holds_until: end } = stored;
  const instant = now.asOf ?? now.createdAt;
  if (end !== undefined && Date.parse(instant) >= Date.parse(end))
    found.push(`it held until ${end}, when access ends that it still gives`);
  // With another token, an object may have its name or its id as address.
  const objects = await sealObjects(now, (text) => text);
  const keys = new Map(now.changes.map(({ address, apply }) => [apply.key, address]));
  const after = new Map(objects.map((object) => [object.address, object]));
  const changes = new Map(now.changes.map((change) => [change.address, change]));
  const blocked = now.changes.filter(({ action }) => action === 'blocked');
  const blockedNow = new Map(blocked.map(({ address, reason }) => [address, reason]));
  // A change without requests needs no approval.
  const isIdle = (address: string): boolean => changes.get(address)?.requests.length === 0;
  const isLeft = (address: string): boolean =>
    !isIdle(address) && left?.includes(changes.get(address)?.apply.key ?? '') === true;
  const seen = new Set<string>();
  for (const object of stored.apply.objects) {
    const address = after.has(object.address) ? object.address : (keys.get(object.address) ?? object.address);
    seen.add(address);
    if (left !== undefined && !isLeft(address)) {
      if (after.has(address) && !isIdle(address)) found.push(`${address} was applied, and was changed since`);
      continue;
    }
    const present = after.get(address);
    const reason = blockedNow.get(address);
    if (present === undefined) found.push(`${address} is no longer in it`);
    else if (reason !== undefined && object.action !== 'blocked')
      found.push(`${address} is blocked now: ${reason}`);
    else if (present.observed !== object.observed)
      found.push(`${address} was changed on the server, or its record was`);
    else if (present.action !== object.action)
      found.push(`${address} was ${object.action} in it, and is ${present.action} now`);
    else if (present.requests !== object.requests) found.push(`${address} is declared differently now`);
  }
  for (const address of after.keys())
    if (!seen.has(address) && (left === undefined || !isIdle(address))) found.push(`${address} is new in it`);
  if (found.length === 0 && left === undefined && stored.digest !== now.digest)
    found.push('its digest differs now');
  if (found.length === 0) return [];
  const hint = 'nothing was sent; make a new one with idops plan --out FILE and review it';
  return [error('stale-plan', `stale plan: ${found.join('; ')}`, [], hint)];
}
