import { stringifyJson } from '../json.js';
import { error, type Place, type Problem, warning } from '../problems.js';
import type { KindName, Limits, Profile } from '../server/profiles.js';
import { type Fields, holdsSensitive, isMap, reveal, UNKNOWN_TEXT, type Value } from '../values.js';
import type { Declared, Kind } from './kind.js';

/** Of the declared fields those that the profile's server keeps, in the form in which it keeps them. */
export function takenFields(kind: KindName, fields: Fields, profile: Profile): Fields {
  const left = profile.ignored[kind] ?? [];
  const emptied = profile.emptyIsNull[kind] ?? [];
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([field]) => !left.includes(field))
      .map(([field, value]) => {
        if (value === '' && emptied.includes(field)) return [field, null];
        const instead = profile.nullBecomes[kind]?.[field];
        // An empty map would mean that nothing of the present one is to change.
        return [field, value === null && instead !== undefined && !isMap(instead) ? instead : value];
      }),
  );
}

/**
 * An answer without the objects beside the managed ones that the server ignores, such as a user's backend: what is
 * never compared needs no record, least of all its passwords.
 */
export function shownFields({ name, fields }: Kind, answer: Fields, { ignored }: Profile): Fields {
  const left = (ignored[name] ?? []).filter((field) => fields[field]?.type === 'members');
  return Object.fromEntries(Object.entries(answer).filter(([field]) => !left.includes(field)));
}

/** The declared fields that the profile's server takes and does nothing with. */
export function ignoredFields({ kind, fields }: Declared, { ignored }: Profile): string[] {
  return Object.keys(fields).filter((field) => ignored[kind]?.includes(field) ?? false);
}

/**
 * Everything that an update has to send, where the server resets what it isn't sent: the present values under
 * the desired ones. `unknown` are the fields whose value is neither declared nor known.
 */
