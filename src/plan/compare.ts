import {
  assign,
  type Fields,
  HashedSecret,
  holdsHashed,
  isMap,
  mapValues,
  reveal,
  Sensitive,
  sameWithoutSecrets,
  type Value,
  withoutUndefined,
} from '../base/values.js';
import { desired } from '../kinds/desired.js';
import { asElements, compareField, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Kind, Live, PlanInput, Present, Verdict } from '../kinds/kind.js';
import { requestSize, unusableId } from '../kinds/limits.js';
import { describeLoss, type PendingRestore, restoreLost, stillLost } from '../kinds/loss.js';
import { ignoredFieldsReason, storedFields } from '../kinds/rules.js';
import type { Profile } from '../server/profiles.js';
import type { ResourceRecord } from '../state/state.js';
import { createChange, notFoundReason } from './create.js';
import { type LastShown, type LiveValueOf, undeclaredDrift, withDrift } from './drift.js';
import { declaredPlaces, fieldChange, namedMembers, unknownSets } from './field-changes.js';
import type { ApplyInfo, Change, FieldChange, PlanWarning, Source, UntilChanges } from './plan.js';
import { blockedFor, emptyChange } from './plan.js';
import {
  type Dates,
  endFields,
  extractEnds,
  untilChanges,
  withEnds,
  withoutMissingMembers,
} from './until.js';

/** The state's record of an object, with secrets that can be compared. */
export interface Recorded {
  readonly fields: Fields;
  /** Fields of a request with an unknown outcome. */
  readonly uncertain: ReadonlySet<string>;
  readonly at: string;
  readonly run: string | null;
  readonly generation?: number;
  readonly pendingRun?: string;
  readonly matchesDeleteResponse: (live: Fields) => boolean;
  readonly until?: Dates;
  /** Members that idops added, by field. */
  readonly given?: NonNullable<ResourceRecord['given']>;
  /** The object as the server last showed it. */
  readonly lastShown?: LastShown;
  /** What an unfinished update removed and the next one restores. */
  readonly restore?: PendingRestore;
}

export interface CompareInput extends Pick<PlanInput, 'declared' | 'references' | 'profile'> {
  /** The object on the server; undefined if the profile can't read it. */
  readonly live: Live | undefined;
  readonly recorded: Recorded | undefined;
  /** Send even if the recorded value already matches. */
  readonly assert: boolean;
  readonly address: string;
  /** The state's key of the object. */
  readonly key: string;
  /** The id of a creation with an unknown outcome in an earlier run. It is sent again with the same id. */
  readonly creating?: string | undefined;
  /** An object that had the declared name when idops saw it last, and its present name. */
  readonly renamed?: { readonly id: string; readonly name: string };
  /** The id of the object that was created in place of this deleted one. */
  readonly replacedBy?: string | undefined;
}

/** Decides what to do for one declared object. Pure: it reads and sends nothing. */
export function compare(given: CompareInput): Change {
  const { live, recorded, declared, profile } = given;
  const kind = kindOf(declared.kind);
  const change = blockedFor(compareFields(given), ignoredFieldsReason(kind, declared, live, profile));
  const left = recorded?.lastShown;
  if (live === undefined || left === undefined) return change;
  // Null if there is no such object, undefined if the answer doesn't have the field.
  const shown = (field: string) =>
    !live.exists ? null : Object.hasOwn(live.fields, field) ? live.fields[field] : undefined;
  const fields = [
    ...withDrift(change.fields, kind.fields, left, shown),
    // An undo doesn't show drift in other keys.
    ...(declared.remembered ? [] : undeclaredDrift(change.fields, declared, kind.fields, left, shown)),
  ];
  return fields.length === 0 ? change : { ...change, fields };
}

