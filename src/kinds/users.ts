import { isUuid } from '../base/identifiers.js';
import { type Fields, isMap, mapValues, type Value } from '../base/values.js';
import { findReference, idOf, userByName, wrongNameMessage } from './by-name.js';
import { asElements, asReference, textOf } from './fields.js';
import type { Bulk, Identity, Selector } from './kind.js';
import { listOfNoun, type References } from './references.js';
import { userSets, usersSchema } from './user-schema.js';

/** Documents about many users. */
export const users: Bulk = {
  name: 'Users',
  schema: usersSchema,
  selector({ users: named, match, except, at_least: atLeast }) {
    return {
      named: Array.isArray(named) ? named.map(identityOf) : [],
      ...(isObject(match)
        ? { match: mapValues(match, (one): Value => (isObject(one) ? textsOf(one) : String(one))) }
        : {}),
      ...(Array.isArray(except) ? { except: except.map(identityOf) } : {}),
      ...(typeof atLeast === 'number' ? { atLeast } : {}),
    };
  },
  fields(fields, { until }) {
    if (typeof until !== 'string') return fields;
    const dated = (list: Value): Value =>
      Array.isArray(list) ? list.map((element) => ({ until, ...asReference(element) })) : list;
    return mapValues(fields, (declared, field) => {
      if (!userSets.includes(field)) return declared;
      if (!isMap(declared)) return dated(declared);
      return declared.add === undefined ? declared : { ...declared, add: dated(declared.add) };
    });
  },
  lists({ named, match, except = [] }) {
    const byName = [...named, ...except].filter(
      ({ username, backend }) => username !== undefined || backend !== undefined,
    );
    return [
      ...byName.flatMap((identity) => userByName.lists(identity)),
      ...(match === undefined
        ? []
        : (['users', ...Object.keys(match).flatMap((key) => listOfNoun(key) ?? [])] as const)),
    ];
  },
  find(selector, references) {
    const found = new Map<string, Fields | undefined>();
    const notFound: { identity: Identity; why: string }[] = [];
    const { condition, reasons } = resolveCondition(selector, references);
    if (condition !== undefined && reasons.length === 0) {
      for (const row of references.users?.all() ?? []) {
        if (typeof row.id !== 'string') continue;
        const unknown = Object.keys(condition)
          .map((key) => fieldOf[key] ?? key)
          .find((field) => row[field] === undefined);
        if (unknown !== undefined) {
          reasons.push(
            `the list of users doesn't show "${unknown}" of ${row.id}, so the match can't be checked`,
          );
          break;
        }
        if (matches(condition, row)) found.set(row.id, condition);
      }
    }
    const withId = (identity: Identity) => {
      const { id, username, backend } = identity;
      if (id === undefined) return userByName.find(identity, references);
      const { users } = references;
      const owner = backend === undefined ? undefined : findReference('backend', backend, references);
      if (typeof owner === 'string') return owner;
      const row = users?.byId(id);
      if (row === undefined)
        return users == null || users.isIncomplete
          ? { id }
          : `the server has no user with the id ${id}: correct it`;
      if (owner !== undefined && idOf(row.backend) !== owner.id)
        return `the user with the id ${id} is not in the backend "${backend}": correct the id or the backend`;
      return username === undefined || row.username === username
        ? { id }
        : wrongNameMessage('user', id, String(row.username), username);
    };
    for (const identity of selector.except ?? []) {
      const known = withId(identity);
      if (typeof known === 'string') reasons.push(known);
      else found.delete(known.id ?? '');
    }
    for (const identity of selector.named) {
      const known = withId(identity);
      if (typeof known === 'string') notFound.push({ identity, why: known });
      else found.set(known.id ?? '', undefined);
    }
    return { found, notFound, reasons };
  },
  matches,
};

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

/** A text is an id if it is a UUID, otherwise a name. */
function identityOf(reference: unknown): Identity {
  if (typeof reference === 'string')
    return isUuid(reference) ? { id: reference.toLowerCase() } : { username: reference };
  const { id, name, backend } = isObject(reference) ? reference : {};
  return textsOf({ id, username: name, backend });
}

function textsOf(parts: { readonly [part: string]: unknown }): Identity {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([part, text]) => (typeof text === 'string' ? [[part, text]] : [])),
  );
}

/** The condition with ids in place of names. */
function resolveCondition({ match }: Selector, references: References) {
  const reasons: string[] = [];
  if (match === undefined) return { condition: undefined, reasons };
  if (references.users == null) reasons.push('the server offers no list of users, so none can match');
  const condition = Object.entries(match).map(([key, wanted]): [string, Value] => {
    if (key === 'group') return [key, wanted];
    const found = findReference(key, wanted, references);
    if (typeof found !== 'string') return [key, found.id];
    reasons.push(found);
    return [key, ''];
  });
  return { condition: Object.fromEntries(condition), reasons };
}

/** The field that a condition checks, if it has another name. */
const fieldOf: { readonly [key: string]: string } = {
  organization: 'organizations',
  role: 'roles',
  scope: 'authorized_scopes',
};

function matches(condition: Fields, fields: Fields): boolean {
  return Object.entries(condition).every(([key, wanted]) => {
    const field = fields[fieldOf[key] ?? key] ?? null;
    if (key === 'group') return textOf(field).split(' ').includes(textOf(wanted));
    if (key === 'backend') return idOf(field) === wanted;
    return asElements(field).some(({ id }) => id === wanted);
  });
}
