import { isPathParameter } from '../base/identifiers.js';
import { stringifyJson } from '../base/json.js';
import { error, type Problem, warning } from '../base/problems.js';
import { type Fields, holdsSensitive, isMap, reveal, UNKNOWN_TEXT, type Value } from '../base/values.js';
import type { Profile, ServerLimits } from '../server/profiles.js';
import { characterCount, isBlank, membersWithPaths, textOf } from './fields.js';
import type { Declared, Identity } from './kind.js';
import type { KindLimits, MemberType, Traits } from './traits.js';

type FieldPath = readonly (string | number)[];

/** The parts of a document that are always ids. */
const idParts = ['id', 'backend_id', 'identity_provider_id'];
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Why no request can be sent for an object with these ids; undefined if one can. */
export function unusableId(identity: Identity, { name, limits }: Profile): string | undefined {
  const unusable = Object.entries(identity).find(
    // No path of the API contains a name.
    ([part, text]) =>
      !['name', 'username', 'backend'].includes(part) && text !== undefined && !isPathParameter(text),
  );
  if (unusable !== undefined)
    return `the ${unusable[0]} ${JSON.stringify(unusable[1])} can't name an object in a path of the API: correct it`;
  if (limits?.uuids !== true) return undefined;
  const wrong = idParts.find((part) => identity[part] !== undefined && !uuid.test(identity[part]));
  if (wrong === undefined) return undefined;
  return `the ${wrong} ${identity[wrong]} is not a UUID in lower case, as the ids of this server are (profile ${name}): correct it; idops list shows the ids`;
}

/** Problems with the limits of the profile's server in one document. */
export function limitProblems(object: Declared, profile: Profile, limits: ServerLimits, traits: Traits) {
  const { limits: own = {} } = traits;
  const refused: Refuse = (message, path, hint) =>
    error('profile-limit', `${message} (profile ${profile.name})`, [object.places.of(...path)], hint);
  return [
    ...idProblems(object, limits, own, refused),
    ...identityProblems(object, own, refused),
    ...Object.entries(own.characters ?? {}).flatMap(([field, most]) =>
      tooLong(textOf(object.fields[field]), most, [field], refused),
    ),
    ...emptyProblems(object, profile, traits, refused),
    ...wordProblems(object, own, refused),
    ...elementProblems(object, own, refused),
    ...sizeProblems(object, limits, refused),
  ];
}

type Refuse = (message: string, path: FieldPath, hint?: string) => Problem;

function idProblems(object: Declared, limits: ServerLimits, { ids = {} }: KindLimits, refused: Refuse) {
  const { identity, fields } = object;
  const known: { readonly [part: string]: Value | undefined } = {
    backend_id: fields.backend_id,
    ...identity,
  };
  const own = idParts.map((part): Id => ({ id: known[part], path: [part], most: null }));
  // A member that is a text may be a name, so only `{id}` is checked.
  const inLists = Object.entries(ids).flatMap(([field, most]) =>
    membersWithPaths(field, fields[field]).map(({ member, at }): Id => {
      const id = isMap(member) ? member.id : undefined;
      return { id, path: [...at, 'id'], most };
    }),
  );
  return [...own, ...inLists].flatMap(({ id, path, most }) => {
    const text = id === undefined ? undefined : reveal(id);
    if (typeof text !== 'string' || text === UNKNOWN_TEXT) return [];
    if (most !== null) return tooLong(text, most, path, refused);
    if (!limits.uuids || uuid.test(text)) return [];
    const lower = text.toLowerCase();
    const hint = uuid.test(lower)
      ? `this server writes its ids in lower case: ${lower}`
      : 'copy the id from the server, such as 9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77';
    return [refused(`"${path.join('.')}" is not a UUID, as the ids of this server are`, path, hint)];
  });
}

interface Id {
  readonly id: Value | undefined;
  readonly path: FieldPath;
  /** The maximum length if it may be any text; null for a UUID. */
  readonly most: number | null;
}

function tooLong(text: string, most: number, path: FieldPath, refused: Refuse): Problem[] {
  const length = characterCount(text);
  if (length <= most) return [];
  return [refused(`"${path.join('.')}" has ${length} characters, and may have ${most}`, path)];
}

function identityProblems({ identity }: Declared, { identity: parts = {} }: KindLimits, refused: Refuse) {
  return Object.entries(parts).flatMap(([part, { known, otherwise }]) => {
    const { [part]: text } = identity;
    if (text === undefined || text === UNKNOWN_TEXT || known.includes(text)) return [];
    return [refused(otherwise, [part], `the ${part}s are ${known.join(', ')}`)];
  });
}

