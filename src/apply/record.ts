import { assign, type Fields, filterValues, holdsSensitive, same, withoutUndefined } from '../base/values.js';
import { isTrue, normalForm } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import { deletedHash } from '../plan/decider.js';
import type { Seen } from '../plan/plan.js';
import { type Hasher, restoreFields, type StoredFields, storeFields } from '../secrets/hash.js';
import { eachWithSlowHashes } from '../secrets/slow-hash.js';
import type { ResourceRecord, State } from '../state/state.js';
import { pendingRestoreAfter, storeRestore } from './pending-restores.js';
import { newEnds, withEnds } from './record-ends.js';
import {
  answeredFields,
  declaredSecrets,
  normalizedFields,
  type ObservedOutcome,
  type RecordContext,
  type RequestedChange,
  shownFields,
  unreadFields,
  unverifiedFields,
  unverifiedNames,
} from './recorded-fields.js';
import { wrongNames } from './verify.js';

/** An outcome to record, and the record before it. */
interface Recording {
  readonly before: ResourceRecord | undefined;
  readonly change: RequestedChange;
  readonly outcome: ObservedOutcome;
  readonly context: RecordContext;
}

/** Records an outcome in `resources`, which it changes. Returns whether anything was recorded: not for a refused request. */
export function recordOutcome(
  resources: State['resources'],
  ...given: [change: RequestedChange, outcome: ObservedOutcome, context: RecordContext]
): boolean {
  const store = prepareRecord(resources, ...given);
  store?.();
  return store !== undefined;
}

/**
 * Makes the record of an object after an outcome. Returns a function that stores it and, if the object got something that only one object
 * can have, updates the former holders; undefined if there is nothing to record.
 */
export function prepareRecord(
  resources: State['resources'],
  given: RequestedChange,
  outcome: ObservedOutcome,
  context: RecordContext,
): (() => void) | undefined {
  const change = withNewId(given, outcome);
  const before = Object.hasOwn(resources, change.key) ? resources[change.key] : undefined;
  const recording = { before, change, outcome, context };
  const { otherProfile: profile } = outcome;
  const next = nextRecord(recording) ?? failedRecord(recording);
  const after =
    profile === undefined
      ? next
      : { ...(next ?? unmanagedRecord(recording)), other_profile: { profile, run: context.run } };
  if (after === undefined) return undefined;
  const record = withFormerNames(withEnds(after, before, change, outcome), before, change, context.hasher);
  return () => {
    const { key } = given.lostCreation ?? given;
    // The record from before the id of the new object was known.
    if (resources[key]?.creating !== undefined) delete resources[key];
    updateFormerHolders(resources, change);
    resources[change.key] = record;
  };
}

/** The change, with the id that the server chose for a new object. */
function withNewId(change: RequestedChange, { after }: ObservedOutcome): RequestedChange {
  const { kind, identity, action } = change;
  const id = identity.id ?? after?.id;
  if (action !== 'create' || typeof id !== 'string') return change;
  return { ...change, identity: assign(identity, { id }), key: addressOf(kind, { id }) };
}

/** The record of a failed change, if it may have added members with an end. */
function failedRecord(recording: Recording): ResourceRecord | undefined {
  const ends = newEnds(recording.change, recording.outcome);
  return Object.keys(ends).length === 0 ? undefined : unmanagedRecord(recording);
}

/** The record before a change whose fields were not applied, so idops doesn't manage those of a new one. */
function unmanagedRecord({ before, change, context }: Recording): ResourceRecord {
  return before ?? { ...emptyRecord(change, context), managed: [] };
}

/** The records, updated with what the server showed of unchanged objects; the same object if there is nothing new. */
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

