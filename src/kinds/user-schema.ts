import * as z from 'zod';
import { defaulted, nullish, optional } from '../base/members.js';
import { lazy, type Value } from '../base/values.js';
import { withArticle } from '../base/words.js';
import { setParts } from './fields.js';
import {
  anyObject,
  document,
  identified,
  identifier,
  ignorable,
  lifecycle,
  NOT_ADDED,
  noFieldsIfAbsent,
  organizationId,
  ownRole,
  reference,
  role,
  roles,
  setOf,
  text,
  UUID,
  uniqueItems,
  until,
} from './schema.js';
import type { ProfileTraits, Traits } from './traits.js';

/** The sets of a user, in the order in which Boruta writes them. */
export const userSets = ['authorized_scopes', 'organizations', 'roles'];

const scope = lazy(() =>
  identified({
    id: optional(text(), 'The id of the scope. Under boruta, the name can replace it.', UUID),
    name: optional(text(), 'The name of the scope.', 'billing:read'),
    label: optional(text(), 'The display name.', 'Read billing'),
    public: optional(z.boolean(), 'Whether any client may ask for the scope.', false),
    until: until(),
  }),
);

const membership = lazy(() =>
  identified({
    id: organizationId,
    name: optional(identifier(), 'The name of the organization.', 'acme'),
    label: nullish(text(), 'The label of the organization.', 'ACME Corporation'),
    roles: roles
      .optional()
      .meta({
        description: "The user's roles in this organization, as a whole set. Not under boruta.",
        ...uniqueItems,
        examples: [[{ id: UUID, name: 'billing-admin' }]],
      }),
    until: until(),
  }),
);

/** A set of a user. Its elements are names, ids or objects. */
function memberSet<T extends z.ZodType>(noun: string, element: T, example: string) {
  const expected = `expected the name or id of ${withArticle(noun)}, or an object with one`;
  return setOf(z.union([identifier(), element], { error: expected }), `${noun}s`, example);
}

const objects = (about: string, example: object) => nullish(z.array(anyObject), about, [example]);

export const backend = lazy(() =>
  z.strictObject({
    id: nullish(text(), 'The id of the backend.', UUID),
    name: nullish(text(), 'The name of the backend.', 'Staff directory'),
    type: nullish(text(), 'Where the backend stores users, as the server names it.', 'ldap'),
    is_default: nullish(z.boolean(), 'Whether it is the default backend.', false),
    create_default_organization: nullish(z.boolean(), 'Whether each new user gets an organization.', true),
    roles: nullish(z.array(role), 'The roles of the backend, as a whole set.', [
      { id: UUID, name: 'member' },
    ]),
    metadata_fields: objects("The fields that users' metadata may have.", {
      attribute_name: 'department',
      user_editable: false,
    }),
    federated_servers: objects('Other servers that users can sign in with.', { name: 'partner' }),
    verifiable_credentials: objects('The verifiable credentials that it issues.', {
      credential_identifier: 'EmployeeCard',
    }),
    verifiable_presentations: objects('The verifiable presentations that it asks for.', {
      presentation_identifier: 'EmployeeCard',
    }),
    password_hashing_alg: nullish(text(), 'How passwords are hashed.', 'argon2'),
    password_hashing_opts: nullish(anyObject, 'The options of the algorithm.', { m_cost: 16 }),
    ldap_pool_size: nullish(z.int32(), 'The number of connections to the directory.', 5),
    ldap_host: nullish(text(), 'The host of the LDAP directory.', 'ldap.example.com'),
    ldap_user_rdn_attribute: nullish(text(), 'The attribute that identifies a user in the directory.', 'uid'),
    ldap_base_dn: nullish(text(), 'The base DN of users in the directory.', 'dc=example,dc=com'),
    ldap_ou: nullish(text(), 'The organizational unit of users.', 'ou=people'),
    ldap_master_dn: nullish(text(), 'The DN that the server signs in with.', 'cn=idp,dc=example,dc=com'),
    ldap_master_password: nullish(
      text(),
      'The password of ldap_master_dn, always secret. Use a variable.',
      '${LDAP_PASSWORD}',
    ),
    smtp_from: nullish(text(), 'The sender of emails.', 'no-reply@example.com'),
    smtp_relay: nullish(text(), 'The mail server.', 'smtp.example.com'),
    smtp_username: nullish(text(), 'The user name for the mail server.', 'idp'),
    smtp_password: nullish(
      text(),
      'The password of smtp_username, always secret. Use a variable.',
      '${SMTP_PASSWORD}',
    ),
    smtp_ssl: nullish(z.boolean(), 'Whether to use TLS from the start.', true),
    smtp_tls: nullish(z.boolean(), 'Whether to use STARTTLS.', false),
    smtp_port: nullish(z.int32(), 'The port of the mail server.', 465),
    features: nullish(z.array(text()), 'What the backend can do, as the server names it.', ['authenticable']),
  }),
);