function emptyProblems(object: Declared, profile: Profile, traits: Traits, refused: Refuse) {
  const { emptyIsNull = [], limits: { nonBlank = {}, notEmpty = [] } = {} } = traits;
  const { fields } = object;
  const unfilled = Object.entries(nonBlank).flatMap(([field, instead]) => {
    const { [field]: value } = fields;
    if (value !== null && !isBlank(value)) return [];
    const what = value === null ? 'null' : textOf(value) === '' ? 'empty' : 'only white space';
    return [refused(`"${field}" can't be ${what}`, [field], instead ?? undefined)];
  });
  const nulled = emptyIsNull.flatMap((field) => {
    if (!isBlank(fields[field])) return [];
    const isEmpty = textOf(fields[field]) === '';
    const message = `${isEmpty ? `an empty "${field}"` : `a "${field}" of only white space`} becomes null`;
    const hint = `write ${field}: null`;
    if (notEmpty.includes(field)) return [refused(message, [field], hint)];
    return [warning('becomes-null', `${message} (profile ${profile.name})`, [object.places.of(field)], hint)];
  });
  return [...unfilled, ...nulled];
}

function wordProblems({ fields }: Declared, { uniqueWords = [] }: KindLimits, refused: Refuse): Problem[] {
  return uniqueWords.flatMap((field) => {
    if (fields[field] === undefined || isBlank(fields[field])) return [];
    // This server splits at each space, so two spaces in a row make an empty word.
    const words = textOf(fields[field]).split(' ');
    const twice = words.find((word, index) => words.indexOf(word) !== index);
    if (twice === undefined) return [];
    if (twice === '') {
      const message = `"${field}" has superfluous spaces in two places, which this server reads as a word that is there twice`;
      return [refused(message, [field], 'remove them')];
    }
    const shown = holdsSensitive(fields[field] ?? null) ? 'a word' : `"${twice}"`;
    return [refused(`"${field}" has ${shown} twice`, [field], 'keep one of the two')];
  });
}

const memberTypes: {
  readonly [type in MemberType]: { readonly words: string; accepts(value: Value): boolean };
} = {
  text: { words: 'a text', accepts: isText },
  texts: { words: 'a list of texts', accepts: (value) => Array.isArray(value) && value.every(isText) },
};

function isText(value: Value): boolean {
  return !Array.isArray(value) && !isMap(value) && typeof reveal(value) === 'string';
}

function elementProblems({ fields }: Declared, { elements = {} }: KindLimits, refused: Refuse): Problem[] {
  return Object.entries(elements).flatMap(([field, { needs, types }]) => {
    const map = fields[field];
    if (!isMap(map)) return [];
    return Object.entries(map).flatMap(([key, element]) => {
      if (element === null || reveal(element) === UNKNOWN_TEXT) return [];
      if (!isMap(element) || !needs.every((member) => Object.hasOwn(element, member))) {
        const members = needs.map((member) => `"${member}"`).join(' and ');
        const hint = `write it as ${key}: {${needs.map((member) => `${member}: …`).join(', ')}}`;
        return [refused(`an element of "${field}" must be a map with ${members}`, [field, key], hint)];
      }
      return Object.entries(types).flatMap(([member, type]) => {
        const value = Object.hasOwn(element, member) ? element[member] : undefined;
        const { words, accepts } = memberTypes[type];
        if (value === undefined || accepts(value)) return [];
        return [refused(`"${member}" in an element of "${field}" must be ${words}`, [field, key, member])];
      });
    });
  });
}

function sizeProblems({ fields }: Declared, limits: ServerLimits, refused: Refuse): Problem[] {
  const bytes = requestSize(fields);
  if (bytes <= limits.requestBytes) return [];
  const [longest = ''] = Object.keys(fields).sort((a, b) => size(fields[b]) - size(fields[a]));
  const message = `the request would have ${bytes} bytes, and this server takes ${limits.requestBytes}`;
  return [refused(message, [longest])];
}

/** The approximate size of a request body in bytes. */
export function requestSize(fields: Fields): number {
  return Object.entries(fields).reduce((sum, [name, value]) => sum + name.length + 4 + size(value), 32);
}

function size(value: Value | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(stringifyJson(reveal(value)));
}