/** The record of an unchanged object; undefined if no declared field is new. */
function seenRecord(
  before: ResourceRecord | undefined,
  { fields, ...seen }: Seen,
  { at, hasher }: Parameters<typeof withSeen>[2],
): ResourceRecord | undefined {
  const change = { ...seen, action: 'adopt' as const };
  const declared = filterValues(fields, (_, name) => seen.managed.includes(name));
  const shown = shownFields(change, declared);
  const known = before?.left;
  const isKnown = (stored: Fields, hashes: StoredFields['hashes']): boolean =>
    known !== undefined &&
    same(hashes, known.hashes) &&
    Object.keys(shown).every(
      (name) => Object.hasOwn(known.fields, name) && same(stored[name] ?? null, known.fields[name] ?? null),
    );
  // Most objects have nothing new and no secrets.
  const isPlain = !Object.values(shown).some(holdsSensitive);
  if (Object.keys(shown).length === 0 || (isPlain && isKnown(shown, {}))) return undefined;
  const stored = storeFields({ ...(known && restoreFields(known, hasher)), ...shown }, hasher);
  if (isKnown(stored.fields as Fields, stored.hashes)) return undefined;
  const secrets = storeFields(declaredSecrets(change), hasher);
  const record = withoutCreating(before) ?? { ...emptyRecord(change, { run: null, at }), ...secrets };
  return withFormerNames({ ...record, left: { run: null, ...stored } }, before, change, hasher);
}

/** The record of an object that exists although the outcome of its creation was unknown. */
function withoutCreating(before: ResourceRecord | undefined): ResourceRecord | undefined {
  if (before?.creating === undefined) return before;
  const { creating: _, ...rest } = before;
  return before.run === null ? rest : { ...rest, created: before.run };
}

/** A record with the object's former names, if manifests use names for its kind. */
function withFormerNames(
  record: ResourceRecord,
  before: ResourceRecord | undefined,
  change: RequestedChange,
  hasher: Hasher,
): ResourceRecord {
  if (kindOf(change.kind).keepsFormerNames !== true) return record;
  const known = [...(before?.former_names ?? []), before?.left?.fields.name, change.before?.name];
  const former = known.flatMap((name) =>
    typeof name === 'string' && name !== record.left?.fields.name && !hasher.mustHide(name) ? [name] : [],
  );
  return former.length === 0 ? record : { ...record, former_names: [...new Set(former)] };
}

