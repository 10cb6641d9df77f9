import {
  assign,
  type Fields,
  holdsSensitive,
  isMap,
  mapValues,
  reveal,
  Sensitive,
  same,
  type Value,
} from '../base/values.js';
import { type FieldType, holdsHashed, normalForm, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Identity, KindName } from '../kinds/kind.js';
import { type PendingRestore, seenLoss } from '../kinds/loss.js';
import { deletedHash } from '../plan/decider.js';
import type { Action, Seen } from '../plan/plan.js';
import { conceal, type Hasher, restoreFields, type StoredFields, storeFields } from '../secrets/hash.js';
import { holdsSecretKey } from '../secrets/names.js';
import { eachWithSlowHashes } from '../secrets/slow-hash.js';
import type { ResourceRecord, State } from '../state/state.js';
import type { Status } from './result.js';

/** What was asked of one object, as far as the state needs it. */
export interface Asked {
  readonly key: string;
  readonly kind: KindName;
  readonly identity: Identity;
  readonly action: Action;
  readonly expected: Fields;
  readonly managed: readonly string[];
  readonly generation?: number;
  /** The object as it was known to be. */
  readonly before?: Fields;
}

/** What became of it. */
export interface Became {
  readonly status: Status;
  /** Whether the request may have been carried out although nobody knows. */
  readonly ambiguous: boolean;
  /** What the server showed afterwards; undefined where it showed nothing usable. */
  readonly after: Fields | undefined;
  /** The paths that the answer didn't carry. */
  readonly unverified: readonly string[];
  /** The profile whose server this surely is, where that is another one than was worked with. */
  readonly otherProfile?: string | undefined;
}

export interface RecordContext {
  readonly run: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly hasher: Hasher;
  /** Whether objects of the kind are read anew each time, so that only what was not shown needs a record. */
  readonly readable: boolean;
}

/**
 * Records an outcome among records that the caller holds alone; what was asked and refused leaves them as they are. Says whether
 * anything was recorded.
 */
export function recordInto(
  resources: State['resources'],
  asked: Asked,
  became: Became,
  context: RecordContext,
): boolean {
  const before = Object.hasOwn(resources, asked.key) ? resources[asked.key] : undefined;
  const { otherProfile: profile } = became;
  const next = nextRecord(before, asked, became, context);
  const after =
    profile === undefined
      ? next
      : {
          // What wasn't applied is not idops' own.
          ...(next ?? before ?? { ...emptyRecord(asked, context), managed: [] }),
          other_profile: { profile, run: context.run },
        };
  if (after === undefined) return false;
  forgetFormer(resources, asked);
  resources[asked.key] = withFormerNames(after, before, asked, context.hasher);
  return true;
}

/** Records with what was seen of objects, which no run wrote; the very same ones if all of it is recorded already. */
export async function withSeen(
  resources: State['resources'],
  seen: readonly Seen[],
  context: Pick<RecordContext, 'at' | 'hasher'>,
): Promise<State['resources']> {
  const records = await eachWithSlowHashes(seen, (one) => {
    const before = Object.hasOwn(resources, one.key) ? resources[one.key] : undefined;
    return seenRecord(before, one, context);
  });
  const news = seen.flatMap(({ key }, index): [string, ResourceRecord][] => {
    const record = records[index];
    return record === undefined ? [] : [[key, record]];
  });
  return news.length === 0 ? resources : { ...resources, ...Object.fromEntries(news) };
}

/** The record of an object that was seen; undefined if nothing that manifests declare of it is news. */
function seenRecord(
  before: ResourceRecord | undefined,
  { fields, ...seen }: Seen,
  { at, hasher }: Parameters<typeof withSeen>[2],
): ResourceRecord | undefined {
  const asked = { ...seen, action: 'adopt' as const };
  const declared = Object.entries(fields).filter(([name]) => seen.managed.includes(name));
  const shown = shownOf(asked, Object.fromEntries(declared));
  const known = before?.left;
  const isKnown = (stored: Fields, hashes: StoredFields['hashes']): boolean =>
    known !== undefined &&
    same(hashes, known.hashes) &&
    Object.keys(shown).every(
      (name) => Object.hasOwn(known.fields, name) && same(stored[name] ?? null, known.fields[name] ?? null),
    );
  // Most objects are as they were, and have no secrets.
  const isPlain = !Object.values(shown).some(holdsSensitive);
  if (Object.keys(shown).length === 0 || (isPlain && isKnown(shown, {}))) return undefined;
  const stored = storeFields({ ...(known && restoreFields(known, hasher)), ...shown }, hasher);
  if (isKnown(stored.fields as Fields, stored.hashes)) return undefined;
  const secrets = storeFields(askedSecrets(asked), hasher);
  const record = before ?? { ...emptyRecord(asked, { run: null, at }), ...secrets };
  return withFormerNames({ ...record, left: { run: null, ...stored } }, before, asked, hasher);
}

