import {
  type Fields,
  filterValues,
  holdsHashed,
  holdsSensitive,
  isMap,
  mapValues,
  reveal,
  Sensitive,
  type Value,
} from '../base/values.js';
import {
  asElements,
  comparedMembers,
  elementKey,
  type FieldType,
  mapWithCounterparts,
  normalForm,
  value,
  withoutForeignSecrets,
} from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Identity } from '../kinds/kind.js';
import type { ApplyInfo, Change, UntilChanges } from '../plan/plan.js';
import { type Hasher, hideSecrets } from '../secrets/hash.js';
import { holdsSecretKey } from '../secrets/names.js';
import type { Outcome } from './attempt-outcome.js';

/** The parts of a change that the state records. */
export interface RequestedChange
  extends Pick<Change, 'kind' | 'action'>,
    Pick<ApplyInfo, 'key' | 'expected' | 'managed' | 'lostCreation'> {
  readonly identity: Identity;
  /** The known fields before the change. */
  readonly before?: Fields;
  readonly generation?: number | undefined;
  /** Changed ends of access. */
  readonly until?: UntilChanges | undefined;
  /** The id of the deleted object that it replaces. */
  readonly replaces?: string | undefined;
}

/** The parts of an outcome that the state records. */
export type ObservedOutcome = Pick<
  Outcome,
  'status' | 'ambiguous' | 'after' | 'unverified' | 'otherProfile'
> &
  Partial<Pick<Outcome, 'httpStatus'>>;

export interface RecordContext {
  readonly run: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly hasher: Hasher;
  /** Whether plans read objects of the kind. Then only values that the server doesn't show are recorded. */
  readonly readable: boolean;
  /** Whether the profile is `documented`: readings may omit fields, and answers may show values in another form. */
  readonly documented: boolean;
}

type RequestedFields = Pick<RequestedChange, 'kind' | 'expected' | 'before'>;

/** The fields that the server shows, with sets sorted and known secrets concealed. */
export function shownFields({ kind, expected, before }: RequestedFields, after: Fields): Fields {
  const shown: Fields = {};
  for (const [name, type] of Object.entries(kindOf(kind).fields)) {
    const got = after[name];
    if (got === undefined) continue;
    const compared = concealSecretKeys(type, comparedMembers(type, normalForm(type, got)));
    shown[name] = [expected[name], before?.[name]].reduce<Value>((now, asked) => {
      const known = asked && withoutForeignSecrets(type, asked);
      return type.type === 'list'
        ? mapWithCounterparts(type.by, now, known, concealKnown)
        : concealKnown(now, known);
    }, compared);
  }
  return shown;
}

/** A map with the values of secret-looking keys concealed, since no manifest declares them as secret. */
function concealSecretKeys(type: FieldType, got: Value): Value {
  if (type.type !== 'map' || !isMap(got)) return got;
  return mapValues(got, (member, key) =>
    member !== null && holdsSecretKey(key, member) ? new Sensitive(reveal(member)) : member,
  );
}

/** A shown value with known secrets concealed. A list with a secret is concealed as a whole. */
function concealKnown(got: Value, known: Value | undefined): Value {
  if (known === undefined || got instanceof Sensitive) return got;
  if (known instanceof Sensitive || (Array.isArray(known) && holdsSensitive(known))) {
    return holdsHashed(got) ? got : new Sensitive(reveal(got));
  }
  if (!isMap(known) || !isMap(got)) return got;
  return mapValues(got, (member, key) =>
    concealKnown(member, Object.hasOwn(known, key) ? known[key] : undefined),
  );
}

/** The declared fields with sets sorted: secret sets are hashed in this form. */
export function normalizedFields({ kind, expected }: RequestedFields): Fields {
  const types = kindOf(kind).fields;
  return mapValues(expected, (field, name) => {
    const type = types[name] ?? value;
    return withoutForeignSecrets(type, normalForm(type, field));
  });
}

/** The declared secrets: with them a later plan recognises the server's value after the manifest has changed. */
export function declaredSecrets(change: RequestedFields): Fields {
  return filterValues(normalizedFields(change), holdsSensitive);
}

/** A value of the server with the declared secrets concealed. */
export function concealDeclared(type: FieldType, got: Value, asked: Value | undefined): Value {
  if (asked === undefined || !holdsSensitive(asked)) return got;
  if (type.type === 'list' && Array.isArray(got))
    return mapWithCounterparts(type.by, got, asked, hideSecrets);
  return hideSecrets(comparedMembers(type, got), comparedMembers(type, asked));
}

export function answeredFields({ kind, expected }: RequestedFields, answer: Fields, known: Fields): Fields {
  const types = kindOf(kind).fields;
  const shown: Fields = { ...known };
  for (const [name, type] of Object.entries(types)) {
    const got = answer[name];
    if (got === undefined) continue;
    const before = known[name];
    const asked = expected[name];
    // Members that the answer leaves out, such as passwords, stay as recorded.
    const whole =
      type.type === 'members' && isMap(got) && isMap(before)
        ? { ...before, ...got }
        : withOmittedMembers(type, got, asked ?? before);
    shown[name] = concealDeclared(type, whole, asked && normalForm(type, asked));
  }
  return shown;
}

/** A set in which each element has the members that the answer leaves out as they were sent or recorded, such as the roles of a membership. */
function withOmittedMembers(type: FieldType | undefined, got: Value, known: Value | undefined): Value {
  if (type?.type !== 'set' || !Array.isArray(got)) return got;
  const others = new Map(asElements(known).map((one) => [elementKey(one), one]));
  return asElements(got).map((one) => {
    const other = others.get(elementKey(one)) ?? {};
    const shown = mapValues(one, (member, name) =>
      withOmittedMembers(type.nested[name], member, other[name]),
    );
    return { ...other, ...shown };
  });
}

/** The sent texts that the answer showed and the reading before it omitted: the next reading may omit them too. Sets and maps are read live. */
export function unreadFields(
  { kind, expected, before = {} }: RequestedFields,
  answered: Fields,
  known: Fields,
): Fields {
  const types = kindOf(kind).fields;
  // A template that didn't exist has no fields.
  if (Object.keys(before).length === 0) return {};
  return filterValues(
    answered,
    (_, name) =>
      (types[name]?.type === 'value' || types[name]?.type === 'body') &&
      expected[name] !== undefined &&
      (before[name] === undefined || known[name] !== undefined),
  );
}

export function unverifiedNames({ expected }: RequestedFields, unverified: readonly string[]): string[] {
  return Object.keys(expected).filter((name) =>
    unverified.some((path) => path === name || path.startsWith(`${name}.`)),
  );
}

/** The sent fields that the answer didn't show; they count as applied. */
export function unverifiedFields(
  asked: RequestedFields,
  unverified: readonly string[],
  shown: Fields,
): Fields {
  const types = kindOf(asked.kind).fields;
  const fields: Fields = {};
  for (const [name, wanted] of Object.entries(normalizedFields(asked))) {
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