function compareFields(given: CompareInput): Change {
  const live = concealKnownSecrets(given);
  const input = live === given.live ? given : { ...given, live };
  const { declared, recorded } = input;
  const kind = kindOf(declared.kind);
  const lost = lostFieldsOf(kind, input);
  const restored = restoredFields(kind, lost, input);
  const isNew = live?.missing === true && declared.creates === true && !declared.absent;
  const { createOnly = [] } = kind.creation ?? {};
  const declaredFields = storedFields(
    withoutMissingMembers(declared, live?.fields ?? {}),
    kind.traits[input.profile.name],
  );
  const own = Object.fromEntries(
    Object.entries(declaredFields).filter(([field]) => isNew || !createOnly.includes(field)),
  );
  const taken = { ...restored, ...own };
  const present = presentObject(input);
  const resolution = kind.resolve?.(taken, {
    references: input.references,
    profile: input.profile,
    present: present.fields,
    isDeclared: (field) => declared.remembered !== true && Object.hasOwn(declared.fields, field),
    locationOf: (...path) => {
      const { file, line } = declared.places.of(...path);
      return `${file}:${line}`;
    },
  }) ?? { fields: taken, reasons: [], confirmed: [], warnings: [] };
  const { fields: dated, reasons, confirmed } = resolution;
  const stale = resolution.warnings.map(({ field, ...warning }) => {
    const { length: _length, text: _text, ...place } = declared.places.of(field);
    return { ...warning, place };
  });
  const { fields: resolved, ends } = extractEnds(kind, dated);
  const dates = untilChanges(ends, recorded ?? {}, resolved, present.fields, declared.kept);
  const known = knownValues(input, present);
  // An undo of the run that restores a value must not remove it again.
  const before = { ...present.fields, ...withLostRestored(kind, present.fields, lost) };
  const observed = known.source(Object.keys(resolved));
  const named = namedMembers(kind, resolved, lost);
  const byMember = Object.keys(named);
  const base = (expected: Fields): Change => {
    const managed = Object.keys(own).filter((field) => !createOnly.includes(field));
    const change = baseChange(input, present, observed, { before, expected, managed, byMember, ...dates });
    return stale.length === 0 ? change : { ...change, warnings: stale };
  };
  const blocked = (reason: string): Change => ({ ...base({}), action: 'blocked', reason });
  const isGone = live?.missing === true && declared.absent;
  const refusal =
    declared.reason ??
    unusableId(declared.identity, input.profile) ??
    ((isNew && input.replacedBy === undefined) || isGone
      ? undefined
      : notFoundReason(live, input.replacedBy));
  if (refusal !== undefined) return blocked(refusal);
  if (isNew && input.renamed !== undefined) {
    const { id, name } = input.renamed;
    return blocked(
      `the ${kind.noun} "${declared.identity.name}" is called "${name}" now: declare it with the id ${id}, or by that name`,
    );
  }
  const unmet = declared.conditions?.find(
    (one) => !kind.bulk?.matches(one, { ...live?.readOnly, ...live?.fields }),
  );
  if (unmet !== undefined)
    return blocked(`this ${kind.noun} no longer matches the document that declares the change: plan again`);
  if (reasons.length > 0) return blocked(reasons.join('; '));
  if (isNew) {
    const created = createChange({ ...input, resolved, confirmed, base, blocked });
    return created.action === 'create'
      ? { ...created, fields: [...created.fields, ...firstNumber(kind, input), ...endFields(dates.until)] }
      : created;
  }

  // A map is merged into its value before the loss, members of a set into the live set: a recorded set isn't reliable enough.
  const isLive = (field: string): boolean => Object.hasOwn(live?.fields ?? {}, field);
  const wanted = wantedFields(kind, resolved, declared, (field) =>
    !Object.hasOwn(named, field) || isLive(field) ? before[field] : undefined,
  );
  const asked = Object.entries(wanted.fields);
  // Most objects are unchanged, so they skip the comparison of parts.
  const asserts = input.assert && observed === 'recorded';
  const parts =
    !asserts && asked.every(([field, goal]) => sameWithoutSecrets(goal, known.now(field)))
      ? []
      : asked.flatMap(([field, goal]) =>
          compareField(kind.fields[field] ?? value, field, goal, known.now(field)).map((part) => ({
            field,
            part,
          })),
        );
  const differing = parts.filter(({ part }) => part.verdict !== 'same');
  const planInput = {
    declared,
    present,
    desired: wanted.fields,
    changed: new Set(differing.map(({ field }) => field)),
    profile: input.profile,
    references: input.references,
  };
  const verdict = kind.decide?.(planInput) ?? absence(kind, planInput);
  if (verdict !== undefined) {
    const { reason = null, warnings = [], ...decided } = verdict;
    return { ...base({}), ...decided, reason, warnings: [...stale, ...warnings] };
  }
  const unrestorable = unrestorableReason(kind, input.recorded?.restore?.run, restored);
  if (unrestorable !== undefined) return blocked(unrestorable);
  if (wanted.unknowable.length > 0) return blocked(unmergeableReason(kind, wanted.unknowable));
  if (differing.length === 0 && !asserts) return withEnds(base(wanted.fields), recorded?.until);
  const { requests, expected, warnings = [], reason } = kind.update(planInput);
  const refused = reason ?? tooLargeReason(requests, input.profile);
  if (refused !== undefined) return blocked(refused);
  // Nothing can be asserted, for example for a key pair that isn't the default.
  if (Object.keys(expected).length === 0) return base(wanted.fields);
  const changesOf = (some: typeof parts): FieldChange[] =>
    some.map(({ field, part }) => ({
      ...fieldChange(part, named[field]),
      ...declaredPlaces(declared, part),
      ...(confirmed.includes(field) ? { confirmed: true } : {}),
    }));
  return {
    ...base(expected),
    action: 'update',
    requests,
    // The server may differ from the record, so an assertion shows all fields.
    fields: [
      ...changesOf(asserts ? parts : differing),
      ...firstNumber(kind, input),
      ...endFields(dates.until, recorded?.until),
    ],
    destructions: kind.destructions?.(changesOf(differing)) ?? [],
    warnings: [
      ...stale,
      ...warnings,
      ...restoreWarnings(kind, input.recorded?.restore?.run, lost, expected),
      ...unknownSets(parts.map(({ part }) => part)),
    ],
  };
}

