import { findById, type SandboxData, type SandboxScope } from '../data.js';
import { rowNotFound, unprocessable } from './answers.js';
import { checkedText, flag, Invalid, text } from './fields.js';
import type { Resource } from './resource.js';

const protectedNames = new Set(
  ['users', 'clients', 'identity-providers', 'scopes', 'roles', 'upstreams'].map(
    (name) => `${name}:manage:all`,
  ),
);

const name = checkedText((sent) =>
  /[ \t\n\v\f\r]/.test(sent) ? new Invalid('must not contain whitespace') : sent,
);

/** Scopes. Roles keep the id of a scope even if it is deleted. */
export const scopes: Resource<SandboxScope> = {
  path: '/api/scopes',
  rows: (data) => data.scopes,
  show: (_operation, { id, name, label, public: open }) => ({ id, name, label, public: open }),
  onMissing: () => rowNotFound('Scope'),
  fields: { name, label: text, public: flag(false, new Invalid('must not be null')) },
  onInvalidId: 'refuse',
  isReferenced: (data, { id }) =>
    data.clients.some(({ authorized_scopes }) => findById(authorized_scopes, id) !== undefined),
  isProtected: (_operation, { name }) => protectedNames.has(name),
  beforeWrite(_operation, draft, _sent, others) {
    if (others.some(({ name }) => name === draft.name))
      throw unprocessable({ name: ['has already been taken'] });
  },
  afterWrite(data, scope, before) {
    if (before !== undefined && before.id !== scope?.id) scopeRemoved(data, before.id);
    if (scope !== undefined) scopeWritten(data, scope);
  },
};

/** Removes a scope from users and clients; roles keep its id, hidden. */
function scopeRemoved(data: SandboxData, removedId: string): void {
  for (const { authorized_scopes } of [...data.users, ...data.clients])
    removeById(authorized_scopes, removedId);
  for (const role of data.roles)
    if (removeById(role.scopes, removedId)) role.hidden_scopes = [...(role.hidden_scopes ?? []), removedId];
}

/** Updates a scope in users and clients, and in all roles that have its id. */
function scopeWritten(
  { roles, users, clients }: SandboxData,
  { id, name, label, public: open }: SandboxScope,
) {
  for (const role of roles) {
    if (role.hidden_scopes?.includes(id) !== true) continue;
    role.hidden_scopes = role.hidden_scopes.filter((hidden) => hidden !== id);
    role.scopes.push({ id, name, public: open });
  }
  for (const list of [...roles.map(({ scopes }) => scopes), ...clients.map((one) => one.authorized_scopes)])
    Object.assign(findById(list, id) ?? {}, { name, public: open });
  for (const { authorized_scopes } of users)
    Object.assign(findById(authorized_scopes, id) ?? {}, { name, label, public: open });
}

function removeById(list: { id: string }[], removedId: string): boolean {
  const at = list.findIndex(({ id }) => id === removedId);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
