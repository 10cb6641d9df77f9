import { findById, type SandboxData, type SandboxRole, type SandboxScope } from '../data.js';
import { equalByValue, isObject, type JsonObject } from '../json.js';
import { Crash, rowNotFound } from './answers.js';
import { readUuid, requiredText } from './fields.js';
import type { Resource } from './resource.js';

/** Roles. Each write replaces all scopes of a role, in the same transaction. */
export const roles: Resource<SandboxRole> = {
  path: '/api/roles',
  rows: (data) => data.roles,
  show: (_operation, { id, name, scopes }) => ({ id, name, scopes }),
  onMissing: () => rowNotFound('Role'),
  fields: { name: requiredText },
  onInvalidId: 'crash',
  isReferenced: (data, { id, scopes, hidden_scopes = [] }) =>
    scopes.length + hidden_scopes.length > 0 ||
    holders(data).some((one) => findById(one.roles, id) !== undefined),
  beforeWrite({ data }, draft, sent, others) {
    if (others.some(({ name }) => name === draft.name))
      throw new Crash('(Ecto.ConstraintError) roles_name_index (unique_constraint)');
    const ids = scopeIds(sent.scopes);
    draft.scopes = ids.flatMap((id) => findById(data.scopes, id) ?? []).map(withoutLabel);
    draft.hidden_scopes = ids.filter((id) => findById(data.scopes, id) === undefined);
  },
  afterWrite(data, role, before) {
    if (role !== undefined) return;
    for (const holder of holders(data)) holder.roles = holder.roles.filter(({ id }) => id !== before?.id);
  },
};

/** A scope as roles and clients store it. */
export function withoutLabel({ label: _, ...scope }: SandboxScope): Omit<SandboxScope, 'label'> {
  return scope;
}

function holders({ users, backends }: SandboxData): { roles: SandboxRole[] }[] {
  return [...users, ...backends];
}

/** The ids of the scopes in a request. Elements without an id are ignored. */
function scopeIds(sent: unknown): string[] {
  if (sent === undefined || sent === null || sent === false || isObject(sent)) return [];
  if (!Array.isArray(sent)) throw new Crash('(Protocol.UndefinedError) Enumerable not implemented');
  const elements = sent.filter((one): one is JsonObject => isObject(one) && Object.hasOwn(one, 'id'));
  const distinct = elements.filter(
    (one, at) => elements.findIndex((other) => equalByValue(one, other)) === at,
  );
  const ids = distinct.map(({ id }) => readUuid(id));
  const valid = ids.filter((id) => id !== null);
  if (valid.length < ids.length)
    throw new Crash('(Ecto.ChangeError) value for RoleScope.scope_id does not match type');
  if (new Set(valid).size < valid.length)
    throw new Crash('(Ecto.ConstraintError) roles_scopes (unique_constraint)');
  return valid;
}

/** The current role of a copy inside another object; answers don't show whether its scopes are public. */
export function presentRole(data: SandboxData, copy: SandboxRole) {
  const { id, name, scopes } = findById(data.roles, copy.id) ?? copy;
  return { id, name, scopes: scopes.map((scope) => ({ ...scope, public: null })) };
}
