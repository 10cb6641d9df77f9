import { error, type Place, type Problem, warning } from '../base/problems.js';
import { ExactNumber, isMap, serverSpelling, type Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { idOrName, listsOf, memberKey, membersWithPaths, setParts, textOf } from './fields.js';
import type { Declared } from './kind.js';
import { onlyBoruta } from './lifecycle.js';
import { listRead, unlisted } from './references.js';
import { lifecycleProblems } from './user-creation.js';
import { userSets, userTraits } from './user-schema.js';

/** The problems within one `User` or `Users` document. */
export function userProblems(user: Declared, profile: Profile): Problem[] {
  const { scopeNeedsLabel, hasRoles, doubles } = userTraits[profile.name];
  return [
    ...unidentified(user, profile),
    ...lifecycleProblems(user, profile),
    ...contradictions(user),
    ...(scopeNeedsLabel ? unlabelledScopes(user) : []),
    ...(hasRoles ? membershipRoles(user) : unknownRoles(user)),
    ...(doubles ? respelledNumbers(user) : []),
    ...Object.entries(user.fields).flatMap(([field, value]) => repeatedElements(user, field, value)),
  ];
}

/** The problems of users and names that a server of the profile can't find. */
function unidentified(user: Declared, profile: Profile): Problem[] {
  const { identity, fields, selector } = user;
  const lacks = (message: string, hint: string, ...at: string[]): Problem[] => [
    error('missing-field', message, [user.places.of(...at)], hint),
  ];
  const notFound = (what: string, ...at: (string | number)[]): Problem[] =>
    listRead('users', profile) === undefined ? [unlisted(profile, what, user.places.of(...at))] : [];
  if (selector === undefined) {
    if (identity.id !== undefined)
      return textOf(fields.backend) !== '' ? [wrongBackend(user.places.of('backend'))] : [];
    if (identity.username !== undefined) return notFound('a user', 'username');
    const hint = 'add the username that the user has on the server, or the id';
    return lacks('a User needs an "id" or a "username"', hint);
  }
  const { named, match, except } = selector;
  return [
    ...(named.length === 0 && match === undefined
      ? lacks('a Users document needs "users" or "match"', 'name the users, or say which match')
      : []),
    ...(except !== undefined && match === undefined
      ? lacks('"except" needs "match"', 'remove it, or say which users match', 'except')
      : []),
    ...named.flatMap(({ username, backend }, index) =>
      username === undefined && backend === undefined ? [] : notFound('a user', 'users', index),
    ),
    ...(match === undefined ? [] : notFound('matching users', 'match')),
  ];
}

function wrongBackend(place: Place): Problem {
  const hint = 'the name of a backend helps to find a user by username; an id needs no help';
  return error('wrong-type', 'beside an id, "backend" must be a map', [place], hint);
}

/** The problems of members that one document both adds and removes. */
function contradictions(user: Declared): Problem[] {
  return Object.entries(user.fields).flatMap(([field, declared]) => {
    if (!isMap(declared)) return [];
    const { add, remove } = setParts(declared);
    const removed = new Map(remove.map((element, index) => [memberKey(element), index]));
    return add.flatMap((element, index) => {
      const key = memberKey(element);
      const other = removed.get(key);
      if (key === undefined || other === undefined) return [];
      const places = [user.places.of(field, 'add', index), user.places.of(field, 'remove', other)];
      return [duplicate(`"${idOrName(element)}" is both added to and removed from ${field}`, places)];
    });
  });
}

function duplicate(message: string, places: readonly Place[]): Problem {
  return error('duplicate-element', message, places, 'remove one of the two');
}

function unknownRoles(user: Declared): Problem[] {
  if (user.fields.roles === undefined) return [];
  const message = 'the documented API has no "roles" of a user; only those of its organizations';
  return [onlyBoruta(message, user.places.of('roles'))];
}

function membershipRoles(user: Declared): Problem[] {
  const message = 'Boruta ignores the roles inside a membership: roles belong to the user';
  const hint = 'move them to the "roles" of the user, beside "organizations"';
  return membersWithPaths('organizations', user.fields.organizations).flatMap(({ member, at }) => {
    if (!isMap(member) || member.roles === undefined) return [];
    return [error('profile-field', message, [user.places.of(...at, 'roles')], hint)];
  });
}

function unlabelledScopes(user: Declared): Problem[] {
  const needed = ['name', 'label'];
  const hint = 'the API requires name and label in each element of authorized_scopes';
  return membersWithPaths('authorized_scopes', user.fields.authorized_scopes).flatMap(({ member, at }) => {
    const missing = needed.filter((name) => !isMap(member) || member[name] === undefined);
    if (missing.length === 0 || at.includes('remove')) return [];
    const message = `a scope of a user needs a ${missing.map((name) => `"${name}"`).join(' and a ')}`;
    return [error('missing-field', message, [user.places.of(...at)], hint)];
  });
}

/** The problems of duplicate elements in a list of a user, or in the roles of a membership. */
function repeatedElements(user: Declared, field: string, value: Value, within: (string | number)[] = []) {
  if (!userSets.includes(field)) return [];
  return listsOf(value).flatMap(({ path, list }) => repeatedIn(user, list, [...within, field, ...path]));
}

function repeatedIn(user: Declared, list: readonly Value[], at: (string | number)[]): Problem[] {
  const first = new Map<string, number>();
  return list.flatMap((element, index) => {
    const inner = isMap(element)
      ? repeatedElements(user, 'roles', element.roles ?? null, [...at, index])
      : [];
    const key = memberKey(element);
    const before = key === undefined ? undefined : first.get(key);
    if (key !== undefined && before === undefined) first.set(key, index);
    if (before === undefined) return inner;
    const places = [user.places.of(...at, index), user.places.of(...at, before)];
    return [...inner, duplicate(`"${idOrName(element)}" is twice in ${at.join('.')}`, places)];
  });
}

/** Warns about decimals that the server spells differently. Their value stays the same. */
function respelledNumbers(user: Declared): Problem[] {
  const respelled = numbersIn(user.fields.metadata ?? null).flatMap((text) => {
    const kept = serverSpelling(text);
    return kept === text ? [] : [`${text} as ${kept}`];
  });
  if (respelled.length === 0) return [];
  const message = `this server keeps ${[...new Set(respelled)].join(', ')}`;
  const hint = 'the two compare as equal; a text, in quotation marks, keeps its spelling';
  return [warning('number-spelling', message, [user.places.of('metadata')], hint)];
}

function numbersIn(value: Value): string[] {
  if (typeof value === 'number' || value instanceof ExactNumber) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(numbersIn);
  return isMap(value) ? Object.values(value).flatMap(numbersIn) : [];
}