/** A record with what the object was called before, if it is one that others refer to by its name. */
function withFormerNames(
  record: ResourceRecord,
  before: ResourceRecord | undefined,
  asked: Asked,
  hasher: Hasher,
): ResourceRecord {
  if (kindOf(asked.kind).naming === undefined) return record;
  const known = [...(before?.former_names ?? []), before?.left?.fields.name, asked.before?.name];
  const former = known.flatMap((name) =>
    typeof name === 'string' && name !== record.left?.fields.name && !hasher.conceals(name) ? [name] : [],
  );
  return former.length === 0 ? record : { ...record, former_names: [...new Set(former)] };
}

/** What one object of a kind has alone: the one that takes it leaves no other known to have it. */
function forgetFormer(resources: State['resources'], { kind, expected }: Asked): void {
  const { succession } = kindOf(kind);
  if (succession === undefined || expected[succession.field] !== true) return;
  const { field } = succession;
  for (const [key, record] of Object.entries(resources)) {
    if (record.kind !== kind) continue;
    const former = record.fields[field] === true;
    const uncertain = former ? { uncertain: [...new Set([...(record.uncertain ?? []), field])] } : {};
    if (former || record.left?.fields[field] === true) {
      resources[key] = { ...record, ...uncertain, ...withoutLeft(record, field) };
    }
  }
}

/** What was left of an object, but for a field that it has lost to another one by the same run or a later one. */
function withoutLeft({ left }: ResourceRecord, field: string): Pick<ResourceRecord, 'left'> {
  if (left === undefined) return {};
  const { [field]: _, ...fields } = left.fields;
  return { left: { ...left, fields } };
}

function emptyRecord(
  { kind, identity, managed }: Asked,
  { at, run }: { readonly run: string | null; readonly at: string },
): ResourceRecord {
  return {
    kind,
    identity: { ...identity },
    recorded_at: at,
    run,
    managed: [...managed],
    fields: {},
    hashes: {},
  };
}

function nextRecord(
  before: ResourceRecord | undefined,
  asked: Asked,
  became: Became,
  context: RecordContext,
): ResourceRecord | undefined {
  const base: ResourceRecord = {
    ...emptyRecord(asked, context),
    ...(before?.did_generation === undefined ? {} : { did_generation: before.did_generation }),
  };
  switch (asked.action) {
    case 'adopt':
      return { ...base, ...generation(asked), ...storeFields(seen(asked), context.hasher) };
    case 'regenerate':
      if (became.status === 'unknown') {
        return { ...(before ?? base), pending_regeneration: context.run };
      }
      if (became.status !== 'applied') return undefined;
      return {
        ...base,
        ...generation(asked),
        ...storeFields({ ...calledBefore(asked), ...made(asked, became.after) }, context.hasher),
      };
    case 'delete':
      if (became.status !== 'applied') return undefined;
      return {
        ...base,
        deleted: deletedHash(asked.kind, became.after ?? {}, context.hasher),
        ...builtInLeft(asked, became.after, context),
      };
    case 'update': {
      const record = updated(base, before, asked, became, context);
      const owed = owedAfter(asked, became, context);
      if (owed === 'as before') return record && { ...record, ...owedOf(before) };
      if (record === undefined && owed === undefined && before?.owed === undefined) return undefined;
      // What wasn't applied is not idops' own.
      const { owed: _, ...rest } = record ?? before ?? { ...base, managed: [] };
      return owed === undefined ? rest : { ...rest, owed: storeOwed(owed, context.hasher) };
    }
    default:
      return undefined;
  }
}

/** What an update took away and came no further; undefined where nothing is owed, or nothing any more. */
function owedAfter(
  { kind: name, before = {}, expected }: Asked,
  { ambiguous, after }: Became,
  { run, readable }: RecordContext,
): PendingRestore | undefined | 'as before' {
  const kind = kindOf(name);
  if (kind.lost === undefined || !readable) return 'as before';
  if (after !== undefined) {
    const lost = kind.lost({ before, asked: expected, now: after });
    return Object.keys(lost).length === 0 ? undefined : seenLoss(run, lost, after);
  }
  // Where nothing was seen and nothing is open, nothing was sent.
  if (!ambiguous) return 'as before';
  return { run, before, asked: expected };
}

