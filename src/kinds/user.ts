import { z } from 'zod';
import { error, type Problem } from '../problems.js';
import { isMap, type Value } from '../values.js';
import { type FieldTypes, instant, map, members, secret, set, value } from './fields.js';
import type { Declared, Kind } from './kind.js';
import { anyObject, document, identifier, role, roles, text } from './schema.js';

const scope = z.strictObject({
  id: text().optional(),
  name: text(),
  label: text().optional(),
  public: z.boolean().optional(),
});

const membership = z
  .strictObject({
    id: identifier().optional(),
    name: identifier().optional(),
    label: text().nullable().optional(),
    roles: roles.optional(),
  })
  .refine((it) => it.id !== undefined || it.name !== undefined, 'needs an "id" or a "name"');

const backend = z.strictObject({
  id: text().nullable().optional(),
  name: text().nullable().optional(),
  type: text().nullable().optional(),
  is_default: z.boolean().nullable().optional(),
  create_default_organization: z.boolean().nullable().optional(),
  roles: z.array(role).nullable().optional(),
  metadata_fields: z.array(anyObject).nullable().optional(),
  federated_servers: z.array(anyObject).nullable().optional(),
  verifiable_credentials: z.array(anyObject).nullable().optional(),
  verifiable_presentations: z.array(anyObject).nullable().optional(),
  password_hashing_alg: text().nullable().optional(),
  password_hashing_opts: anyObject.nullable().optional(),
  ldap_pool_size: z.int32().nullable().optional(),
  ldap_host: text().nullable().optional(),
  ldap_user_rdn_attribute: text().nullable().optional(),
  ldap_base_dn: text().nullable().optional(),
  ldap_ou: text().nullable().optional(),
  ldap_master_dn: text().nullable().optional(),
  ldap_master_password: text().nullable().optional(),
  smtp_from: text().nullable().optional(),
  smtp_relay: text().nullable().optional(),
  smtp_username: text().nullable().optional(),
  smtp_password: text().nullable().optional(),
  smtp_ssl: z.boolean().nullable().optional(),
  smtp_tls: z.boolean().nullable().optional(),
  smtp_port: z.int32().nullable().optional(),
  features: z.array(text()).nullable().optional(),
});

const backendFields: FieldTypes = {
  ...Object.fromEntries(Object.keys(backend.shape).map((name) => [name, value])),
  roles: set(),
  ldap_master_password: secret,
  smtp_password: secret,
};

export const user: Kind = {
  name: 'User',
  noun: 'user',
  schema: document('User', {
    id: identifier(),
    uid: text().nullable().optional(),
    username: text().nullable().optional(),
    totp_registered_at: z.iso
      .datetime({ offset: true, error: 'expected a date-time such as 2026-01-31T12:00:00Z' })
      .nullable()
      .optional(),
    metadata: anyObject.nullable().optional(),
    federated_metadata: anyObject.nullable().optional(),
    blocked: z.boolean().nullable().optional(),
    group: text().nullable().optional(),
    authorized_scopes: z.array(scope).nullable().optional(),
    organizations: z
      .array(
        z.union([identifier(), membership], {
          error: 'expected the name or id of an organization, or an object with one',
        }),
      )
      .nullable()
      .optional(),
    backend: backend.nullable().optional(),
    whole: z.array(z.enum(['metadata', 'federated_metadata'])).optional(),
  }),
  identity: ['id'],
  fields: {
    uid: value,
    username: value,
    totp_registered_at: instant,
    metadata: map,
    federated_metadata: map,
    blocked: value,
    group: value,
    authorized_scopes: set(),
    organizations: set({ roles: set() }),
    backend: members(backendFields),
  },
  scopes: { read: null, write: 'users:manage:all' },
  identities: ({ identity }) => [`id ${identity.id}`],
  check: (declared, profile) =>
    declared.flatMap((user) => [
      ...(profile.users.scopeNeedsLabel ? unlabelledScopes(user) : []),
      ...Object.entries(user.fields).flatMap(([field, value]) => repeatedElements(user, field, value)),
    ]),
};

function unlabelledScopes(user: Declared): Problem[] {
  const scopes = user.fields.authorized_scopes;
  if (!Array.isArray(scopes)) return [];
  return scopes.flatMap((scope, index) =>
    isMap(scope) && scope.label === undefined
      ? [
          error(
            'missing-field',
            'a scope of a user needs a "label"',
            [user.placeOf('authorized_scopes', index)],
            'the API requires name and label in each element of authorized_scopes',
          ),
        ]
      : [],
  );
}

function repeatedElements(user: Declared, field: string, value: Value): Problem[] {
  if (!Array.isArray(value) || (field !== 'organizations' && field !== 'authorized_scopes')) return [];
  const first = new Map<string, number>();
  return value.flatMap((element, index) => {
    const key = isMap(element) ? (element.id ?? element.name) : element;
    if (typeof key !== 'string') return [];
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, index);
      return [];
    }
    return [
      error(
        'duplicate-element',
        `"${key}" is twice in ${field}`,
        [user.placeOf(field, index), user.placeOf(field, before)],
        'remove one of the two',
      ),
    ];
  });
}
