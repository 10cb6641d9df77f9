import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import type { SandboxData, SandboxRole, SandboxScope, SandboxUser } from '../data.js';
import type { Answer } from '../http.js';
import type { JsonObject } from '../json.js';
import {
  dateTime,
  errorsByField,
  flag,
  int32,
  list,
  map,
  members,
  object,
  requiredText,
  text,
} from './fields.js';
import { errors, notFound, type Operation, ok } from './operation.js';

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
export function updateUser({ data, params: [id], resource }: Operation): Answer {
  const user = data.users.find((candidate) => candidate.id === id);
  if (user === undefined) return notFound();
  const read = fields.safeParse(resource);
  if (!read.success) return errors(422, errorsByField(read.error));
  const values = read.data;
  const unknown = unknownReferences(data, values);
  if (unknown !== null) return errors(422, unknown);

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

function unknownReferences(data: SandboxData, values: z.infer<typeof fields>) {
  const known = new Set(data.organizations.map((organization) => organization.id));
  const problems: Record<string, string[]> = {};
  for (const [index, element] of (values.organizations ?? []).entries()) {
    if (known.has(element.id)) continue;
    problems.organizations = [...(problems.organizations ?? []), `[${index}].id is unknown`];
  }
  const backendId = values.backend?.id ?? null;
  if (backendId !== null && !data.backends.some((candidate) => candidate.id === backendId))
    problems.backend = ['.id is unknown'];
  return Object.keys(problems).length === 0 ? null : problems;
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
  const known = data.roles.find((candidate) => candidate.id === given.id);
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
  const target = data.backends.find((candidate) => candidate.id === user.backend_id);
  if (target === undefined) return;
  Object.assign(target, changes);
  if (roles !== undefined) target.roles = roles.map((given) => completeRole(data, given));
}

function presentUser(data: SandboxData, user: SandboxUser): JsonObject {
  const { backend_id, roles: _, organizations, ...plain } = user;
  const current = data.backends.find((candidate) => candidate.id === backend_id);
  const { ldap_master_password: _ldap, smtp_password: _smtp, ...shown } = current ?? {};
  return {
    ...plain,
    organizations: organizations.flatMap(({ id, roles }) => {
      const organization = data.organizations.find((candidate) => candidate.id === id);
      return organization === undefined ? [] : [{ ...organization, roles }];
    }),
    backend: current === undefined ? null : shown,
  };
}
