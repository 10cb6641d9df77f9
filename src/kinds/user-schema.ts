import * as z from 'zod';
import { once } from '../base/once.js';
import {
  anyObject,
  document,
  identifier,
  idOrName,
  noneTwice,
  organizationId,
  role,
  roles,
  text,
  UUID,
} from './schema.js';

const scope = once(() =>
  z.strictObject({
    id: text()
      .optional()
      .meta({
        description:
          'The id of the scope. Servers go by it alone; the boruta profile looks it up by the name where it is left out.',
        examples: [UUID],
      }),
    name: text().meta({ description: 'The name of the scope.', examples: ['billing:read'] }),
    label: text()
      .optional()
      .meta({ description: 'What people read in the place of the name.', examples: ['Read billing'] }),
    public: z
      .boolean()
      .optional()
      .meta({ description: 'Whether any client may ask for the scope.', examples: [false] }),
  }),
);

const membership = once(() =>
  z
    .strictObject({
      id: organizationId,
      name: identifier()
        .optional()
        .meta({
          description: 'The name of the organization; finds it where there is no id.',
          examples: ['acme'],
        }),
      label: text()
        .nullable()
        .optional()
        .meta({ description: 'The label of the organization.', examples: ['ACME Corporation'] }),
      roles: roles.optional().meta({
        description:
          "The user's roles in this organization, the whole set: an empty list takes all away, no list leaves them.",
        ...noneTwice,
        examples: [[{ id: UUID, name: 'billing-admin' }]],
      }),
    })
    .refine((it) => it.id !== undefined || it.name !== undefined, 'needs an "id" or a "name"')
    .meta(idOrName),
);

/** Members of a user's `backend`; those that a document mentions are managed. */
export const backend = once(() =>
  z.strictObject({
    id: text()
      .nullable()
      .optional()
      .meta({ description: 'The id of the backend.', examples: [UUID] }),
    name: text()
      .nullable()
      .optional()
      .meta({ description: 'The name of the backend.', examples: ['Staff directory'] }),
    type: text()
      .nullable()
      .optional()
      .meta({
        description: 'What the backend keeps its users in, as the server names it.',
        examples: ['ldap'],
      }),
    is_default: z
      .boolean()
      .nullable()
      .optional()
      .meta({ description: 'Whether it is the backend of those that name none.', examples: [false] }),
    create_default_organization: z
      .boolean()
      .nullable()
      .optional()
      .meta({ description: 'Whether a new user gets an organization of their own.', examples: [true] }),
    roles: z
      .array(role)
      .nullable()
      .optional()
      .meta({
        description: 'The roles of the backend, the whole set.',
        examples: [[{ id: UUID, name: 'member' }]],
      }),
    metadata_fields: z
      .array(anyObject)
      .nullable()
      .optional()
      .meta({
        description:
          "The fields that users' metadata may have. Their members are the server's; idops compares and sends them as they are.",
        examples: [[{ attribute_name: 'department', user_editable: false }]],
      }),
    federated_servers: z
      .array(anyObject)
      .nullable()
      .optional()
      .meta({
        description:
          "Other servers that users may sign in with. Their members are the server's; idops compares and sends them as they are.",
        examples: [[{ name: 'partner' }]],
      }),
    verifiable_credentials: z
      .array(anyObject)
      .nullable()
      .optional()
      .meta({
        description:
          "The verifiable credentials that it issues. Their members are the server's; idops compares and sends them as they are.",
        examples: [[{ credential_identifier: 'EmployeeCard' }]],
      }),
    verifiable_presentations: z
      .array(anyObject)
      .nullable()
      .optional()
      .meta({
        description:
          "The verifiable presentations that it asks for. Their members are the server's; idops compares and sends them as they are.",
        examples: [[{ presentation_identifier: 'EmployeeCard' }]],
      }),
    password_hashing_alg: text()
      .nullable()
      .optional()
      .meta({ description: 'How passwords are hashed.', examples: ['argon2'] }),
    password_hashing_opts: anyObject
      .nullable()
      .optional()
      .meta({
        description: "The settings of that hash. Their names are the server's.",
        examples: [{ m_cost: 16 }],
      }),
    ldap_pool_size: z
      .int32()
      .nullable()
      .optional()
      .meta({ description: 'How many connections to the directory are kept open.', examples: [5] }),
    ldap_host: text()
      .nullable()
      .optional()
      .meta({ description: 'The host of the LDAP directory.', examples: ['ldap.example.com'] }),
    ldap_user_rdn_attribute: text()
      .nullable()
      .optional()
      .meta({ description: 'The attribute that names a user in the directory.', examples: ['uid'] }),
    ldap_base_dn: text()
      .nullable()
      .optional()
      .meta({ description: 'Where users are looked for in the directory.', examples: ['dc=example,dc=com'] }),
    ldap_ou: text()
      .nullable()
      .optional()
      .meta({ description: 'The organizational unit that users are in.', examples: ['ou=people'] }),
    ldap_master_dn: text()
      .nullable()
      .optional()
      .meta({
        description: 'Whom the server signs in to the directory as.',
        examples: ['cn=idp,dc=example,dc=com'],
      }),
    ldap_master_password: text()
      .nullable()
      .optional()
      .meta({
        description:
          'The password of ldap_master_dn, a secret wherever it comes from. Write a variable here, never the password itself.',
        examples: ['${LDAP_PASSWORD}'],
      }),
    smtp_from: text()
      .nullable()
      .optional()
      .meta({ description: 'The sender of emails.', examples: ['no-reply@example.com'] }),
    smtp_relay: text()
      .nullable()
      .optional()
      .meta({ description: 'The mail server that emails are handed to.', examples: ['smtp.example.com'] }),
    smtp_username: text()
      .nullable()
      .optional()
      .meta({ description: 'Whom the server signs in to the mail server as.', examples: ['idp'] }),
    smtp_password: text()
      .nullable()
      .optional()
      .meta({
        description:
          'The password of smtp_username, a secret wherever it comes from. Write a variable here, never the password itself.',
        examples: ['${SMTP_PASSWORD}'],
      }),
    smtp_ssl: z
      .boolean()
      .nullable()
      .optional()
      .meta({
        description: 'Whether the mail server is spoken to over TLS from the first byte.',
        examples: [true],
      }),
    smtp_tls: z
      .boolean()
      .nullable()
      .optional()
      .meta({
        description: 'Whether the connection to the mail server changes to TLS (STARTTLS).',
        examples: [false],
      }),
    smtp_port: z
      .int32()
      .nullable()
      .optional()
      .meta({ description: 'The port of the mail server.', examples: [465] }),
    features: z
      .array(text())
      .nullable()
      .optional()
      .meta({
        description: 'What the backend can do, as the server names it.',
        examples: [['authenticable']],
      }),
  }),
);