/** The fields that `User` and `Users` documents have in common. */
const managed = lazy(() => ({
  metadata: nullish(anyObject, 'Facts about the user. Unmentioned keys stay; null removes a key.', {
    department: { value: 'R&D', status: 'valid' },
  }),
  federated_metadata: nullish(
    anyObject,
    'Facts from another server. Unmentioned keys stay; null removes a key.',
    { department: { value: 'R&D', status: 'valid' } },
  ),
  blocked: nullish(z.boolean(), 'Whether the user is blocked from signing in.', false),
  group: nullish(text(), "The user's groups, separated by spaces.", 'staff'),
  authorized_scopes: memberSet('scope', scope(), 'billing:read').meta({
    description: 'The scopes that the user may get: a list of all, or {add, remove}.',
    examples: [[{ id: UUID, name: 'billing:read', label: 'Read billing' }], { add: ['billing:read'] }],
  }),
  organizations: memberSet('organization', membership(), 'acme').meta({
    description: "The user's organizations: a list of all, or {add, remove}.",
    examples: [['acme', { id: UUID, roles: [{ id: UUID, name: 'billing-admin' }] }], { add: ['acme'] }],
  }),
  roles: memberSet('role', ownRole, 'auditor').meta({
    description: "The user's own roles: a list of all, or {add, remove}. Only under boruta.",
    examples: [[{ id: UUID, name: 'auditor' }], { add: ['auditor'] }],
  }),
  whole: defaulted(
    z.array(z.enum(['metadata', 'federated_metadata'])),
    [],
    'The maps that are replaced as a whole: unmentioned keys are removed.',
    ['metadata'],
  ),
  ignored: ignorable(userTraits),
}));

export const userSchema = lazy(() =>
  document(
    'User',
    "A user's record: memberships, scopes, roles and metadata.",
    {
      id: optional(identifier(), 'The id of the user. If left out, the username identifies the user.', UUID),
      uid: nullish(text(), "The user's id in their backend.", 'ada'),
      username: nullish(
        z.union([identifier(), text()], { error: 'expected a string' }),
        'The sign-in name. Without an id, it identifies the user, if the profile lists users.',
        'ada@example.com',
      ),
      totp_registered_at: nullish(
        z.iso.datetime({ offset: true, error: 'expected a date-time such as 2026-01-31T12:00:00Z' }),
        'When the user set up one-time passwords. null removes them.',
        '2026-01-31T12:00:00Z',
      ),
      ...managed(),
      backend: nullish(
        z.union([identifier(), backend()], { error: 'expected a map, or the name of a backend' }),
        "The user's backend: its name or id, beside a username; or its settings.",
        { id: UUID, smtp_relay: 'smtp.example.com' },
      ),
      password: optional(
        text(),
        "A new user's first password, 12 to 80 characters, always secret. Use a variable.",
        '${ADA_PASSWORD}',
      ),
      ...lifecycle('user'),
    },
    {
      anyOf: [{ required: ['id'] }, { required: ['username'] }],
      ...noFieldsIfAbsent(Object.keys(managed())),
    },
  ),
);

