import type { SandboxData, SandboxScope } from '../data.js';
import { noRow, unprocessable } from './answers.js';
import { checkedText, flag, Invalid, text } from './fields.js';
import { findById } from './operation.js';
import type { Resource } from './resource.js';

const protectedNames = new Set(
  ['users', 'clients', 'identity-providers', 'scopes', 'roles', 'upstreams'].map(
    (name) => `${name}:manage:all`,
  ),
);

const name = checkedText((sent) =>
  /[ \t\n\v\f\r]/.test(sent) ? new Invalid('must not contain whitespace') : sent,
);

/** Scopes. Roles hold their ids, whether there is such a scope or not. */
export const scopes: Resource<SandboxScope> = {
  path: '/api/scopes',
  rows: (data) => data.scopes,
  show: (_operation, { id, name, label, public: open }) => ({ id, name, label, public: open }),
  missing: () => noRow('Scope'),
  fields: { name, label: text, public: flag(false, new Invalid('must not be null')) },
  takesId: 'refuse',
  isReferred: (data, { id }) =>
    data.clients.some(({ authorized_scopes }) => findById(authorized_scopes, id) !== undefined),
  isProtected: (_operation, { name }) => protectedNames.has(name),
  complete: (_operation, draft, _sent, others) =>
    others.some(({ name }) => name === draft.name)
      ? unprocessable({ name: ['has already been taken'] })
      : undefined,
  written(data, scope, before) {
    if (before !== undefined && before.id !== scope?.id) vanish(data, before.id);
    if (scope !== undefined) appear(data, scope);
  },
};

/** A scope that is gone stays in roles, hidden. */
function vanish(data: SandboxData, gone: string): void {
  for (const { authorized_scopes } of [...data.users, ...data.clients]) drop(authorized_scopes, gone);
  for (const role of data.roles)
    if (drop(role.scopes, gone)) role.hidden_scopes = [...(role.hidden_scopes ?? []), gone];
}

/** A scope is in every role that holds its id, with its present name. */
function appear({ roles, users, clients }: SandboxData, { id, name, label, public: open }: SandboxScope) {
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

function drop(list: { id: string }[], gone: string): boolean {
  const at = list.findIndex(({ id }) => id === gone);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
