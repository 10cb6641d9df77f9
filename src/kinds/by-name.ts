import { isUuid } from '../base/identifiers.js';
import { type Fields, isMap, type Value } from '../base/values.js';
import type { Catalog } from './catalog.js';
import { textOf } from './fields.js';
import type { ByName, Identity } from './kind.js';
import { listCalled, listNames, nounOf, type References } from './references.js';

/** Users are found by their username, which is unique in a backend. */
export const userByName: ByName = {
  id: 'id',
  names: ['username', 'backend'],
  lists: ({ backend }) => (backend === undefined ? ['users'] : ['users', 'backends']),
  find({ username = '', backend }, references) {
    const { users } = references;
    if (users == null) return `the server offers no list of users to find "${username}" in: use the id`;
    const home = backend === undefined ? undefined : findIn('backend', backend, references);
    if (typeof home === 'string') return home;
    const found = users.byName(username).filter((row) => home === undefined || idOf(row.backend) === home.id);
    const ids = found.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
    const [id] = ids;
    if (id !== undefined && ids.length === 1) return { id };
    if (ids.length > 1) {
      const candidates = found.map((row) => `${String(row.id)}${inBackend(row)}`).join(', ');
      return `${ids.length} users are called "${username}" (${candidates}): add "backend", or use the id`;
    }
    const within = home === undefined ? '' : ` in the backend "${backend}"`;
    const other = otherCase(username, home?.id, users);
    if (other !== undefined) {
      return `the server has the user "${other}"${within}, and doesn't tell "${username}" apart from it: write it so`;
    }
    return `${noUser(username, within)}${users.proposal(username)}`;
  },
  missing({ username = '', backend }, references) {
    const { users } = references;
    const home = backend === undefined ? undefined : findIn('backend', backend, references);
    if (users == null || users.unsure || typeof home === 'string') return undefined;
    const isThere = users.byName(username).some((row) => home === undefined || idOf(row.backend) === home.id);
    if (isThere || otherCase(username, home?.id, users) !== undefined) return undefined;
    return { username, ...(home === undefined ? {} : { backend: home.id }) };
  },
};

export function noUser(username: string, within = ''): string {
  return `the server has no user "${username}"${within}: correct the name, or declare the user with "create: true"`;
}

/** A username that differs only in case, which servers take for the same. */
function otherCase(username: string, home: string | undefined, users: Catalog): string | undefined {
  const row = users.inAnyCase(username).find((one) => home === undefined || idOf(one.backend) === home);
  return row === undefined ? undefined : String(row.username);
}

/** Names that find this object and no other; undefined if none of the candidates do. */
export function onlyNames(
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

/** Whether an identity names a backend or an identity provider that the server surely doesn't have: all that belonged to it is gone. */
export function isOwnerGone(identity: Identity, references: References): boolean {
  return listNames.some((name) => {
    const owner = identity[nounOf(name).replaceAll(' ', '_')];
    const list = references[name];
    return owner !== undefined && list?.byId(owner) === undefined && list?.lacksName(owner) === true;
  });
}

/** Finds one by a text, `{id}` or `{name}` in the list of its noun. */
export function findIn(
  noun: string,
  wanted: Value,
  references: References,
): { readonly id: string } | string {
  const list = references[listCalled(noun) ?? 'organizations'];
  const { id, name } = isMap(wanted) ? wanted : isUuid(textOf(wanted)) ? { id: wanted } : { name: wanted };
  const byId = typeof id === 'string';
  const text = String(byId ? id : name);
  if (list == null) return `the server offers no list of ${noun}s to find "${text}" in`;
  // Until its end, a plan that renames an object accepts both names.
  const row = byId ? list.byId(text) : list.findNamed(text);
  if (typeof row === 'string') return row;
  if (row === undefined) return list.lacksId(text);
  const only = String(row.id);
  const isRight = name === undefined || list.checkName(only, String(name)) !== 'wrong';
  return isRight ? { id: only } : wrongName(noun, only, String(row.name), String(name));
}

/** The problem of a name beside the id of something that is called otherwise. */
export function wrongName(noun: string, id: string, called: string, name: string): string {
  return `the ${noun} with the id ${id} is called "${called}" on the server, not "${name}": correct the id or the name`;
}

/** A reference by id, with the name of its object if that is known. */
export function namedReference(list: Catalog | null | undefined, id: string): Fields {
  const name = list?.byId(id)?.name;
  return typeof name === 'string' ? { id, name } : { id };
}

/** Whether the names of references say which objects they are. */
export function areNamesUnique(
  list: Catalog | null | undefined,
  references: readonly (Value | undefined)[],
): boolean {
  return references.every(
    (one) => one === undefined || !isMap(one) || list?.byName(String(one.name)).length === 1,
  );
}

export function idOf(backend: Value | undefined): Value | undefined {
  return backend !== undefined && isMap(backend) ? backend.id : undefined;
}

function inBackend({ backend }: Fields): string {
  if (backend === undefined || !isMap(backend)) return '';
  return ` in the backend "${String(backend.name ?? backend.id)}"`;
}
