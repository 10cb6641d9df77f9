import { findById, type SandboxData, type SandboxRole, type SandboxUser } from '../data.js';
import type { Answer } from '../http.js';
import { copyJson, equalByValue, isObject, type JsonObject, normalizeNumbers } from '../json.js';
import { Crash, notFound, nulRefused, ok, tooLong, unprocessable } from './answers.js';
import { ldap } from './backend-fields.js';
import { presentBackend } from './backends.js';
import { hasNul, isBlank, isTooLong, readUuid } from './fields.js';
import type { Operation } from './operation.js';
import { type Deletable, onRow, paginate } from './resource.js';
import { presentRole } from './roles.js';

const pageSize = 12;
/** Users with a stored scope that doesn't exist; answers never show it. */
const usersWithHiddenScopes = new WeakSet<SandboxUser>();

/** Users. If one is deleted, the default organization of that user stays. */
export const users: Deletable<SandboxUser> = {
  rows: (data) => data.users,
  show: presentUser,
  onMissing: notFound,
  // The comparison is case-sensitive, so an id in upper case bypasses it.
  isProtected: ({ sentId, ownUserId }) => sentId === ownUserId,
  checkDeletion({ data }, { backend_id }) {
    if (findById(data.backends, backend_id)?.type === ldap)
      throw unprocessable({ backend: ['LDAP backends does not support user deletion.'] });
  },
};

/** GET of all. `q` finds similar usernames, the most similar first. */
export async function listUsers(operation: Operation): Promise<Answer> {
  const { data, work, query } = operation;
  const q = query.get('q');
  return await work.read(() => {
    if (hasNul(q)) throw nulRefused();
    const found = q === null ? data.users : similarTo(data.users, q);
    const size = /^[+]?0*([1-9]\d*)/.exec(query.get('page_size') ?? '')?.[1];
    return paginate(found, query.get('page'), Number(size ?? pageSize), (user) =>
      presentUser(operation, user),
    );
  });
}

function similarTo(users: readonly SandboxUser[], q: string): SandboxUser[] {
  const searched = trigrams(q);
  const similarity = ({ username }: SandboxUser): number => {
    const own = trigrams(username ?? '');
    const shared = [...searched].filter((part) => own.has(part)).length;
    return shared === 0 ? 0 : shared / (searched.size + own.size - shared);
  };
  return users
    .map((user) => ({ user, score: similarity(user) }))
    .filter(({ score }) => score >= 0.3)
    .sort((a, b) => b.score - a.score)
    .map(({ user }) => user);
}

/** Trigrams as PostgreSQL's `pg_trgm` builds them: each word gets two spaces before and one after. */
function trigrams(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words
      .map((word) => `  ${word} `)
      .flatMap((word) => [...word].slice(2).map((_, at) => word.slice(at, at + 3))),
  );
}

/** PATCH, in seven writes; if one fails, the earlier ones stay. */
export const updateUser = onRow(users, async (operation, user) => {
  const { work, resource } = operation;
  const sent = isObject(resource) ? resource : {};
  await work.write(() => writeAttributes(user, sent));
  await writeLists(operation, user, sent);
  return ok(await work.read(() => presentUser(operation, user)));
});

/** Empties and refills the lists of a user, except `skipped`. */
export async function writeLists(operation: Operation, user: SandboxUser, sent: JsonObject, skipped?: List) {
  const { data, work, pause } = operation;
  for (const [list, fill] of lists) {
    if (list === skipped) continue;
    const wasEmpty = await work.write(() => {
      const { length } = user[list];
      user[list] = [];
      const hadHidden = list === 'authorized_scopes' && usersWithHiddenScopes.delete(user);
      return length === 0 && !hadHidden;
    });
    if (pause > 0) await work.pause(pause);
    await work.write(() => fill(data, user, idsToFill(sent[list], wasEmpty)));
  }
}

function writeAttributes(user: SandboxUser, sent: JsonObject): void {
  const { metadata: sentMetadata = null, group: sentGroup = null } = sent;
  const metadata =
    sentMetadata === null || sentMetadata === false || isBlankText(sentMetadata) ? {} : sentMetadata;
  const group = isBlankText(sentGroup) ? null : sentGroup;
  const errors: Record<string, string[]> = {};
  if (!isObject(metadata) || !Object.values(metadata).every(isMetadataValue))
    errors.metadata = ['is invalid'];
  if (group !== null && typeof group !== 'string') errors.group = ['is invalid'];
  else if (group !== null && !hasUniqueWords(group)) errors.group = ['must be unique'];
  if (!isObject(metadata) || Object.keys(errors).length > 0) throw unprocessable(errors);
  if (hasNul(metadata)) throw new Crash('(Postgrex.Error) ERROR 22P05 (untranslatable_character)');
  if (hasNul(group)) throw nulRefused();
  if (typeof group === 'string' && isTooLong(group)) throw tooLong();
  // Equal metadata isn't written, so its notation of numbers stays.
  const normalized = normalizeNumbers(metadata);
  if (!equalByValue(user.metadata, normalized)) user.metadata = normalized;
  user.group = typeof group === 'string' ? group : null;
}