const userList = () =>
  z
    .array(
      z.union([
        identifier(),
        identified({
          id: optional(identifier(), 'The id of the user.', UUID),
          name: optional(identifier(), 'The username.', 'ada@example.com'),
          backend: optional(identifier(), 'The name or id of the backend that has the user.', 'Staff'),
        }),
      ]),
    )
    .min(1, 'must not be empty');

export const usersSchema = lazy(() =>
  document(
    'Users',
    'The same declaration for many users, listed or matched.',
    {
      users: optional(userList(), 'Users by username or id.', ['ada@example.com', { id: UUID }]),
      match: optional(
        z
          .strictObject({
            organization: reference('organization', 'acme').optional(),
            group: optional(
              z.string().regex(/^[^ ]+$/, 'must be one word'),
              "One of the user's groups.",
              'staff',
            ),
            role: reference('role', 'auditor').optional(),
            scope: reference('scope', 'billing:read').optional(),
            backend: reference('backend', 'Staff directory').optional(),
          })
          .refine((it) => Object.values(it).some((key) => key !== undefined), 'needs a condition'),
        'Selects users who meet all conditions; only their own scopes and roles count.',
        { organization: 'acme', group: 'staff' },
      ),
      except: optional(userList(), 'Users whom match leaves out.', ['root@example.com']),
      at_least: optional(z.int().min(1), 'The least number of users; fewer are an error.', 1),
      until: until(),
      ...managed(),
    },
    { anyOf: [{ required: ['users'] }, { required: ['match'] }], dependentRequired: { except: ['match'] } },
  ).refine(
    ({ until, authorized_scopes, organizations, roles }) =>
      until === undefined || [authorized_scopes, organizations, roles].some(adds),
    { path: ['until'], error: NOT_ADDED },
  ),
);

/** Whether a declared set has members to add. */
function adds(declared: unknown): boolean {
  const { whole, add } = setParts((declared ?? null) as Value);
  return [whole, add].some((list) => Array.isArray(list) && list.length > 0);
}

interface UserTraits extends Traits {
  /** Whether a scope of a user needs a label. */
  readonly scopeNeedsLabel: boolean;
  /** Whether a user has own roles. */
  readonly hasRoles: boolean;
  /** Whether the server reads decimals in metadata as doubles and may spell them differently. */
  readonly doubles: boolean;
}

export const userTraits: ProfileTraits<UserTraits> = {
  documented: { scopeNeedsLabel: true, hasRoles: false, doubles: false },
  boruta: {
    scopeNeedsLabel: false,
    hasRoles: true,
    doubles: true,
    read: { title: 'show a user', path: '/api/users/:user_id', scope: 'users:manage:all' },
    resetUnlessSent: ['metadata', 'group', 'authorized_scopes', 'organizations', 'roles'],
    ignored: ['uid', 'username', 'totp_registered_at', 'federated_metadata', 'blocked', 'backend'],
    alternatives: {
      blocked:
        'take away what the user has with "organizations: []", "authorized_scopes: []" and "roles: []" (this server blocks nobody)',
    },
    emptyIsNull: ['group'],
    nullBecomes: { metadata: {}, authorized_scopes: [], organizations: [], roles: [] },
    notAtomic: true,
    // The server protects the user of the token.
    protectsObjects: 'one',
    limits: {
      // The id of a scope may be any text.
      ids: { authorized_scopes: 255, roles: null, organizations: null },
      characters: { group: 255 },
      uniqueWords: ['group'],
      elements: { metadata: { needs: ['value', 'status'], types: { status: 'text', display: 'texts' } } },
    },
    signs: { has: ['roles'], lacks: ['blocked'], losesSilently: true },
    unsafe: true,
  },
};
