import { type Contrast, contrast, desired, type FieldType, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Kind, Live, Present } from '../kinds/kind.js';
import { idTrouble, requestSize } from '../kinds/limits.js';
import type { References } from '../kinds/references.js';
import { takenFields } from '../kinds/rules.js';
import type { Profile } from '../server/profiles.js';
import {
  type Fields,
  HashedSecret,
  holdsSensitive,
  isMap,
  mapValues,
  reveal,
  Sensitive,
  type Value,
} from '../values.js';
import type { Change, FieldChange, PlanWarning, Source } from './plan.js';

/** What the state knows of an object, its secrets as things that can be compared. */
export interface Recorded {
  readonly fields: Fields;
  /** Fields that were sent in a request whose outcome isn't known. */
  readonly uncertain: ReadonlySet<string>;
  readonly at: string;
  readonly generation?: number;
  readonly pendingRun?: string;
  readonly asDeleted: (live: Fields) => boolean;
  /** What an unfinished run took away from an object that looks like this now, to be put back with the next update. */
  readonly takenAway?: (live: Fields) => Fields;
}

export interface CompareInput {
  readonly declared: Declared;
  /** The server's answer; undefined where there is no read for it. */
  readonly live: Live | undefined;
  readonly recorded: Recorded | undefined;
  /** The lists that were read. */
  readonly references: References;
  readonly profile: Profile;
  /** Send even where the recorded value already matches. */
  readonly assert: boolean;
  readonly address: string;
  /** The state's key of the object. */
  readonly key: string;
}

/**
 * Decides what is to be done for one declared object. Pure: the same input gives the same change, nothing is
 * read and nothing is sent.
 */
