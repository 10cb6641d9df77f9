import { error, type Problem } from '../base/problems.js';
import { type Fields, isMap, put } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { contrast, desired, isBlank, markSecrets, value } from './fields.js';
import type { Declared, Kind, Live } from './kind.js';
import { limitProblems } from './limits.js';
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
 * What an answer shows of an object. Objects beside the managed ones that the server ignores, such as a user's backend, are apart:
 * they need no record, least of all their passwords.
 */
export function shownFields(
  { fields, traits }: Kind,
  answer: Fields,
  { name }: Profile,
): Pick<Live, 'fields' | 'beside'> {
  const shown = markSecrets(fields, answer);
  const left = (traits[name].ignored ?? []).filter((field) => fields[field]?.type === 'members');
  if (left.length === 0) return { fields: shown };
  const isBeside = ([field]: [string, unknown]): boolean => left.includes(field);
  const all = Object.entries(shown);
  return {
    fields: Object.fromEntries(all.filter((one) => !isBeside(one))),
    beside: Object.fromEntries(all.filter(isBeside)),
  };
}

/** The declared fields that the profile's server takes and does nothing with. */
export function ignoredFields(fields: Fields, { ignored }: Traits): string[] {
  return ignored === undefined ? [] : Object.keys(fields).filter((field) => ignored.includes(field));
}

/** The same without those that the document accepts as ignored. */
function unacceptedFields({ fields, ignored }: Declared, traits: Traits): string[] {
  return ignoredFields(fields, traits).filter((field) => !ignored.includes(field));
}

/**
 * Why a document can't come about as a whole: it declares fields that the profile's server ignores, and that aren't so already.
 * Undefined if it declares none.
 */
export function ignoredTrouble(
  kind: Kind,
  declared: Declared,
  live: Live | undefined,
  { name }: Profile,
): string | undefined {
  const shown = { ...live?.beside, ...live?.fields };
  const off = unacceptedFields(declared, kind.traits[name]).filter((field) => {
    const type = kind.fields[field] ?? value;
    const wanted = desired(
      type,
      declared.fields[field] ?? null,
      shown[field],
      declared.whole.includes(field),
    );
    return (
      wanted === undefined ||
      contrast(type, field, wanted, shown[field]).some(({ verdict }) => verdict !== 'same')
    );
  });
  if (off.length === 0) return undefined;
  const names = off.map((field) => `"${field}"`).join(', ');
  const cure = `change it by other means, or accept with "ignored: [${off.join(', ')}]" that it stays as it is`;
  return `the server ignores ${names}, and isn't known to have what is declared: ${cure}`;
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

/** What of the documents the profile's server can't take. */
export function profileProblems(
  declared: readonly Declared[],
  profile: Profile,
  { [profile.name]: traits }: ProfileTraits,
): Problem[] {
  const { limits } = profile;
  if (limits === null) return [];
  return declared.flatMap((object) => limitProblems(object, profile, limits, traits));
}

/** What a document declares although the profile's server ignores it; only the server tells whether it is so already. */
export function ignoredProblems(declared: Declared, { traits }: Kind, { name }: Profile): Problem[] {
  return unacceptedFields(declared, traits[name]).map((field) =>
    error(
      'ignored-field',
      `a server of the profile ${name} ignores "${field}", so it can't become as declared`,
      [declared.placeOf(field)],
      `remove it, or accept with "ignored: [${field}]" that it stays as it is on such a server`,
    ),
  );
}
