import { error, type Problem } from '../base/problems.js';
import { type Fields, filterValues, isMap, setMember } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { desired } from './desired.js';
import { isBlank, markSecrets, matches, value } from './fields.js';
import type { Declared, Kind, Live } from './kind.js';
import { limitProblems } from './limits.js';
import type { ProfileTraits, Traits } from './traits.js';

/** The declared fields as the profile's server stores them, without those that it ignores. */
export function storedFields(fields: Fields, { ignored = [], emptyIsNull = [], nullBecomes = {} }: Traits) {
  const taken: Fields = {};
  for (const [field, value] of Object.entries(fields)) {
    if (ignored.includes(field)) continue;
    const { [field]: instead } = nullBecomes;
    if (emptyIsNull.includes(field) && isBlank(value)) setMember(taken, field, null);
    // An empty map would mean no change.
    else
      setMember(taken, field, value === null && instead !== undefined && !isMap(instead) ? instead : value);
  }
  return taken;
}

/**
 * The fields of an answer. Objects that the server ignores in updates, such as a user's backend, are in `readOnly`: they aren't
 * recorded, since they may contain passwords.
 */
export function answerFields(
  { fields, traits }: Kind,
  answer: Fields,
  { name }: Profile,
): Pick<Live, 'fields' | 'readOnly'> {
  const shown = markSecrets(fields, answer);
  const left = (traits[name].ignored ?? []).filter((field) => fields[field]?.type === 'members');
  if (left.length === 0) return { fields: shown };
  return {
    fields: filterValues(shown, (_, field) => !left.includes(field)),
    readOnly: filterValues(shown, (_, field) => left.includes(field)),
  };
}

/** The declared fields that the profile's server ignores. */
export function ignoredFields(fields: Fields, { ignored }: Traits): string[] {
  return ignored === undefined ? [] : Object.keys(fields).filter((field) => ignored.includes(field));
}

/** Ignored fields that the document's `ignored` doesn't list. */
function unacceptedFields({ fields, ignored }: Declared, traits: Traits): string[] {
  return ignoredFields(fields, traits).filter((field) => !ignored.includes(field));
}

/** Why a document is blocked if it declares ignored fields and the live values differ; undefined if they don't. */
export function ignoredFieldsReason(
  kind: Kind,
  declared: Declared,
  live: Live | undefined,
  { name }: Profile,
) {
  const shown = { ...live?.readOnly, ...live?.fields };
  const { [name]: traits } = kind.traits;
  const off = unacceptedFields(declared, traits).filter((field) => {
    const type = kind.fields[field] ?? value;
    const wanted = desired(
      type,
      declared.fields[field] ?? null,
      shown[field],
      declared.whole.includes(field),
    );
    return wanted === undefined || !matches(type, wanted, shown[field]);
  });
  if (off.length === 0) return undefined;
  const names = off.map((field) => `"${field}"`).join(', ');
  const [instead = 'change it by other means'] = off.flatMap((field) => traits.alternatives?.[field] ?? []);
  const cure = `${instead}, or accept its live value with "ignored: [${off.join(', ')}]"`;
  return `the server ignores ${names}, and doesn't show the declared value: ${cure}`;
}

/** The fields that an update must send because the server resets them otherwise: desired values, and present ones for the rest. */
export function fieldsToSend(
  desired: Fields,
  present: Fields,
  { resetUnlessSent = [], nullBecomes = {} }: Traits,
) {
  const fields: Fields = {};
  for (const name of resetUnlessSent) {
    const value = Object.hasOwn(desired, name) ? desired[name] : present[name];
    if (value !== undefined) fields[name] = value ?? nullBecomes[name] ?? null;
  }
  return fields;
}

/** Why an update is blocked if the values of some `whole` fields are unknown: it can't send them, so the server would reset them. */
export function unknownFieldsReason(
  noun: string,
  whole: readonly string[],
  sent: Fields,
): string | undefined {
  const unknown = whole.filter((field) => sent[field] === undefined);
  if (unknown.length === 0) return undefined;
  const [names, them] = [unknown.join(' and '), unknown.length === 1 ? 'it' : 'them'];
  return (
    `the server's answer does not show ${names} of this ${noun}, and an update that does not send ` +
    `${them} would reset ${them}: declare ${names} too`
  );
}

/** Problems with the limits of the profile's server. */
export function profileProblems(declared: readonly Declared[], profile: Profile, traits: ProfileTraits) {
  const { limits } = profile;
  if (limits === null) return [];
  return declared.flatMap((object) => limitProblems(object, profile, limits, traits[profile.name]));
}

/** Declared fields that the profile's server ignores; only a plan can tell whether they match. */
export function ignoredProblems(declared: Declared, { traits: all }: Kind, { name }: Profile): Problem[] {
  const { [name]: traits } = all;
  return unacceptedFields(declared, traits).map((field) => {
    const message = `a server of the profile ${name} ignores "${field}", so it can't be changed`;
    const instead = traits.alternatives?.[field] ?? 'remove it';
    const hint = `${instead}, or accept its live value with "ignored: [${field}]"`;
    return error('ignored-field', message, [declared.places.of(field)], hint);
  });
}