export function compare(given: CompareInput): Change {
  const input = { ...given, live: knownSecrets(given) };
  const { declared, live } = input;
  const kind = kindOf(declared.kind);
  const restored = restoredFields(input);
  const taken = { ...restored, ...takenFields(declared.kind, declared.fields, input.profile) };
  const present = presentObject(input);
  const resolution = kind.resolve?.(taken, {
    references: input.references,
    profile: input.profile,
    present: present.fields,
    wished: (field) => declared.remembered !== true && Object.hasOwn(declared.fields, field),
  });
  const {
    fields: resolved,
    troubles,
    confirmed,
  } = resolution ?? { fields: taken, troubles: [], confirmed: [] };
  const known = knowledge(input, present);
  const base = baseChange(input, present, known.source(Object.keys(resolved)));
  const unfit = idTrouble(declared.identity, input.profile) ?? live?.trouble;
  if (unfit !== undefined) return { ...base, action: 'blocked', reason: unfit };
  if (troubles.length > 0) return { ...base, action: 'blocked', reason: troubles.join('; ') };

  const wanted = wantedFields(kind, resolved, declared, present.fields);
  const parts = Object.entries(wanted.fields).flatMap(([field, asked]) =>
    contrast(kind.fields[field] ?? value, field, asked, known.now(field)).map((part) => ({ field, part })),
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
  const verdict = kind.decide?.(planInput);
  if (verdict !== undefined) {
    const { reason = null, ...decided } = verdict;
    return { ...base, ...decided, reason };
  }
  if (wanted.unknowable.length > 0) {
    return { ...base, action: 'blocked', reason: unmergeable(kind, wanted.unknowable) };
  }
  if (differing.length === 0 && !(input.assert && base.observed === 'recorded')) {
    return { ...base, apply: { ...base.apply, expected: wanted.fields } };
  }
  const { requests, expected, warnings = [], trouble } = kind.update(planInput);
  const refused = trouble ?? tooLarge(requests, input.profile);
  if (refused !== undefined) return { ...base, action: 'blocked', reason: refused };
  // All that there was to assert stays unsaid, as the default that a key pair doesn't have.
  if (Object.keys(expected).length === 0) {
    return { ...base, apply: { ...base.apply, expected: wanted.fields } };
  }
  const fields = differing.map(({ field, part }) => ({
    ...fieldChange(part),
    ...(confirmed.includes(field) ? { confirmed: true } : {}),
  }));
  return {
    ...base,
    action: 'update',
    requests,
    fields,
    destructions: kind.destructions(fields),
    warnings: [
      ...warnings,
      ...restoreWarnings(Object.keys(restored)),
      ...updateWarnings(
        kind,
        live,
        parts.map(({ part }) => part),
      ),
    ],
    apply: { ...base.apply, expected },
  };
}

/** What a run that was cut off owes to an object, as far as the document doesn't say otherwise. */
function restoredFields({ declared, live, recorded }: CompareInput): Fields {
  if (declared.absent || live === undefined || recorded === undefined || !live.exists) return {};
  return Object.fromEntries(
    Object.entries(recorded.takenAway?.(live.fields) ?? {}).filter(
      ([field]) => !Object.hasOwn(declared.fields, field),
    ),
  );
}

function restoreWarnings(fields: readonly string[]): PlanWarning[] {
  if (fields.length === 0) return [];
  const names = fields.join(' and ');
  return [
    {
      code: 'restores',
      message: `an earlier run deleted this to write it anew and came no further: ${names}, which the manifest doesn't declare, will be as before that run`,
    },
  ];
}

function tooLarge(requests: Change['requests'], { limits }: Profile): string | undefined {
  if (limits === null) return undefined;
  const largest = Math.max(0, ...requests.map(({ body }) => (body === undefined ? 0 : requestSize(body))));
  if (largest <= limits.requestBytes) return undefined;
  return `the request would have about ${largest} bytes, and the server takes ${limits.requestBytes}: shorten what is declared, or what is sent along with it`;
}

/** What the server shows, with those parts held back that are known to be a secret that was sent to it. */
function knownSecrets({ live, recorded }: CompareInput): Live | undefined {
  if (live === undefined || recorded === undefined) return live;
  const { fields } = recorded;
  return { ...live, fields: mapValues(live.fields, (field, name) => heldBack(field, fields[name])) };
}

function heldBack(shown: Value, recorded: Value | undefined): Value {
  if (recorded instanceof HashedSecret) {
    const plain = !(shown instanceof Sensitive);
    return plain && recorded.matches(reveal(shown)) ? new Sensitive(reveal(shown)) : shown;
  }
  if (recorded === undefined || !isMap(recorded) || !isMap(shown)) return shown;
  return mapValues(shown, (member, name) =>
    heldBack(member, Object.hasOwn(recorded, name) ? recorded[name] : undefined),
  );
}

function presentObject({ declared, live, recorded }: CompareInput): Present {
  return {
    exists: live?.exists,
    identity: { ...declared.identity, ...live?.identity },
    fields: live?.exists === false ? {} : { ...recorded?.fields, ...live?.fields },
    asDeleted: live !== undefined && (recorded?.asDeleted(live.fields) ?? false),
    ...(recorded?.generation === undefined ? {} : { generation: recorded.generation }),
    ...(recorded?.pendingRun === undefined ? {} : { pendingRun: recorded.pendingRun }),
  };
}

/** What is known of the fields, and from where. */
function knowledge({ live, recorded, declared }: CompareInput, present: Present) {
  const isLive = (field: string): boolean =>
    live !== undefined && (Object.hasOwn(live.fields, field) || !live.exists);
  const now = (field: string): Value | undefined => {
    if (isLive(field)) return live?.fields[field] ?? null;
    return recorded?.uncertain.has(field) ? undefined : present.fields[field];
  };
  const source = (fields: readonly string[]): Source => {
    if (declared.generation !== undefined) return recorded?.generation === undefined ? 'unknown' : 'recorded';
    if (fields.some((field) => !isLive(field) && now(field) !== undefined)) return 'recorded';
    return live === undefined ? 'unknown' : 'live';
  };
  return { now, source };
}

function baseChange(input: CompareInput, present: Present, observed: Source): Change {
  const { declared, recorded, address, key } = input;
  return {
    address,
    kind: declared.kind,
    action: 'unchanged',
    observed,
    ...(observed === 'recorded' && recorded !== undefined ? { recordedAt: recorded.at } : {}),
    destructions: [],
    requests: [],
    fields: [],
    warnings: [],
    reason: null,
    declaredAt: { file: declared.place.file, line: declared.place.line },
    apply: {
      key,
      identity: present.identity,
      expected: {},
      before: present.fields,
      existed: present.exists ?? null,
      managed: Object.keys(takenFields(declared.kind, declared.fields, input.profile)),
      ...(declared.generation === undefined ? {} : { generation: declared.generation }),
    },
  };
}

function wantedFields(
  kind: Kind,
  fields: Fields,
  declared: Declared,
  present: Fields,
): { fields: Fields; unknowable: string[] } {
  const wanted: Fields = {};
  const unknowable: string[] = [];
  for (const [field, asked] of Object.entries(fields)) {
    const type = kind.fields[field] ?? value;
    const whole = desired(type, asked, present[field], declared.whole.includes(field));
    if (whole !== undefined) wanted[field] = whole;
    else if (typeof asked === 'object' && asked !== null && Object.keys(asked).length > 0)
      unknowable.push(field);
  }
  return { fields: wanted, unknowable };
}

function unmergeable(kind: Kind, fields: readonly string[]): string {
  const names = fields.join(' and ');
  return (
    `the present value of ${names} isn't known, so what the manifest says can't be merged into it: ` +
    `this ${kind.noun} can't be read and nothing is recorded; with "whole: [${fields.join(', ')}]" the manifest's value becomes the whole value`
  );
}

function fieldChange({ path, type, wanted, got }: Contrast): FieldChange {
  const sensitive =
    isSecret(type) ||
    holdsSensitive(wanted) ||
    (got !== undefined && (got instanceof HashedSecret || holdsSensitive(got)));
  return { path, type: type.type, before: got, after: wanted, sensitive };
}

function isSecret(type: FieldType): boolean {
  return type.type === 'value' && type.secret === true;
}

function updateWarnings(kind: Kind, live: Live | undefined, parts: readonly Contrast[]): PlanWarning[] {
  const warnings: PlanWarning[] = [];
  if (live?.exists === false) {
    warnings.push({
      code: 'not-there',
      message: `the server has no such ${kind.noun}; it is asked to take it all the same`,
    });
  }
  for (const { path, type, verdict } of parts) {
    if (type.type !== 'set' || verdict !== 'unknown') continue;
    warnings.push({
      code: 'unknown-set',
      message: `the present ${path} aren't known: what is in it and not in the manifest will be lost`,
    });
  }
  return warnings;
}
