import * as z from 'zod';
import { nullish, optional } from '../base/members.js';
import { filterValues, lazy } from '../base/values.js';
import { type FieldTypes, listBy, secret, set, value, valueType } from './fields.js';
import { anyObject, referenceSet, text } from './schema.js';
import { backend as userBackend } from './user-schema.js';

/** The type of a backend whose users are in a directory. */
export const LDAP = 'Elixir.BorutaIdentity.Accounts.Ldap';

export const hashFields = ['password_hashing_alg', 'password_hashing_opts'] as const;

export const backendTexts = [
  ...['smtp_from', 'smtp_relay', 'smtp_username', 'smtp_password'],
  ...['ldap_host', 'ldap_user_rdn_attribute', 'ldap_base_dn', 'ldap_ou', 'ldap_master_dn'],
  'ldap_master_password',
];
const serverFields = [
  ...['name', 'client_id', 'client_secret', 'base_url', 'discovery_path', 'userinfo_path'],
  ...['authorize_path', 'token_path', 'scope', 'federated_attributes', 'metadata_endpoints'],
];

export const backendFields: FieldTypes = {
  ...Object.fromEntries(
    [
      ...['name', 'type', 'is_default', 'create_default_organization', ...hashFields],
      ...['smtp_ssl', 'smtp_tls', 'smtp_port', 'ldap_pool_size', ...backendTexts, 'metadata_fields'],
      ...['verifiable_credentials', 'verifiable_presentations'],
    ].map((name) => [name, valueType(name)]),
  ),
  roles: set(),
  federated_servers: listBy('name', {
    ...Object.fromEntries(serverFields.map((name) => [name, value])),
    client_secret: secret,
  }),
};

export const backendShape = lazy((): z.ZodRawShape => {
  const { shape: known } = userBackend();
  const own = filterValues(known, (_, name) => backendTexts.includes(name));
  const path = (what: string, example: string) =>
    optional(text(), `The path of ${what}; by default discovered.`, example);
  const server = z.strictObject({
    name: z
      .string()
      .regex(/^\S+$/, 'must have no space')
      .meta({ description: 'Its name, unique in the backend.', examples: ['partner'] }),
    client_id: optional(text(), "The backend's client id there.", 'boruta'),
    client_secret: optional(
      text(),
      'The secret of client_id, always secret. Use a variable.',
      '${PARTNER_SECRET}',
    ),
    base_url: optional(text(), 'Its address.', 'https://login.example.com'),
    discovery_path: path('its OpenID configuration', '/.well-known/openid-configuration'),
    userinfo_path: path('its userinfo endpoint', '/userinfo'),
    authorize_path: path('its authorization endpoint', '/authorize'),
    token_path: path('its token endpoint', '/token'),
    scope: optional(text(), 'The scopes to ask for.', 'openid email'),
    federated_attributes: optional(text(), 'The attributes to take, separated by spaces.', 'email'),
    metadata_endpoints: optional(z.array(anyObject), 'Where to get metadata from.', [
      { endpoint: 'https://login.example.com/me', claims: 'email' },
    ]),
  });
  const metadataField = z.strictObject({
    attribute_name: text().meta({ description: 'The name of the field.', examples: ['department'] }),
    user_editable: optional(z.boolean(), 'Whether users may change it.', true),
    scopes: optional(z.array(text()), 'The scopes that show it to clients.', ['profile']),
    default_value: optional(z.unknown(), 'The value of new users.', 'engineering'),
  });
  const objects = (member: string, about: string, example: string) =>
    optional(z.array(anyObject), about, [{ [member]: example }]);
  return {
    type: optional(
      z.enum(['Elixir.BorutaIdentity.Accounts.Internal', LDAP]),
      'Where the backend stores users: in its own database, or in an LDAP directory.',
      'Elixir.BorutaIdentity.Accounts.Internal',
    ),
    is_default: optional(
      z.boolean(),
      'Whether it is the default backend. Moving the default is destructive.',
      true,
    ),
    create_default_organization: optional(z.boolean(), 'Whether each new user gets an organization.', false),
    roles: optional(
      referenceSet('role', 'member'),
      'The roles of all users of the backend: a list of all, or {add, remove}.',
      ['member'],
    ),
    password_hashing_alg: optional(
      z.enum(['argon2', 'bcrypt', 'pbkdf2']),
      'How passwords are hashed.',
      'argon2',
    ),
    password_hashing_opts: optional(anyObject, 'The options of the algorithm.', { m_cost: 16 }),
    ...own,
    smtp_ssl: nullish(z.boolean(), 'Whether to use TLS from the start.', true),
    smtp_tls: nullish(z.enum(['always', 'never', 'if_available']), 'When to use STARTTLS.', 'always'),
    smtp_port: nullish(z.int32(), 'The port of the mail server.', 465),
    ldap_pool_size: nullish(z.int32().min(1).max(50), 'The number of connections to the directory.', 5),
    metadata_fields: optional(z.array(metadataField), "The fields that users' metadata may have.", [
      { attribute_name: 'department', user_editable: true },
    ]),
    federated_servers: optional(z.array(server), 'Other servers that users can sign in with.', [
      {
        name: 'partner',
        client_id: 'boruta',
        client_secret: '${PARTNER_SECRET}',
        base_url: 'https://login.example.com',
      },
    ]),
    verifiable_credentials: objects(
      'credential_identifier',
      'The verifiable credentials that it issues.',
      'EmployeeCard',
    ),
    verifiable_presentations: objects(
      'presentation_identifier',
      'The verifiable presentations that it asks for.',
      'EmployeeCard',
    ),
  };
});
