import type { SandboxData, SandboxRole, SandboxUser } from '../data.js';
import type { Answer } from '../http.js';
import { copyJson, equalByValue, isObject, type JsonObject, withKeptNumbers } from '../json.js';
import { crash, notFound, nul, ok, tooLong, unprocessable } from './answers.js';
import { ldap } from './backend-fields.js';
import { presentBackend } from './backends.js';
import { findById, type Operation } from './operation.js';
import { onRow, paginate, type Removable } from './resource.js';
import { presentRole } from './roles.js';
import { hasNul, isBlank, isTooLong, readUuid } from './texts.js';

const pageSize = 12;
/** Users with a stored row for a scope that does not exist, which is never shown. */
const hidden = new WeakSet<SandboxUser>();

/** Users. When one is deleted, their default organization stays. */
export const users: Removable<SandboxUser> = {
  rows: (data) => data.users,
  show: presentUser,
  missing: notFound,
  // The comparison is case-sensitive, so an id in upper case passes.
  isProtected: ({ sentId, ownUserId }) => sentId === ownUserId,
  keeps: ({ data }, { backend_id }) =>
    findById(data.backends, backend_id ?? undefined)?.type === ldap
      ? unprocessable({ backend: ['LDAP backends does not support user deletion.'] })
      : undefined,
};

/** GET of all. `q` finds similar names, the most similar first. */
export async function listUsers(operation: Operation): Promise<Answer> {
  const { data, work, query } = operation;
  const q = query.get('q');
  return await work.read(() => {
    if (hasNul(q)) return nul();
    const found = q === null ? data.users : similarTo(data.users, q);
    const size = /^[+]?0*([1-9]\d*)/.exec(query.get('page_size') ?? '')?.[1];
    return paginate(found, query.get('page'), Number(size ?? pageSize), (user) =>
      presentUser(operation, user),
    );
  });
}

function similarTo(users: readonly SandboxUser[], q: string): SandboxUser[] {
  const wanted = trigrams(q);
  const likeness = ({ username }: SandboxUser): number => {
    const there = trigrams(username ?? '');
    const shared = [...wanted].filter((part) => there.has(part)).length;
    return shared === 0 ? 0 : shared / (wanted.size + there.size - shared);
  };
  return users
    .map((user) => ({ user, alike: likeness(user) }))
    .filter(({ alike }) => alike >= 0.3)
    .sort((a, b) => b.alike - a.alike)
    .map(({ user }) => user);
}

/** The trigrams of the database's `pg_trgm`: of words with two spaces before and one after. */
function trigrams(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words
      .map((word) => `  ${word} `)
      .flatMap((word) => [...word].slice(2).map((_, at) => word.slice(at, at + 3))),
  );
}

/** PATCH, in seven writes, each of which stays even if a later one fails. */
export const updateUser = onRow(users, async (operation, user) => {
  const { work, resource, token } = operation;
  const asked = isObject(resource) ? resource : {};
  const failure = await work.write(() => writeAttributes(user, asked, token));
  if (failure !== null) return failure;
  return (
    (await writeLists(operation, user, asked)) ?? ok(await work.read(() => presentUser(operation, user)))
  );
});

/** Empties and fills one list after the other. Answers if that fails. */
export async function writeLists(operation: Operation, user: SandboxUser, asked: JsonObject, kept?: List) {
  const { data, work, token, pause } = operation;
  for (const [list, fill] of lists) {
    if (list === kept) continue;
    const wasEmpty = await work.write(() => {
      const { length } = user[list];
      user[list] = [];
      const hadHidden = list === 'authorized_scopes' && hidden.delete(user);
      return length === 0 && !hadHidden;
    });
    if (pause > 0) await work.pause(pause);
    const failure = await work.write(() => {
      const ids = idsToFill(asked[list], wasEmpty);
      if (ids === 'crash')
        return crash('(Protocol.UndefinedError) protocol Enumerable not implemented', token);
      return fill(data, user, ids, token);
    });
    if (failure !== null) return failure;
  }
  return null;
}

function writeAttributes(user: SandboxUser, asked: JsonObject, token: string): Answer | null {
  const { metadata: given = null, group: sent = null } = asked;
  const kept = given === null || given === false || isBlankText(given) ? {} : given;
  const group = isBlankText(sent) ? null : sent;
  const errors: Record<string, string[]> = {};
  if (!isObject(kept) || !Object.values(kept).every(isMetadataValue)) errors.metadata = ['is invalid'];
  if (group !== null && typeof group !== 'string') errors.group = ['is invalid'];
  else if (group !== null && !hasUniqueWords(group)) errors.group = ['must be unique'];
  if (!isObject(kept) || Object.keys(errors).length > 0) return unprocessable(errors);
  if (hasNul(kept)) return crash('(Postgrex.Error) ERROR 22P05 (untranslatable_character)', token);
  if (hasNul(group)) return nul();
  if (typeof group === 'string' && isTooLong(group)) return tooLong(token);
  // Equal metadata is not written.
  const metadata = withKeptNumbers(kept);
  if (!equalByValue(user.metadata, metadata)) user.metadata = metadata;
  user.group = typeof group === 'string' ? group : null;
  return null;
}

