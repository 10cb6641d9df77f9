import { identifierKey } from '../base/identifiers.js';
import { error, type Place, type Problem, warning } from '../base/problems.js';
import { ExactNumber, isMap, keptSpelling, type Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { listsOf, memberKey, setParts } from './fields.js';
import type { Declared } from './kind.js';
import { onlyBoruta } from './lifecycle.js';
import { listRead, unlisted } from './references.js';
import { lifecycleProblems } from './user-creation.js';
import { userTraits } from './user-schema.js';

/** What is wrong in a document about one user or many, as far as the document tells. */
export function userProblems(user: Declared, profile: Profile): Problem[] {
  const { scopeNeedsLabel, hasRoles, doubles } = userTraits[profile.name];
  return [
    ...unidentified(user, profile),
    ...lifecycleProblems(user, profile),
    ...contradictions(user),
    ...(scopeNeedsLabel ? unlabelledScopes(user) : []),
    ...(hasRoles ? membershipRoles(user) : unknownRoles(user)),
    ...(doubles ? respelledNumbers(user, 'metadata') : []),
    ...Object.entries(user.fields).flatMap(([field, value]) => repeatedElements(user, field, value)),
  ];
}

/** Users and names that a server of the profile can't find. */
function unidentified(user: Declared, profile: Profile): Problem[] {
  const { identity, fields, covers } = user;
  const listsUsers = listRead('users', profile) !== undefined;
  if (covers === undefined) {
    if (identity.id !== undefined) {
      return typeof fields.backend === 'string' ? [wrongBackend(user.placeOf('backend'))] : [];
    }
    if (identity.username === undefined) {
      return [
        error(
          'missing-field',
          'a User needs an "id" or a "username"',
          [user.place],
          'add the username that the user has on the server, or the id',
        ),
      ];
    }
    return listsUsers ? [] : [unlisted(profile, 'a user', user.placeOf('username'))];
  }
  const { named, match, except } = covers;
  const problems = [
    ...(named.length > 0 || match !== undefined
      ? []
      : [
          error(
            'missing-field',
            'a Users document needs "users" or "match"',
            [user.place],
            'name the users, or say which match',
          ),
        ]),
    ...(except === undefined || match !== undefined
      ? []
      : [
          error(
            'missing-field',
            '"except" needs "match"',
            [user.placeOf('except')],
            'remove it, or say which users match',
          ),
        ]),
  ];
  if (listsUsers) return problems;
  return [
    ...problems,
    ...named.flatMap(({ username }, index) =>
      username !== undefined ? [unlisted(profile, 'a user', user.placeOf('users', index))] : [],
    ),
    ...(match === undefined ? [] : [unlisted(profile, 'matching users', user.placeOf('match'))]),
  ];
}

function wrongBackend(place: Place): Problem {
  return error(
    'wrong-type',
    'beside an id, "backend" must be a map',
    [place],
    'the name of a backend helps to find a user by username; an id needs no help',
  );
}

/** A member that one document both adds and removes. */
function contradictions(user: Declared): Problem[] {
  return Object.entries(user.fields).flatMap(([field, declared]) => {
    if (!isMap(declared)) return [];
    const { add, remove } = setParts(declared);
    const removed = new Map(remove.map((element, index) => [memberKey(element), index]));
    return add.flatMap((element, index) => {
      const key = memberKey(element);
      const other = removed.get(key);
      if (key === undefined || other === undefined) return [];
      return [
        error(
          'duplicate-element',
          `"${key}" is both added to and removed from ${field}`,
          [user.placeOf(field, 'add', index), user.placeOf(field, 'remove', other)],
          'remove one of the two',
        ),
      ];
    });
  });
}

function unknownRoles(user: Declared): Problem[] {
  if (user.fields.roles === undefined) return [];
  const message = 'the documented API has no "roles" of a user; only those of its organizations';
  return [onlyBoruta(message, user.placeOf('roles'))];
}

function membershipRoles(user: Declared): Problem[] {
  return listsOf(user.fields.organizations).flatMap(({ path, list }) =>
    list.flatMap((membership, index) =>
      isMap(membership) && membership.roles !== undefined
        ? [
            error(
              'profile-field',
              'Boruta ignores the roles inside a membership: roles belong to the user',
              [user.placeOf('organizations', ...path, index, 'roles')],
              'move them to the "roles" of the user, beside "organizations"',
            ),
          ]
        : [],
    ),
  );
}

function unlabelledScopes(user: Declared): Problem[] {
  const needed = ['name', 'label'];
  return listsOf(user.fields.authorized_scopes).flatMap(({ path, list }) =>
    list.flatMap((scope, index) => {
      const missing = needed.filter((member) => !isMap(scope) || scope[member] === undefined);
      if (missing.length === 0 || path.includes('remove')) return [];
      return [
        error(
          'missing-field',
          `a scope of a user needs a ${missing.map((member) => `"${member}"`).join(' and a ')}`,
          [user.placeOf('authorized_scopes', ...path, index)],
          'the API requires name and label in each element of authorized_scopes',
        ),
      ];
    }),
  );
}

/** Duplicate elements in a list of a user, or in the roles of a membership. */
function repeatedElements(
  user: Declared,
  field: string,
  value: Value,
  within: (string | number)[] = [],
): Problem[] {
  if (!['organizations', 'authorized_scopes', 'roles'].includes(field)) return [];
  return listsOf(value).flatMap(({ path, list }) => repeatedIn(user, list, [...within, field, ...path]));
}

function repeatedIn(user: Declared, list: readonly Value[], at: (string | number)[]): Problem[] {
  const first = new Map<string, number>();
  return list.flatMap((element, index) => {
    const inner = isMap(element)
      ? repeatedElements(user, 'roles', element.roles ?? null, [...at, index])
      : [];
    const key = memberKey(element);
    if (key === undefined) return inner;
    // UUIDs ignore case.
    const same = identifierKey(key);
    const before = first.get(same);
    if (before === undefined) {
      first.set(same, index);
      return inner;
    }
    return [
      ...inner,
      error(
        'duplicate-element',
        `"${key}" is twice in ${at.join('.')}`,
        [user.placeOf(...at, index), user.placeOf(...at, before)],
        'remove one of the two',
      ),
    ];
  });
}

/** Warns about decimals that the server respells; their value stays. */
function respelledNumbers(declared: Declared, field: string): Problem[] {
  const value = declared.fields[field];
  if (value === undefined) return [];
  const told = numbersIn(value).flatMap((text) => {
    const kept = keptSpelling(text);
    return kept === text ? [] : [`${text} as ${kept}`];
  });
  if (told.length === 0) return [];
  return [
    warning(
      'number-spelling',
      `this server keeps ${[...new Set(told)].join(', ')}`,
      [declared.placeOf(field)],
      'the two compare as equal; a text, in quotation marks, keeps its spelling',
    ),
  ];
}

function numbersIn(value: Value): string[] {
  if (typeof value === 'number' || value instanceof ExactNumber) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(numbersIn);
  return isMap(value) ? Object.values(value).flatMap(numbersIn) : [];
}
