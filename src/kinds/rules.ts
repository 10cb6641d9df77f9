import { type Problem, warning } from '../base/problems.js';
import { type Fields, isMap, put } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import type { Declared, Kind } from './kind.js';
import { limitProblems } from './limits.js';
import { isBlank } from './texts.js';
import type { ProfileTraits, Traits } from './traits.js';

/** Of the declared fields those that the profile's server keeps, in the form in which it keeps them. */
export function takenFields(
  fields: Fields,
  { ignored = [], emptyIsNull = [], nullBecomes = {} }: Traits,
): Fields {
  const taken: Fields = {};
  for (const [field, value] of Object.entries(fields)) {
    if (ignored.includes(field)) continue;
    const { [field]: instead } = nullBecomes;
    if (emptyIsNull.includes(field) && isBlank(value)) put(taken, field, null);
    // An empty map would mean that nothing of the present one is to change.
    else put(taken, field, value === null && instead !== undefined && !isMap(instead) ? instead : value);
  }
  return taken;
}

/**
 * An answer without the objects beside the managed ones that the server ignores, such as a user's backend: what is
 * never compared needs no record, least of all its passwords.
 */
export function shownFields({ fields, traits }: Kind, answer: Fields, { name }: Profile): Fields {
  const left = (traits[name].ignored ?? []).filter((field) => fields[field]?.type === 'members');
  if (left.length === 0) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([field]) => !left.includes(field)));
}

/** The declared fields that the profile's server takes and does nothing with. */
export function ignoredFields(fields: Fields, { ignored }: Traits): string[] {
  return ignored === undefined ? [] : Object.keys(fields).filter((field) => ignored.includes(field));
}

/**
 * Everything that an update has to send, where the server resets what it isn't sent: the present values under
 * the desired ones. `unknown` are the fields whose value is neither declared nor known.
 */
export function wholeFields(
  desired: Fields,
  present: Fields,
  { whole = [], nullBecomes = {} }: Traits,
): { fields: Fields; unknown: string[] } {
  const fields: Fields = {};
  const unknown: string[] = [];
  for (const name of whole) {
    const value = Object.hasOwn(desired, name) ? desired[name] : present[name];
    if (value === undefined) unknown.push(name);
    else fields[name] = value ?? nullBecomes[name] ?? null;
  }
  return { fields, unknown };
}

/** Why an update can't be made where some of what it would reset isn't known. */
export function unknownWhole(noun: string, unknown: readonly string[]): string {
  return (
    `the server's answer does not show ${unknown.join(' and ')} of this ${noun}, and an update that does not send ` +
    `${unknown.length === 1 ? 'it' : 'them'} would reset ${unknown.length === 1 ? 'it' : 'them'}: declare ${unknown.join(' and ')} too`
  );
}

/** What of the documents the profile's server can't take, or takes and does nothing with. */
export function profileProblems(
  declared: readonly Declared[],
  profile: Profile,
  { [profile.name]: traits }: ProfileTraits,
): Problem[] {
  return declared.flatMap((object) => {
    const ignored = ignoredFields(object.fields, traits);
    return [
      ...ignored.map((field) => ignoredWarning(object, field, profile)),
      ...(profile.limits === null ? [] : limitProblems(object, profile, profile.limits, traits)),
    ];
  });
}

function ignoredWarning(object: Declared, field: string, profile: Profile): Problem {
  return warning(
    'ignored-field',
    `a server of the profile ${profile.name} takes no notice of "${field}", so it is neither sent nor compared`,
    [object.placeOf(field)],
    'remove it, or keep it for a server that does',
  );
}