/** If only one object of a kind can have a value and this one got it, removes it from the records of the others. */
function updateFormerHolders(resources: State['resources'], { kind, expected }: RequestedChange): void {
  const { succession } = kindOf(kind);
  if (succession === undefined || !isTrue(expected[succession.field])) return;
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

/** The last observation of an object, without a field that another object has taken over since. */
function withoutLeft({ left }: ResourceRecord, field: string): Pick<ResourceRecord, 'left'> {
  if (left === undefined) return {};
  const { [field]: _, ...fields } = left.fields;
  return { left: { ...left, fields } };
}

function emptyRecord(
  { kind, identity, managed }: RequestedChange,
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

function nextRecord(recording: Recording): ResourceRecord | undefined {
  const { before, change, outcome, context } = recording;
  const base: ResourceRecord = {
    ...emptyRecord(change, context),
    ...withoutUndefined({
      did_generation: before?.did_generation,
      created: creatingRun(recording),
      replaces: before?.replaces,
    }),
  };
  const { before: was = {} } = change;
  const generation = withoutUndefined({ did_generation: change.generation });
  const { name = '', field = '' } = kindOf(change.kind).regeneration ?? {};
  // Fields of an object with a regeneration that only the record has.
  const { [name]: _name, [field]: _value, ...known } = before ? restoreFields(before, context.hasher) : {};
  const keptLeft = withoutUndefined({ left: before?.left });
  switch (change.action) {
    case 'adopt':
      if (change.generation === undefined) return adoptedRecord(base, recording);
      return {
        ...base,
        ...keptLeft,
        ...generation,
        // A field without a value is null.
        ...storeFields(
          { ...known, ...textFields(was, name), ...textOrNullFields(was, field) },
          context.hasher,
        ),
      };
    case 'regenerate':
      if (outcome.status === 'unknown') {
        return { ...(before ?? base), pending_regeneration: context.run };
      }
      if (outcome.status !== 'applied') return undefined;
      return {
        ...base,
        ...keptLeft,
        // `idops regenerate-did` has no document, so it keeps the managed fields.
        managed: [...(change.generation === undefined ? (before?.managed ?? []) : change.managed)],
        ...generation,
        // Without the field in the answer, it is unknown.
        ...storeFields(
          { ...known, ...textFields(was, name), ...textFields(outcome.after ?? {}, name, field) },
          context.hasher,
        ),
      };
    case 'delete':
      if (outcome.status !== 'applied') return undefined;
      return {
        ...base,
        deleted: deletedHash(change.kind, outcome.after ?? {}, context.hasher),
        ...builtInLeft(recording),
      };
    case 'create':
      return withGeneration(createdRecord(base, recording), recording);
    case 'update': {
      const record = withGeneration(updateRecord(base, recording), recording);
      const restore = pendingRestoreAfter(change, outcome, context);
      if (restore === 'as before') return record && { ...record, ...(before?.owed && { owed: before.owed }) };
      if (record === undefined && restore === undefined && before?.owed === undefined) return undefined;
      // The fields were not applied, so idops doesn't manage them.
      const { owed: _, ...rest } = record ?? before ?? { ...base, managed: [] };
      return restore === undefined ? rest : { ...rest, owed: storeRestore(restore, context.hasher) };
    }
    default:
      return undefined;
  }
}

/** The run that created an object. A page is created by its first update. */
function creatingRun({ before, change, context: { run } }: Recording): string | undefined {
  const { kind, action, before: was, lostCreation } = change;
  const { deletion } = kindOf(kind);
  const isFirst =
    action === 'update' && deletion?.prunesOnlyCreated === true && deletion.isBuiltIn(was ?? {});
  return lostCreation?.run ?? (isFirst ? run : before?.created);
}

/** The record of a new object. If it may still be created, the record has its id for the next attempt. */
function createdRecord(base: ResourceRecord, recording: Recording): ResourceRecord | undefined {
  const { change, outcome, context } = recording;
  const { kind, identity, replaces } = change;
  const own = { ...base, ...withoutUndefined({ replaces }) };
  if (outcome.after !== undefined) {
    const created = { ...own, created: context.run };
    const record = updateRecord(created, { ...recording, before: undefined });
    // It exists, but not as declared.
    return record ?? { ...created, managed: [], ...leftBy(recording, outcome.after) };
  }
  const { status, httpStatus = null } = outcome;
  const isRefused = httpStatus !== null && httpStatus >= 400 && httpStatus < 500;
  const { creation, addressPart } = kindOf(kind);
  // If idops chose the id, the next creation sends it again. Otherwise the next plan looks for the object by name.
  const mayCome = creation?.acceptsId === true ? status !== 'skipped' : status === 'unknown';
  if (!mayCome || isRefused) return undefined;
  return { ...own, managed: [], creating: addressPart(identity) };
}

/** A record with its regeneration: an open one stays open, and a first generation number is recorded. */
function withGeneration(
  record: ResourceRecord | undefined,
  { before, change: { kind, generation }, outcome: { status, after = {} } }: Recording,
): ResourceRecord | undefined {
  const { field = '' } = kindOf(kind).regeneration ?? {};
  const { pending_regeneration: open } = before ?? {};
  if (record === undefined) return undefined;
  if (open !== undefined) return { ...record, pending_regeneration: open };
  if (generation === undefined || record.did_generation !== undefined || status !== 'applied') return record;
  const fields = { ...record.fields, ...textOrNullFields(after, field) } as ResourceRecord['fields'];
  return { ...record, did_generation: generation, fields };
}

/** The record of an object if only ends of access are new. */
function adoptedRecord(base: ResourceRecord, recording: Recording): ResourceRecord {
  const { before, change } = recording;
  if (before !== undefined)
    return { ...before, managed: [...change.managed], ...withoutUndefined({ created: base.created }) };
  const { left } = leftBy(recording, change.before);
  return { ...base, ...withoutUndefined({ left: left && { ...left, run: null } }) };
}

/** Those of the named fields that are strings or null. */
function textOrNullFields(fields: Fields, ...names: readonly string[]): Fields {
  const has = (name: string): boolean => fields[name] === null || typeof fields[name] === 'string';
  return Object.fromEntries(names.filter(has).map((name) => [name, fields[name] ?? null]));
}

function textFields(fields: Fields, ...names: readonly string[]): Fields {
  return textOrNullFields(fields, ...names.filter((name) => fields[name] !== null));
}

function updateRecord(base: ResourceRecord, recording: Recording): ResourceRecord | undefined {
  const { before, change, outcome, context } = recording;
  const known = before === undefined ? {} : restoreFields(before, context.hasher);
  const { name = '', field = '' } = kindOf(change.kind).regeneration ?? {};
  const regenerated = textOrNullFields(known, name, field);
  if (outcome.ambiguous) {
    // A later merge may need the sent values; every uncertain field is sent again.
    const fields = context.readable ? regenerated : { ...known, ...normalizedFields(change) };
    return { ...base, ...storeFields(fields, context.hasher), uncertain: Object.keys(change.expected) };
  }
  if (outcome.status !== 'applied' && outcome.status !== 'not_converged') {
    // A partial change is this run's, so it is no drift.
    const changed = before !== undefined && outcome.after !== undefined && hasChanged(change, outcome.after);
    return changed ? { ...before, ...leftBy(recording, outcome.after) } : undefined;
  }
  const answered = answeredFields(change, outcome.after ?? {}, known);
  const shown = context.readable
    ? { ...(context.documented ? unreadFields(change, answered, known) : {}), ...declaredSecrets(change) }
    : answered;
  const fields = { ...regenerated, ...shown, ...unverifiedFields(change, outcome.unverified, shown) };
  // A list with a secret is recorded as sent, but the server kept another value.
  const secret = Object.entries(change.expected).flatMap(([name, field]) =>
    holdsSensitive(field) ? [name] : [],
  );
  // The server of another profile may ignore fields that it doesn't show.
  const unseen = outcome.otherProfile === undefined ? [] : unverifiedNames(change, outcome.unverified);
  // The next plan must not take the declared name as confirmed.
  const misnamed = context.readable
    ? []
    : wrongNames(kindOf(change.kind), change.expected, outcome.after ?? {});
  const doubtful = [...secret, ...unseen, ...misnamed.map(({ field }) => field)];
  const open = outcome.status === 'not_converged' ? [...new Set(doubtful)] : [];
  const uncertain = open.length > 0 ? { uncertain: open } : {};
  const stored = storeFields(fields, context.hasher);
  return assign(base, {
    ...uncertain,
    fields: stored.fields,
    hashes: stored.hashes,
    ...leftBy(recording, outcome.after),
  });
}

/** Whether a known field of an object changed. */
function hasChanged({ kind, before = {} }: RequestedChange, after: Fields): boolean {
  return Object.entries(kindOf(kind).fields).some(([name, type]) => {
    const [was, now] = [before[name], after[name]];
    return was !== undefined && now !== undefined && !same(normalForm(type, was), normalForm(type, now));
  });
}

/** The object as the server shows it after a run: later differences are drift. */
function leftBy(
  { change, context: { run, readable, hasher } }: Recording,
  after: Fields | undefined,
): Pick<ResourceRecord, 'left'> {
  if (!readable || after === undefined) return {};
  return { left: { run, ...storeFields(shownFields(change, after), hasher) } };
}

/** The built-in object that replaced a deleted one, if the answer shows it. */
function builtInLeft(recording: Recording): Pick<ResourceRecord, 'left'> {
  const { change, outcome } = recording;
  return kindOf(change.kind).deletion?.isBuiltIn(outcome.after ?? {}) === true
    ? leftBy(recording, outcome.after)
    : {};
}