/** The first regeneration number as a field. A change of other fields records it too. */
function firstNumber({ regeneration }: Kind, { declared: { generation }, recorded }: CompareInput) {
  if (regeneration === undefined || generation === undefined || recorded?.generation !== undefined) return [];
  const type = 'value' as const;
  return [{ path: regeneration.counter, type, before: undefined, after: generation, sensitive: false }];
}

/** The decision about an object that is declared absent. */
function absence(kind: Kind, { declared, present, profile }: PlanInput): Verdict | undefined {
  if (!declared.absent || kind.deletion === undefined) return undefined;
  if (present.exists === false) return { action: 'unchanged' };
  return kind.deletion.verdict(present.identity, present.fields, profile);
}

/** What an unfinished update removed from this object, unless someone has set it since. */
function lostFieldsOf(kind: Kind, { declared, live, recorded, references }: CompareInput): Fields {
  if (declared.absent || live === undefined || !live.exists || recorded?.restore === undefined) return {};
  const lost = stillLost(kind, recorded.restore, live.fields);
  // A reference to a deleted object can't be restored; the rest can.
  return kind.restorable?.(lost, references) ?? lost;
}

/** The present fields with what was lost. */
function withLostRestored(kind: Kind, now: Fields, lost: Fields): Fields {
  return mapValues(lost, (part, field) => restoreLost(kind.fields[field] ?? value, now[field], part));
}

/** The undeclared fields to restore. */
function restoredFields(kind: Kind, lost: Fields, { declared, live, profile }: CompareInput): Fields {
  const back = Object.entries(withLostRestored(kind, live?.fields ?? {}, lost));
  const own = back.filter(([field]) => !Object.hasOwn(declared.fields, field));
  return storedFields(Object.fromEntries(own), kind.traits[profile.name]);
}

/** A warning about what is restored, and why. */
function restoreWarnings(kind: Kind, run: string | undefined, lost: Fields, wanted: Fields): PlanWarning[] {
  const back = Object.entries(lost).flatMap(([field, part]): [string, Value][] => {
    const goal = wanted[field];
    if (goal === undefined) return [];
    if (Array.isArray(part)) {
      const ids = new Set(asElements(goal).map(({ id }) => id));
      const elements = asElements(part).filter(({ id }) => ids.has(id));
      return elements.length === 0 ? [] : [[field, elements]];
    }
    if (!isMap(part) || !isMap(goal)) return [[field, part]];
    const members = Object.entries(part).filter(([key]) => Object.hasOwn(goal, key));
    return members.length === 0 ? [] : [[field, Object.fromEntries(members)]];
  });
  if (back.length === 0) return [];
  const message = `an update of this ${kind.noun} in run ${run} did not finish and took away ${describeLoss(Object.fromEntries(back))}, which this plan restores`;
  return [{ code: 'restores', message }];
}

/** Why a lost value can't be restored. */
function unrestorableReason(kind: Kind, run: string | undefined, restored: Fields): string | undefined {
  const secret = Object.keys(restored).filter((field) => holdsHashed(restored[field] ?? null));
  if (secret.length === 0) return undefined;
  const names = secret.join(' and ');
  return `an update of this ${kind.noun} in run ${run} did not finish and took away ${names}, which contains a secret that no journal holds: declare ${names}, or set it on the server`;
}

function tooLargeReason(requests: Change['requests'], { limits }: Profile): string | undefined {
  if (limits === null) return undefined;
  const largest = Math.max(0, ...requests.map(({ body }) => (body === undefined ? 0 : requestSize(body))));
  if (largest <= limits.requestBytes) return undefined;
  return `the request would have about ${largest} bytes, and the server accepts ${limits.requestBytes}: shorten the declared values, or those that are sent along`;
}