function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && isBlank(value);
}

export function isMetadataValue(value: unknown): boolean {
  if (!isObject(value) || !Object.hasOwn(value, 'value') || typeof value.status !== 'string') return false;
  const { display = [] } = value;
  return Array.isArray(display) && display.every((text) => typeof text === 'string');
}

// Words are separated by single spaces, so two spaces contain an empty word.
export function hasUniqueWords(group: string): boolean {
  const words = group.split(' ');
  return new Set(words).size === words.length;
}

/** The ids for a list, null for a missing one. The server may crash after it emptied the list. */
function idsToFill(sent: unknown, wasEmpty: boolean): unknown[] {
  const isNone = sent === undefined || sent === null || sent === false;
  // The server reads an object as a list of pairs without ids.
  const isNoPair = isObject(sent) && Object.keys(sent).length === 0;
  if ((isNone && wasEmpty) || isNoPair) return [];
  if (!Array.isArray(sent) || !sent.every((element) => element === null || isObject(element)))
    throw new Crash('(Protocol.UndefinedError) protocol Enumerable not implemented');
  return sent.map((element) => (isObject(element) && element.id !== false ? (element.id ?? null) : null));
}

/** Validates all ids, then fills a list. */
type Fill = (data: SandboxData, user: SandboxUser, ids: unknown[]) => void;

/** Why an id is refused before the list is written. */
function idError(id: unknown): string | null {
  if (id === null || isBlankText(id)) return "can't be blank";
  return typeof id === 'string' ? null : 'is invalid';
}

function checkIds(field: string, ids: unknown[], check: (id: unknown) => string | null): void {
  const message = ids.map(check).find((one) => one !== null);
  if (message != null) throw unprocessable({ [field]: [message] });
}

const fillScopes: Fill = (data, user, sent) => {
  checkIds('scope_id', sent, idError);
  const ids = new Set<string>();
  for (const id of sent.map(String)) {
    if (ids.has(id)) throw unprocessable({ scope_id: ['has already been taken'] });
    if (hasNul(id)) throw nulRefused();
    if (isTooLong(id)) throw tooLong();
    ids.add(id);
  }
  user.authorized_scopes = [...ids].flatMap((id) => findById(data.scopes, id) ?? []).map(copyJson);
  if (user.authorized_scopes.length < ids.size) usersWithHiddenScopes.add(user);
};

const fillOrganizations: Fill = (data, user, sent) => {
  checkIds('organization_id', sent, (id) => idError(id) ?? (readUuid(id) === null ? 'is invalid' : null));
  const ids = new Set<string>();
  for (const id of sent.flatMap((one) => readUuid(one) ?? [])) {
    const constraint = ids.has(id) ? 'user_id_organization_id_index' : 'organization_id_fkey';
    if (ids.has(id) || findById(data.organizations, id) === undefined)
      throw new Crash(`(Ecto.ConstraintError) organizations_users_${constraint}`);
    ids.add(id);
  }
  // Roles belong to users, so the server ignores roles of a membership.
  user.organizations = [...ids].map((id) => ({ id, roles: [] }));
};

const fillRoles: Fill = (data, user, sent) => {
  checkIds('role_id', sent, idError);
  const roles: SandboxRole[] = [];
  for (const one of sent) {
    const id = readUuid(one);
    if (id !== null && findById(roles, id) !== undefined) throw unprocessable({ users: ['must be unique'] });
    const role = findById(data.roles, id);
    if (role === undefined) throw new Crash('(Ecto.ConstraintError) roles_users_role_id_fkey');
    roles.push(copyJson(role));
  }
  user.roles = roles;
};

const lists = [
  ['authorized_scopes', fillScopes],
  ['organizations', fillOrganizations],
  ['roles', fillRoles],
] as const;

type List = (typeof lists)[number][0];

/**
 * A user as answers show it: with the whole backend, without `blocked`, labels of scopes and roles of memberships. A role that both
 * the user and the backend have is shown twice if it has several scopes, since the database orders them differently.
 */
export function presentUser({ data, shownScopes }: Operation, user: SandboxUser): JsonObject {
  const { blocked: _, backend_id, authorized_scopes, organizations, roles, ...plain } = user;
  const backend = findById(data.backends, backend_id);
  const ownRoles = roles.map((role) => presentRole(data, role));
  const repeated = (backend?.roles ?? [])
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
    roles: [...ownRoles, ...repeated],
    backend: backend === undefined ? null : presentBackend(data, backend),
  };
}
