import { type Fields, isMap, type Value } from '../base/values.js';
import type { Catalog } from './catalog.js';
import { asReference, idsIn } from './fields.js';
import type { ByName, Identity } from './kind.js';
import { type ListName, listNames, listOfNoun, nounOf, type References } from './references.js';

/** Finds users by username, which is unique in a backend. */
export const userByName: ByName = {
  id: 'id',
  names: ['username', 'backend'],
  lists: ({ backend }) => (backend === undefined ? ['users'] : ['users', 'backends']),
  find({ username = '', backend }, references) {
    const { users } = references;
    if (users == null) return `the server offers no list of users to find "${username}" in: use the id`;
    const owner = backendOf(backend, references);
    if (typeof owner === 'string') return owner;
    const found = users.byName(username).filter(isIn(owner));
    const ids = idsIn(found);
    const [id] = ids;
    if (id !== undefined && ids.length === 1) return { id };
    if (ids.length > 1) {
      const candidates = found.map((row) => `${String(row.id)}${inBackend(row)}`).join(', ');
      return `${ids.length} users are called "${username}" (${candidates}): add "backend", or use the id`;
    }
    const within = owner === undefined ? '' : ` in the backend "${backend}"`;
    // Servers treat names that differ only in case as equal.
    const other = users.byNameIgnoringCase(username).find(isIn(owner));
    if (other !== undefined)
      return `the server has the user "${String(other.username)}"${within}, and doesn't tell "${username}" apart from it: write it so`;
    return `${noSuchUser(username, within)}${users.suggestion(username)}`;
  },
  missing({ id, username = '', backend }, references) {
    const { users } = references;
    const owner = backendOf(backend, references);
    if (id !== undefined || users == null || users.isIncomplete || typeof owner === 'string')
      return undefined;
    if (users.byNameIgnoringCase(username).some(isIn(owner))) return undefined;
    return { username, ...(owner === undefined ? {} : { backend: owner.id }) };
  },
};

/** The message that the server has no such user, and what to do. */
export function noSuchUser(username: string, within = ''): string {
  return `the server has no user "${username}"${within}: correct the name, or declare the user with "create: true"`;
}

function backendOf(backend: string | undefined, references: References): BackendId | string {
  return backend === undefined ? undefined : findReference('backend', backend, references);
}

/** Whether a user is in a backend, if one is named. */
function isIn(owner: BackendId): (row: Fields) => boolean {
  return (row) => owner === undefined || idOf(row.backend) === owner.id;
}

type BackendId = { readonly id: string } | undefined;

/** The first of the candidates that matches only this object; undefined if none does. */
export function uniqueNames(
  byName: ByName,
  id: string | undefined,
  candidates: readonly Identity[],
  references: References,
): Identity | undefined {
  return candidates.find((names) => {
    const found = byName.find(names, references);
    return typeof found !== 'string' && id !== undefined && found[byName.id] === id;
  });
}

/** Whether the owner in an identity certainly doesn't exist, so nothing that belonged to it does. */
export function isOwnerGone(identity: Identity, references: References): boolean {
  return listNames.some((name) => {
    const owner = identity[nounOf(name).replaceAll(' ', '_')];
    const list = references[name];
    return owner !== undefined && list?.byId(owner) === undefined && list?.lacksName(owner) === true;
  });
}

/** Finds the object of a reference (a text, `{id}` or `{name}`) in the list of its noun. Returns its id, or why it can't be found. */
export function findReference(noun: string, wanted: Value, references: References): { id: string } | string {
  const list = references[listOfNoun(noun) ?? 'organizations'];
  const reference = asReference(wanted);
  const { id, name } = reference;
  const text = String(typeof id === 'string' ? id : name);
  if (list == null) return `the server offers no list of ${noun}s to find "${text}" in`;
  // While a plan renames an object, both names are accepted.
  const row = list.lookUp(reference) ?? list.noSuchId(text);
  if (typeof row === 'string') return row;
  const only = String(row.id);
  const isRight = name === undefined || list.checkName(only, String(name)) !== 'wrong';
  return isRight ? { id: only } : wrongNameMessage(noun, only, String(row.name), String(name));
}

/** The message that the object with this id has another name. */
export function wrongNameMessage(noun: string, id: string, called: string, name: string): string {
  return `the ${noun} with the id ${id} is called "${called}" on the server, not "${name}": correct the id or the name`;
}

/** A reference by id, with the name of its object if that is known. */
export function namedReference(list: Catalog | null | undefined, id: string): Fields {
  const name = list?.byId(id)?.name;
  return typeof name === 'string' ? { id, name } : { id };
}

/** Whether each reference has a name that only one object in the list has. */
export function areNamesUnique(list: References[ListName], references: readonly (Value | undefined)[]) {
  return references.every((one) => !isMap(one) || list?.byName(String(one.name)).length === 1);
}

/** The id in a reference. */
export function idOf(reference: Value | undefined): Value | undefined {
  return isMap(reference) ? reference.id : undefined;
}

function inBackend({ backend }: Fields): string {
  if (!isMap(backend)) return '';
  return ` in the backend "${String(backend.name ?? backend.id)}"`;
}