/** The server's answer, with recorded secrets concealed. */
function concealKnownSecrets({ live, recorded }: CompareInput): Live | undefined {
  if (live === undefined || recorded === undefined) return live;
  const { fields } = recorded;
  if (!Object.values(fields).some(holdsHashed)) return live;
  return { ...live, fields: mapValues(live.fields, (field, name) => concealKnown(field, fields[name])) };
}

function concealKnown(shown: Value, recorded: Value | undefined): Value {
  if (recorded instanceof HashedSecret) {
    const plain = !(shown instanceof Sensitive);
    return plain && recorded.matches(reveal(shown)) ? new Sensitive(reveal(shown)) : shown;
  }
  if (recorded === undefined || !isMap(recorded) || !isMap(shown)) return shown;
  return mapValues(shown, (member, name) =>
    concealKnown(member, Object.hasOwn(recorded, name) ? recorded[name] : undefined),
  );
}

function presentObject({ declared, live, recorded }: CompareInput): Present {
  return {
    exists: live?.exists,
    identity: live === undefined ? declared.identity : assign(declared.identity, live.identity),
    fields: live?.exists === false ? live.fields : { ...recorded?.fields, ...live?.fields },
    live: live?.fields ?? {},
    matchesDeleteResponse: live !== undefined && (recorded?.matchesDeleteResponse(live.fields) ?? false),
    ...withoutUndefined({
      readOnly: live?.readOnly,
      record: recorded && { fields: recorded.fields, at: recorded.at, run: recorded.run },
      generation: recorded?.generation,
      pendingRun: recorded?.pendingRun,
    }),
  };
}

/** The known values of the fields, and their source. */
function knownValues({ live, recorded, declared }: CompareInput, present: Present) {
  const isLive = (field: string): boolean =>
    live !== undefined && (Object.hasOwn(live.fields, field) || !live.exists);
  const now = (field: string): Value | undefined => {
    if (isLive(field)) return live?.fields[field] ?? null;
    return recorded?.uncertain.has(field) ? undefined : present.fields[field];
  };
  const source = (fields: readonly string[]): Source => {
    if (declared.generation !== undefined && fields.length === 0)
      return recorded?.generation === undefined ? 'unknown' : 'recorded';
    if (fields.some((field) => !isLive(field) && now(field) !== undefined)) return 'recorded';
    return live === undefined ? 'unknown' : 'live';
  };
  return { now, source };
}

type BaseInfo = Pick<ApplyInfo, 'before' | 'expected' | 'managed'> &
  Required<Pick<ApplyInfo, 'byMember' | 'ends' | 'undated'>> & { readonly until: UntilChanges | undefined };

function baseChange(input: CompareInput, present: Present, observed: Source, info: BaseInfo): Change {
  const { byMember, ends, undated, until, ...known } = info;
  const { declared, recorded, address, key } = input;
  const { ended, generation } = declared;
  return {
    address,
    kind: declared.kind,
    action: 'unchanged',
    observed,
    ...(observed === 'recorded' && recorded !== undefined ? { recordedAt: recorded.at } : {}),
    ...emptyChange,
    declaredAt: declared.places.line,
    apply: {
      key,
      identity: present.identity,
      ...known,
      existed: present.exists ?? null,
      ...withoutUndefined({
        byMember: notEmpty(byMember),
        until,
        ends: notEmpty(ends),
        undated: notEmpty(undated),
        ended,
        seen: present.exists === true ? present.live : undefined,
        generation,
        recordedGeneration: generation === undefined ? undefined : recorded?.generation,
      }),
    },
  };
}

function notEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** `present` gives the known value of a field. */
function wantedFields(kind: Kind, fields: Fields, declared: Declared, present: LiveValueOf) {
  const wanted: Fields = {};
  const unknowable: string[] = [];
  for (const [field, asked] of Object.entries(fields)) {
    const type = kind.fields[field] ?? value;
    const whole = desired(type, asked, present(field), declared.whole.includes(field));
    if (whole !== undefined) wanted[field] = whole;
    else if (typeof asked === 'object' && asked !== null && Object.keys(asked).length > 0)
      unknowable.push(field);
  }
  return { fields: wanted, unknowable };
}

function unmergeableReason(kind: Kind, fields: readonly string[]): string {
  const names = fields.join(' and ');
  const sets = fields.filter((field) => kind.fields[field]?.type === 'set');
  if (sets.length > 0) {
    return (
      `the server doesn't show the present ${sets.join(' and ')} of this ${kind.noun}, so members can't be added or removed: ` +
      `declare the whole set`
    );
  }
  return (
    `the present value of ${names} is unknown, so the manifest's value can't be merged into it: ` +
    `this ${kind.noun} can't be read and nothing is recorded; with "whole: [${fields.join(', ')}]" the manifest's value becomes the whole value`
  );
}