function owedOf(record: ResourceRecord | undefined): Pick<ResourceRecord, 'owed'> {
  return record?.owed === undefined ? {} : { owed: record.owed };
}

/** What is owed in the form in which a state keeps it. */
export function storeOwed(owed: PendingRestore, hasher: Hasher): NonNullable<ResourceRecord['owed']> {
  return 'before' in owed
    ? { run: owed.run, before: storeFields(owed.before, hasher), asked: storeFields(owed.asked, hasher) }
    : { run: owed.run, lost: storeFields(owed.lost, hasher), seen: storeFields(owed.seen, hasher) };
}

function generation({ generation }: Asked): { did_generation?: number } {
  return generation === undefined ? {} : { did_generation: generation };
}

/** What an object was seen to have of that which is made anew: null where there was none, nothing where that is not known. */
function seen({ kind, before = {} }: Asked): Fields {
  const field = kindOf(kind).regeneration?.field;
  const shown = made({ kind }, before);
  return field !== undefined && before[field] === null ? { ...shown, [field]: null } : shown;
}

/** What was made anew; an answer without it leaves it unknown. */
function made({ kind }: Pick<Asked, 'kind'>, answer: Fields = {}): Fields {
  const field = kindOf(kind).regeneration?.field;
  const told = { ...calledBefore({ kind, before: answer }) };
  return field !== undefined && typeof answer[field] === 'string'
    ? { ...told, [field]: answer[field] }
    : told;
}

/** What an object of which something is made anew was called, which the record is to know on. */
function calledBefore({ kind, before = {} }: Pick<Asked, 'kind' | 'before'>): Fields {
  const name = kindOf(kind).regeneration?.name;
  return name !== undefined && typeof before[name] === 'string' ? { [name]: before[name] } : {};
}

function updated(
  base: ResourceRecord,
  before: ResourceRecord | undefined,
  asked: Asked,
  became: Became,
  context: RecordContext,
): ResourceRecord | undefined {
  const known = before === undefined ? {} : restoreFields(before, context.hasher);
  if (became.ambiguous) {
    // A later merge may build on what was asked, and every field of it is asserted again.
    const fields = context.readable ? {} : { ...known, ...normalized(asked) };
    return { ...base, ...storeFields(fields, context.hasher), uncertain: Object.keys(asked.expected) };
  }
  if (became.status !== 'applied' && became.status !== 'not_converged') {
    // What was done in part is what this run left, and nobody else's change.
    const changed = before !== undefined && became.after !== undefined && isOther(asked, became.after);
    return changed ? { ...before, ...leftBehind(asked, became.after, context) } : undefined;
  }
  const shown = context.readable ? askedSecrets(asked) : answeredFields(asked, became.after ?? {}, known);
  const fields = { ...shown, ...unverifiedFields(asked, became.unverified, shown) };
  // A list with a secret in it is recorded as it was asked, which is not what this server kept.
  const secret = Object.entries(asked.expected).flatMap(([name, field]) =>
    holdsSensitive(field) ? [name] : [],
  );
  // Another profile's server may well ignore what it doesn't show.
  const unseen = became.otherProfile === undefined ? [] : unverifiedNames(asked, became.unverified);
  const open = became.status === 'not_converged' ? [...new Set([...secret, ...unseen])] : [];
  const uncertain = open.length > 0 ? { uncertain: open } : {};
  const stored = storeFields(fields, context.hasher);
  return assign(base, {
    ...uncertain,
    fields: stored.fields,
    hashes: stored.hashes,
    ...leftBehind(asked, became.after, context),
  });
}

/** Whether an object is no longer as it was, as far as both are known. */
function isOther({ kind, before = {} }: Asked, after: Fields): boolean {
  return Object.entries(kindOf(kind).fields).some(([name, type]) => {
    const [was, now] = [before[name], after[name]];
    return was !== undefined && now !== undefined && !same(normalForm(type, was), normalForm(type, now));
  });
}

/** The object as the server shows it after a run, where it does so each time: what differs later, somebody has changed. */
function leftBehind(
  asked: Asked,
  after: Fields | undefined,
  { run, readable, hasher }: RecordContext,
): Pick<ResourceRecord, 'left'> {
  if (!readable || after === undefined) return {};
  return { left: { run, ...storeFields(shownOf(asked, after), hasher) } };
}

