import type { SandboxData, SandboxMembership, SandboxRole, SandboxUser } from '../data.js';
import type { Answer } from '../http.js';
import { copyJson, isObject, type JsonObject, withKeptNumbers } from '../json.js';
import { crash, notFound, nul, ok, refusal, tooLong, unprocessable } from './answers.js';
import { findById, type Operation } from './operation.js';
import { paginate } from './pages.js';
import { hasNul, isBlank, isTooLong, readUuid } from './texts.js';

const pageSize = 12;

/** GET of one. */
export async function showUser(operation: Operation): Promise<Answer> {
  const { data, work, params } = operation;
  const [id] = params;
  return await work.read(() => {
    const user = findById(data.users, id);
    return user === undefined ? notFound() : ok(present(operation, user));
  });
}

/** GET of all; here `q` works. */
export async function listUsers(operation: Operation): Promise<Answer> {
  const { data, work, query } = operation;
  const q = (query.get('q') ?? '').toLowerCase();
  return await work.read(() => {
    if (hasNul(q)) return nul();
    const found = data.users.filter(({ username }) => (username ?? '').toLowerCase().includes(q));
    const asked = query.get('page_size') ?? '';
    const size = /^\+?0*[1-9]\d*$/.test(asked) ? Number(asked) : pageSize;
    return paginate(found, query.get('page'), size, (user) => present(operation, user));
  });
}

/** PATCH: seven writes one after the other, each kept even if a later one fails or never comes. */
export async function updateUser(operation: Operation): Promise<Answer> {
  const { data, work, params, resource, token, sentId, ownUserId } = operation;
  const [id] = params;
  const user = await work.read(() => findById(data.users, id));
  if (user === undefined) return notFound();
  // The comparison is by letters, so an id in upper case isn't the own one.
  if (sentId === ownUserId) return refusal(403, 'is write protected');
  const lists = [
    ['authorized_scopes', fillScopes],
    ['organizations', fillOrganizations],
    ['roles', fillRoles],
  ] as const;
  let failure = await work.write(() => writeAttributes(user, resource, token));
  for (const [list, fill] of lists) {
    if (failure !== null) return failure;
    const wasEmpty = await work.write(() => {
      const { length } = user[list];
      user[list] = [];
      return length === 0;
    });
    failure = await work.write(() => fill(data, user, listToFill(resource[list], wasEmpty, token), token));
  }
  return failure ?? ok(await work.read(() => present(operation, user)));
}

function writeAttributes(user: SandboxUser, resource: JsonObject, token: string): Answer | null {
  const metadata = resource.metadata ?? {};
  const { group: sent = null } = resource;
  const group = typeof sent === 'string' && isBlank(sent) ? null : sent;
  const errors: Record<string, string[]> = {};
  if (!isObject(metadata) || !Object.values(metadata).every(isMetadataValue))
    errors.metadata = ['is invalid'];
  if (group !== null && typeof group !== 'string') errors.group = ['is invalid'];
  else if (group !== null && !hasUniqueWords(group)) errors.group = ['must be unique'];
  if (!isObject(metadata) || Object.keys(errors).length > 0) return unprocessable(errors);
  if (hasNul(metadata)) return crash('(Postgrex.Error) ERROR 22P05 (untranslatable_character)', token);
  if (hasNul(group)) return nul();
  if (typeof group === 'string' && isTooLong(group)) return tooLong(token);
  user.metadata = withKeptNumbers(metadata);
  user.group = typeof group === 'string' ? group : null;
  return null;
}

function isMetadataValue(value: unknown): boolean {
  if (!isObject(value) || !Object.hasOwn(value, 'value') || typeof value.status !== 'string') return false;
  const { display = [] } = value;
  return Array.isArray(display) && display.every((text) => typeof text === 'string');
}

// Nothing but a space parts two words, so that two spaces have an empty word between them.
function hasUniqueWords(group: string): boolean {
  const words = group.split(' ');
  return new Set(words).size === words.length;
}

/** The list to fill with; an answer if the server, having emptied the old one, stumbles over the new. */
function listToFill(sent: unknown, wasEmpty: boolean, token: string): unknown[] | Answer {
  if (Array.isArray(sent)) return sent;
  if ((sent === undefined || sent === null) && wasEmpty) return [];
  return crash('(Protocol.UndefinedError) protocol Enumerable not implemented for nil of type Atom', token);
}

type Fill = (data: SandboxData, user: SandboxUser, list: unknown[] | Answer, token: string) => Answer | null;

function idOf(element: unknown): unknown {
  return isObject(element) ? element.id : undefined;
}

const fillScopes: Fill = (data, user, list, token) => {
  if (!Array.isArray(list)) return list;
  const ids = new Set<string>();
  for (const element of list) {
    const id = idOf(element);
    if (typeof id !== 'string' || isBlank(id)) return unprocessable({ scope_id: ["can't be blank"] });
    if (ids.has(id)) return unprocessable({ scope_id: ['has already been taken'] });
    if (hasNul(id)) return nul();
    if (isTooLong(id)) return tooLong(token);
    ids.add(id);
  }
  user.authorized_scopes = [...ids].flatMap((id) => findById(data.scopes, id) ?? []).map(copyJson);
  return null;
};

const fillOrganizations: Fill = (data, user, list, token) => {
  if (!Array.isArray(list)) return list;
  const memberships: SandboxMembership[] = [];
  for (const element of list) {
    const id = readUuid(idOf(element));
    if (id === null) return unprocessable({ organization_id: ['is invalid'] });
    if (findById(memberships, id) !== undefined) {
      return crash('(Ecto.ConstraintError) organizations_users_user_id_organization_id_index', token);
    }
    if (findById(data.organizations, id) === undefined) {
      return crash('(Ecto.ConstraintError) organizations_users_organization_id_fkey', token);
    }
    const given = isObject(element) && Array.isArray(element.roles) ? element.roles : [];
    memberships.push({ id, roles: given.flatMap((role) => knownRole(data, readUuid(idOf(role))) ?? []) });
  }
  user.organizations = memberships;
  return null;
};

const fillRoles: Fill = (data, user, list, token) => {
  if (!Array.isArray(list)) return list;
  const roles: SandboxRole[] = [];
  for (const element of list) {
    const id = readUuid(idOf(element));
    if (id === null) return unprocessable({ role_id: ['is invalid'] });
    if (findById(roles, id) !== undefined) return unprocessable({ role_id: ['has already been taken'] });
    const role = knownRole(data, id);
    if (role === null) return crash('(Ecto.ConstraintError) roles_users_role_id_fkey', token);
    roles.push(role);
  }
  user.roles = roles;
  return null;
};

function knownRole(data: SandboxData, id: string | null): SandboxRole | null {
  const role = findById(data.roles, id ?? undefined);
  return role === undefined ? null : copyJson(role);
}

function present({ data, shownScopes }: Operation, user: SandboxUser): JsonObject {
  const { blocked: _, backend_id, authorized_scopes, organizations, ...plain } = user;
  return {
    ...plain,
    authorized_scopes: authorized_scopes
      .filter(({ id }) => shownScopes?.has(id) ?? true)
      .map(({ label: _label, ...scope }) => scope),
    organizations: organizations.flatMap(({ id, roles }) => {
      const organization = findById(data.organizations, id);
      return organization === undefined ? [] : [{ ...organization, roles }];
    }),
    backend: findById(data.backends, backend_id ?? undefined) ?? null,
  };
}
