import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import {
  findById,
  type SandboxData,
  type SandboxRole,
  type SandboxScope,
  type SandboxUser,
} from '../data.js';
import type { Answer } from '../http.js';
import type { JsonObject } from '../json.js';
import { dateTime, flag, int32, list, map, members, object, requiredText, text } from './fields.js';
import { errors, named, type Operation, ok, readResource } from './operation.js';

const role = members({ id: text, name: text, scopes: list(members({ id: text, name: text, public: flag })) });
const scope = members({ id: text, public: flag }).extend({ name: requiredText, label: requiredText });
const membership = members({ name: text, label: text, roles: list(role) }).extend({ id: requiredText });
const backend = members({
  id: text,
  name: text,
  type: text,
  is_default: flag,
  create_default_organization: flag,
  roles: list(role),
  metadata_fields: list(object),
  federated_servers: list(object),
  verifiable_credentials: list(object),
  verifiable_presentations: list(object),
  password_hashing_alg: text,
  password_hashing_opts: map,
  ldap_pool_size: int32,
  ldap_host: text,
  ldap_user_rdn_attribute: text,
  ldap_base_dn: text,
  ldap_ou: text,
  ldap_master_dn: text,
  ldap_master_password: text,
  smtp_from: text,
  smtp_relay: text,
  smtp_username: text,
  smtp_password: text,
  smtp_ssl: flag,
  smtp_tls: flag,
  smtp_port: int32,
  features: list(requiredText),
});
const fields = members({
  id: text,
  uid: text,
  username: text,
  totp_registered_at: dateTime,
  metadata: map,
  federated_metadata: map,
  blocked: flag,
  group: text,
  authorized_scopes: list(scope),
  organizations: list(membership),
  backend: backend.nullable(),
});

/** Operation 2, which changes nothing if any part is invalid. */
export function updateUser(operation: Operation): Answer {
  const { data } = operation;
  const user = named(data.users, operation);
  const values = readResource(fields, operation);
  checkReferences(data, values);

  const { id: _, authorized_scopes, organizations, backend: settings, ...changes } = values;
  Object.assign(user, changes);
  if (authorized_scopes !== undefined)
    user.authorized_scopes = authorized_scopes.map((element) => completeScope(data, element));
  if (organizations !== undefined) {
    user.organizations = organizations.map((element) => ({
      id: element.id,
      roles: (element.roles ?? []).map((given) => completeRole(data, given)),
    }));
  }
  if (settings === null) user.backend_id = null;
  else if (settings !== undefined) updateBackend(data, user, settings);
  return ok(presentUser(data, user));
}

function checkReferences(data: SandboxData, values: z.infer<typeof fields>): void {
  const known = new Set(data.organizations.map((organization) => organization.id));
  const problems: Record<string, string[]> = {};
  for (const [index, element] of (values.organizations ?? []).entries()) {
    if (known.has(element.id)) continue;
    problems.organizations = [...(problems.organizations ?? []), `[${index}].id is unknown`];
  }
  const backendId = values.backend?.id ?? null;
  if (backendId !== null && findById(data.backends, backendId) === undefined)
    problems.backend = ['.id is unknown'];
  if (Object.keys(problems).length > 0) throw errors(422, problems);
}

function completeScope(data: SandboxData, given: z.infer<typeof scope>): SandboxScope {
  const known = data.scopes.find((candidate) => candidate.name === given.name);
  return {
    id: given.id ?? known?.id ?? randomUUID(),
    name: given.name,
    label: given.label,
    public: given.public ?? known?.public ?? false,
  };
}

function completeRole(data: SandboxData, given: z.infer<typeof role>): SandboxRole {
  const known = findById(data.roles, given.id);
  const scopes = given.scopes?.map((element) => ({
    id: element.id ?? randomUUID(),
    name: element.name ?? '',
    public: element.public ?? false,
  }));
  return {
    id: given.id ?? randomUUID(),
    name: given.name ?? known?.name ?? '',
    scopes: scopes ?? structuredClone(known?.scopes) ?? [],
  };
}

// Users share their backend, so its settings change for all of them; naming another one moves the user.
function updateBackend(data: SandboxData, user: SandboxUser, settings: z.infer<typeof backend>): void {
  const { id, roles, ...changes } = settings;
  if (id !== undefined && id !== null) user.backend_id = id;
  const target = findById(data.backends, user.backend_id);
  if (target === undefined) return;
  Object.assign(target, changes);
  if (roles !== undefined) target.roles = roles.map((given) => completeRole(data, given));
}

function presentUser(data: SandboxData, user: SandboxUser): JsonObject {
  const { backend_id, roles: _, organizations, ...plain } = user;
  const current = findById(data.backends, backend_id);
  const { ldap_master_password: _ldap, smtp_password: _smtp, ...shown } = current ?? {};
  return {
    ...plain,
    organizations: organizations.flatMap(({ id, roles }) => {
      const organization = findById(data.organizations, id);
      return organization === undefined ? [] : [{ ...organization, roles }];
    }),
    backend: current === undefined ? null : shown,
  };
}