/** What the server shows of an object's fields, sets in one order, with that made secret which is known to be. */
function shownOf(
  { kind, expected, before }: Pick<Asked, 'kind' | 'expected' | 'before'>,
  after: Fields,
): Fields {
  const shown: Fields = {};
  for (const [name, type] of Object.entries(kindOf(kind).fields)) {
    const got = after[name];
    if (got === undefined) continue;
    const known = sealed(veiled(type, withoutOthers(type, normalForm(type, got))), expected[name]);
    shown[name] = sealed(known, before?.[name]);
  }
  return shown;
}

/** A map in which the value of each key that looks secret is one: no manifest declares that it is. */
function veiled(type: FieldType, got: Value): Value {
  if (type.type !== 'map' || !isMap(got)) return got;
  return mapValues(got, (member, key) =>
    member !== null && holdsSecretKey(key, member) ? new Sensitive(reveal(member)) : member,
  );
}

/** A set whose elements have only what they are compared by; the rest belongs to other objects. */
function withoutOthers(type: FieldType, got: Value): Value {
  if (type.type !== 'set' || !Array.isArray(got)) return got;
  const own = ['id', 'name', ...Object.keys(type.nested)];
  return got.map((element) =>
    isMap(element)
      ? Object.fromEntries(Object.entries(element).filter(([name]) => own.includes(name)))
      : element,
  );
}

/** What took the place of what was deleted, where the answer is that and not what went. */
function builtInLeft(
  asked: Asked,
  after: Fields | undefined,
  context: RecordContext,
): Pick<ResourceRecord, 'left'> {
  const isBuiltIn = after !== undefined && kindOf(asked.kind).deletion?.isBuiltIn(after) === true;
  return isBuiltIn ? leftBehind(asked, after, context) : {};
}

/** What the server shows, with that made secret which is known to be; a list as a whole, in the form in which it is shown. */
function sealed(got: Value, known: Value | undefined): Value {
  if (known === undefined || got instanceof Sensitive) return got;
  if (known instanceof Sensitive || (Array.isArray(known) && holdsSensitive(known))) {
    return holdsHashed(got) ? got : new Sensitive(reveal(got));
  }
  if (!isMap(known) || !isMap(got)) return got;
  return mapValues(got, (member, key) => sealed(member, Object.hasOwn(known, key) ? known[key] : undefined));
}

/** What was asked, sets in one order: the form in which a secret set is hashed and compared. */
function normalized({ kind, expected }: Asked): Fields {
  const types = kindOf(kind).fields;
  return mapValues(expected, (field, name) => normalForm(types[name] ?? value, field));
}

/** Of what is read anew each time only the secrets, so that a plan knows them again when the manifest has moved on. */
function askedSecrets(asked: Asked): Fields {
  return Object.fromEntries(Object.entries(normalized(asked)).filter(([, field]) => holdsSensitive(field)));
}

function answeredFields(asked: Asked, answer: Fields, known: Fields): Fields {
  const types = kindOf(asked.kind).fields;
  const wanted = normalized(asked);
  const shown: Fields = { ...known };
  for (const [name, type] of Object.entries(types)) {
    const got = answer[name];
    if (got === undefined) continue;
    const before = known[name];
    // Members that the answer leaves out, such as passwords, stay as they were recorded.
    const whole = type.type === 'members' && isMap(got) && isMap(before) ? { ...before, ...got } : got;
    shown[name] = conceal(whole, wanted[name]);
  }
  return shown;
}

function unverifiedNames({ expected }: Asked, unverified: readonly string[]): string[] {
  return Object.keys(expected).filter((name) =>
    unverified.some((path) => path === name || path.startsWith(`${name}.`)),
  );
}

/** The sent fields that the answer didn't show: taken for done, since nothing says otherwise. */
function unverifiedFields(asked: Asked, unverified: readonly string[], shown: Fields): Fields {
  const types = kindOf(asked.kind).fields;
  const fields: Fields = {};
  for (const [name, wanted] of Object.entries(normalized(asked))) {
    if (unverified.includes(name)) {
      fields[name] = wanted;
      continue;
    }
    if (types[name]?.type !== 'members' || !isMap(wanted)) continue;
    const left = Object.entries(wanted).filter(([member]) => unverified.includes(`${name}.${member}`));
    if (left.length === 0) continue;
    const there = shown[name];
    fields[name] = { ...(there !== undefined && isMap(there) ? there : {}), ...Object.fromEntries(left) };
  }
  return fields;
}