export function wholeFields(
  kind: KindName,
  desired: Fields,
  present: Fields,
  { whole, nullBecomes }: Profile,
): { fields: Fields; unknown: string[] } {
  const fields: Fields = {};
  const unknown: string[] = [];
  for (const name of whole[kind] ?? []) {
    const value = Object.hasOwn(desired, name) ? desired[name] : present[name];
    if (value === undefined) unknown.push(name);
    else fields[name] = value ?? nullBecomes[kind]?.[name] ?? null;
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

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What of the documents the profile's server can't take, or takes and does nothing with. */
export function profileProblems(declared: readonly Declared[], profile: Profile): Problem[] {
  return declared.flatMap((object) => [
    ...ignoredFields(object, profile).map((field) => ignoredWarning(object, field, profile)),
    ...(profile.limits === null ? [] : limitProblems(object, profile, profile.limits)),
  ]);
}

function ignoredWarning(object: Declared, field: string, profile: Profile): Problem {
  return warning(
    'ignored-field',
    `a server of the profile ${profile.name} takes no notice of "${field}", so it is neither sent nor compared`,
    [object.placeOf(field)],
    'remove it, or keep it for a server that does',
  );
}

function limitProblems(object: Declared, profile: Profile, limits: Limits): Problem[] {
  const { kind, fields } = object;
  const refused = (message: string, place: Place, hint?: string): Problem =>
    error('profile-limit', `${message} (profile ${profile.name})`, [place], hint);
  const problems: Problem[] = [];

  if (limits.uuids) {
    for (const { id, path } of idsOf(object)) {
      const text = reveal(id);
      if (typeof text !== 'string' || text === UNKNOWN_TEXT || uuid.test(text)) continue;
      const lower = text.toLowerCase();
      const place = object.placeOf(...path);
      const hint = uuid.test(lower)
        ? `this server writes its ids in lower case: ${lower}`
        : 'copy the id from the server, such as 9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77';
      problems.push(refused(`"${path.join('.')}" is not a UUID, as the ids of this server are`, place, hint));
    }
  }
  const { type } = object.identity;
  if (
    kind === 'EmailTemplate' &&
    type !== undefined &&
    type !== UNKNOWN_TEXT &&
    !limits.templateTypes.includes(type)
  ) {
    problems.push(
      refused(
        'this server has no email template of this type',
        object.placeOf('type'),
        `the types are ${limits.templateTypes.join(', ')}`,
      ),
    );
  }
  for (const [field, most] of Object.entries(limits.characters[kind] ?? {})) {
    const length = [...textOf(fields[field])].length;
    if (length <= most) continue;
    problems.push(
      refused(`"${field}" has ${length} characters, and may have ${most}`, object.placeOf(field)),
    );
  }
  for (const field of limits.filled[kind] ?? []) {
    const value = fields[field];
    if (value !== null && !isEmpty(value)) continue;
    problems.push(
      refused(
        `"${field}" can't be ${value === null ? 'null' : 'empty'}`,
        object.placeOf(field),
        kind === 'EmailTemplate' ? 'to go back to the built-in text, declare "state: absent"' : undefined,
      ),
    );
  }
  for (const field of profile.emptyIsNull[kind] ?? []) {
    if (!isEmpty(fields[field])) continue;
    const message = `an empty "${field}" becomes null`;
    const hint = `write ${field}: null`;
    problems.push(
      limits.notEmpty[kind]?.includes(field)
        ? refused(message, object.placeOf(field), hint)
        : warning('becomes-null', `${message} (profile ${profile.name})`, [object.placeOf(field)], hint),
    );
  }
  for (const field of limits.uniqueWords[kind] ?? []) {
    const words = textOf(fields[field])
      .split(/\s+/)
      .filter((word) => word !== '');
    const twice = words.find((word, index) => words.indexOf(word) !== index);
    if (twice === undefined) continue;
    const shown = holdsSensitive(fields[field] ?? null) ? 'a word' : `"${twice}"`;
    problems.push(refused(`"${field}" has ${shown} twice`, object.placeOf(field), 'keep one of the two'));
  }
  for (const [field, needed] of Object.entries(limits.elements[kind] ?? {})) {
    const map = fields[field];
    if (!isMap(map)) continue;
    for (const [key, element] of Object.entries(map)) {
      if (element === null || reveal(element) === UNKNOWN_TEXT) continue;
      if (isMap(element) && needed.every((member) => Object.hasOwn(element, member))) continue;
      const example = `${key}: {${needed.map((member) => `${member}: …`).join(', ')}}`;
      problems.push(
        refused(
          `an element of "${field}" must be a map with ${needed.map((member) => `"${member}"`).join(' and ')}`,
          object.placeOf(field, key),
          `write it as ${example}`,
        ),
      );
    }
  }
  const bytes = requestSize(fields);
  if (bytes > limits.requestBytes) {
    const [longest = ''] = Object.keys(fields).sort((a, b) => size(fields[b]) - size(fields[a]));
    problems.push(
      refused(
        `the request would have ${bytes} bytes, and this server takes ${limits.requestBytes}`,
        object.placeOf(longest),
      ),
    );
  }
  return problems;
}

/** About how many bytes a request with these fields has: its wrapper is short. */
export function requestSize(fields: Fields): number {
  return Object.entries(fields).reduce((sum, [name, value]) => sum + name.length + 4 + size(value), 32);
}

function size(value: Value | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(stringifyJson(reveal(value)));
}

function textOf(value: Value | undefined): string {
  const text = value === undefined ? '' : reveal(value);
  return typeof text === 'string' ? text : '';
}

function isEmpty(value: Value | undefined): boolean {
  return value !== undefined && reveal(value) === '';
}

interface Id {
  readonly id: Value;
  readonly path: readonly (string | number)[];
}

/** Every id in a document; the strings that may be names are none. */
function idsOf({ kind, identity, fields }: Declared): Id[] {
  const own = ['id', 'backend_id'].flatMap((part): Id[] =>
    identity[part] === undefined ? [] : [{ id: identity[part], path: [part] }],
  );
  if (kind !== 'User') return own;
  return [
    ...own,
    ...['authorized_scopes', 'roles', 'organizations'].flatMap((list) => elementIds(fields[list], [list])),
  ];
}

function elementIds(list: Value | undefined, path: readonly (string | number)[]): Id[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((element, index): Id[] => {
    if (!isMap(element)) return [];
    const at = [...path, index];
    const own = element.id === undefined ? [] : [{ id: element.id, path: [...at, 'id'] }];
    return [...own, ...elementIds(element.roles, [...at, 'roles'])];
  });
}