/** A document of a user. */
export const userSchema = once(() =>
  document(
    'User',
    "A user's record: what they belong to and may do. Users are made by the server, never by idops.",
    {
      id: identifier().meta({ description: 'The id of the user.', examples: [UUID] }),
      uid: text()
        .nullable()
        .optional()
        .meta({ description: "What the user's backend knows them by.", examples: ['ada'] }),
      username: text()
        .nullable()
        .optional()
        .meta({ description: 'What the user signs in as.', examples: ['ada@example.com'] }),
      totp_registered_at: z.iso
        .datetime({ offset: true, error: 'expected a date-time such as 2026-01-31T12:00:00Z' })
        .nullable()
        .optional()
        .meta({
          description: 'When the user registered a device for one-time passwords; null takes it away.',
          examples: ['2026-01-31T12:00:00Z'],
        }),
      metadata: anyObject
        .nullable()
        .optional()
        .meta({
          description:
            'What is known of the user, by name. Keys that are not mentioned stay, null removes one; see whole.',
          examples: [{ department: { value: 'R&D', status: 'valid' } }],
        }),
      federated_metadata: anyObject
        .nullable()
        .optional()
        .meta({
          description:
            'The same, as another server told it. Keys that are not mentioned stay, null removes one; see whole.',
          examples: [{ department: { value: 'R&D', status: 'valid' } }],
        }),
      blocked: z
        .boolean()
        .nullable()
        .optional()
        .meta({
          description: 'Whether the user is kept from signing in. Blocking counts as destructive.',
          examples: [false],
        }),
      group: text()
        .nullable()
        .optional()
        .meta({
          description: 'The groups of the user, one or several with a space between them.',
          examples: ['staff'],
        }),
      authorized_scopes: z
        .array(scope())
        .nullable()
        .optional()
        .meta({
          description:
            'The scopes that the user may be granted, the whole set: an empty list takes all away, no list leaves them.',
          examples: [[{ id: UUID, name: 'billing:read', label: 'Read billing' }]],
          ...noneTwice,
        }),
      organizations: z
        .array(
          z.union([identifier(), membership()], {
            error: 'expected the name or id of an organization, or an object with one',
          }),
        )
        .nullable()
        .optional()
        .meta({
          description:
            "The organizations that the user is in, the whole set: each an organization's name or id, or an object with roles. An empty list takes all away, no list leaves them.",
          examples: [['acme', { id: UUID, roles: [{ id: UUID, name: 'billing-admin' }] }]],
          ...noneTwice,
        }),
      roles: roles
        .nullable()
        .optional()
        .meta({
          description:
            "The user's own roles, the whole set. For servers of the boruta profile; the documented API has none.",
          examples: [[{ id: UUID, name: 'auditor' }]],
          ...noneTwice,
        }),
      backend: backend()
        .nullable()
        .optional()
        .meta({
          description:
            'The backend that the user comes from, with its settings. The members that are mentioned are managed.',
          examples: [{ id: UUID, smtp_relay: 'smtp.example.com' }],
        }),
      whole: z
        .array(z.enum(['metadata', 'federated_metadata']))
        .optional()
        .meta({
          description: 'Which of these maps are written whole: a key that is not mentioned is removed.',
          examples: [['metadata']],
          default: [],
        }),
    },
  ),
);