function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && isBlank(value);
}

export function isMetadataValue(value: unknown): boolean {
  if (!isObject(value) || !Object.hasOwn(value, 'value') || typeof value.status !== 'string') return false;
  const { display = [] } = value;
  return Array.isArray(display) && display.every((text) => typeof text === 'string');
}

// Words are separated by exactly one space, so two spaces have an empty word between them.
export function hasUniqueWords(group: string): boolean {
  const words = group.split(' ');
  return new Set(words).size === words.length;
}

/** The ids to fill a list with, also missing ones; `crash` if the server fails after it emptied the list. */
function idsToFill(sent: unknown, wasEmpty: boolean): unknown[] | 'crash' {
  if (sent === undefined || sent === null || sent === false) return wasEmpty ? [] : 'crash';
  // An object is a list of pairs, which have no id.
  if (isObject(sent)) return Object.keys(sent).length === 0 ? [] : 'crash';
  if (!Array.isArray(sent) || !sent.every((element) => element === null || isObject(element))) return 'crash';
  return sent.map((element) => (isObject(element) && element.id !== false ? (element.id ?? null) : null));
}

/** Fills a list: checks all ids first, then writes them one by one. */
type Fill = (data: SandboxData, user: SandboxUser, ids: unknown[], token: string) => Answer | null;

/** Why an id is refused before anything is written: it must be a text. */
function idError(id: unknown): string | null {
  if (id === null || isBlankText(id)) return "can't be blank";
  return typeof id === 'string' ? null : 'is invalid';
}

function firstError(field: string, ids: unknown[], check: (id: unknown) => string | null): Answer | null {
  const wrong = ids.map(check).find((one) => one !== null);
  return wrong == null ? null : unprocessable({ [field]: [wrong] });
}

const fillScopes: Fill = (data, user, sent, token) => {
  const invalid = firstError('scope_id', sent, idError);
  if (invalid !== null) return invalid;
  const ids = new Set<string>();
  for (const id of sent.map(String)) {
    if (ids.has(id)) return unprocessable({ scope_id: ['has already been taken'] });
    if (hasNul(id)) return nul();
    if (isTooLong(id)) return tooLong(token);
    ids.add(id);
  }
  user.authorized_scopes = [...ids].flatMap((id) => findById(data.scopes, id) ?? []).map(copyJson);
  if (user.authorized_scopes.length < ids.size) hidden.add(user);
  return null;
};

const fillOrganizations: Fill = (data, user, sent, token) => {
  const invalid = firstError(
    'organization_id',
    sent,
    (id) => idError(id) ?? (readUuid(id) === null ? 'is invalid' : null),
  );
  if (invalid !== null) return invalid;
  const ids = new Set<string>();
  for (const id of sent.flatMap((one) => readUuid(one) ?? [])) {
    const constraint = ids.has(id) ? 'user_id_organization_id_index' : 'organization_id_fkey';
    if (ids.has(id) || findById(data.organizations, id) === undefined)
      return crash(`(Ecto.ConstraintError) organizations_users_${constraint}`, token);
    ids.add(id);
  }
  // Roles belong to users, so those of a membership are ignored.
  user.organizations = [...ids].map((id) => ({ id, roles: [] }));
  return null;
};

const fillRoles: Fill = (data, user, sent, token) => {
  const invalid = firstError('role_id', sent, idError);
  if (invalid !== null) return invalid;
  const roles: SandboxRole[] = [];
  for (const one of sent) {
    const id = readUuid(one);
    if (id !== null && findById(roles, id) !== undefined) return unprocessable({ users: ['must be unique'] });
    const role = findById(data.roles, id ?? undefined);
    if (role === undefined) return crash('(Ecto.ConstraintError) roles_users_role_id_fkey', token);
    roles.push(copyJson(role));
  }
  user.roles = roles;
  return null;
};

const lists = [
  ['authorized_scopes', fillScopes],
  ['organizations', fillOrganizations],
  ['roles', fillRoles],
] as const;

type List = (typeof lists)[number][0];

/**
 * A user as answers show it: with its whole backend, without `blocked`, labels of scopes and roles of memberships. A role of several scopes
 * that the backend gives, too, comes twice: the database has its scopes in another order for each.
 */
export function presentUser({ data, shownScopes }: Operation, user: SandboxUser): JsonObject {
  const { blocked: _, backend_id, authorized_scopes, organizations, roles, ...plain } = user;
  const backend = findById(data.backends, backend_id ?? undefined);
  const own = roles.map((role) => presentRole(data, role));
  const again = (backend?.roles ?? [])
    .filter(({ id }) => findById(roles, id) !== undefined)
    .map((role) => presentRole(data, role))
    .filter(({ scopes }) => scopes.length > 1)
    .map((role) => ({ ...role, scopes: role.scopes.toReversed() }));
  return {
    ...plain,
    authorized_scopes: authorized_scopes
      .filter(({ id }) => shownScopes?.has(id) ?? true)
      .map(({ id, name }) => ({ id, name, public: null })),
    organizations: organizations.flatMap(({ id }) => findById(data.organizations, id) ?? []),
    roles: [...own, ...again],
    backend: backend === undefined ? null : presentBackend(data, backend),
  };
}
