import * as z from 'zod';
import { kindNames } from '../base/kind-names.js';
import { defaulted, described, optional } from '../base/members.js';
import { approvalReasons, defaultSafety } from '../base/safety.js';
import { limits } from '../mail/limits.js';
import { checksSchema } from '../mail/settings.js';
import { profiles } from '../server/profiles.js';
import { nonEmpty, pemFile, stateSettingsSchema } from './state.js';

export const DEFAULT_MANIFESTS = ['manifests/**/*.yaml', 'manifests/**/*.yml'];

const variableName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'must be a name of letters (a to z), digits and "_", and not begin with a digit',
  );

const texts = () => z.array(nonEmpty()).min(1, 'must not be empty');

const clientCredentialsSchema = described(
  z.strictObject({
    token_url: described(nonEmpty(), 'The URL that issues tokens.', 'https://id.example.com/oauth/token'),
    client_id: described(nonEmpty(), 'The id of the client.', '${IDOPS_CLIENT_ID}'),
    client_secret: described(
      nonEmpty(),
      'The secret of the client. Use a variable.',
      '${IDOPS_CLIENT_SECRET}',
    ),
    scopes: optional(
      z.array(
        nonEmpty().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope: visible ASCII without spaces'),
      ),
      'The scopes to request. Default: those that the manifests need.',
      ['users:manage:all'],
    ),
  }),
  'Requests a token with the OAuth 2.0 client credentials grant.',
  {
    token_url: 'https://id.example.com/oauth/token',
    client_id: '${IDOPS_CLIENT_ID}',
    client_secret: '${IDOPS_CLIENT_SECRET}',
  },
);

const headerSchema = described(
  z.strictObject({
    name: described(nonEmpty(), 'The name of the header.', 'X-Api-Key'),
    value: described(nonEmpty(), 'The value of the header. Use a variable.', '${IDOPS_API_KEY}'),
  }),
  'A header to send instead of "Authorization: Bearer".',
  { name: 'X-Api-Key', value: '${IDOPS_API_KEY}' },
);

const authMethods = {
  token: optional(nonEmpty(), 'The bearer token. Use a variable.', '${IDOPS_TOKEN}'),
  token_file: optional(
    nonEmpty(),
    'A file with the bearer token, relative to the configuration.',
    '/run/secrets/idops-token',
  ),
  token_command: optional(
    texts(),
    'A program with arguments that prints the bearer token. It runs without a shell.',
    ['vault', 'read', '-field=token', 'identity/token'],
  ),
  client_credentials: clientCredentialsSchema.optional(),
  header: headerSchema.optional(),
};

const authMethodNames = Object.keys(authMethods);

const authSchema = z
  .strictObject({
    ...authMethods,
    pass_env: optional(
      z.array(z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a process variable')),
      'Process variables to pass to token_command.',
      ['VAULT_ADDR', 'VAULT_TOKEN'],
    ),
  })
  .refine(({ pass_env, ...given }) => Object.values(given).filter((way) => way !== undefined).length === 1, {
    error: `needs exactly one of ${authMethodNames.map((name) => `"${name}"`).join(', ')}`,
  })
  .refine(({ pass_env, token_command }) => pass_env === undefined || token_command !== undefined, {
    error: '"pass_env" is only allowed with "token_command"',
  })
  .meta({
    oneOf: authMethodNames.map((name) => ({ required: [name] })),
    dependentRequired: { pass_env: ['token_command'] },
    description: 'How to authenticate: exactly one way.',
    examples: [{ token: '${IDOPS_TOKEN}' }],
  });

const tlsSchema = described(
  z.strictObject({
    ca_file: pemFile('the authorities to trust, instead of those of Node.js', 'certificates/ca.pem'),
    client_cert_file: pemFile('the client certificate and its chain', 'certificates/client.pem'),
    client_key_file: pemFile('its private key, without a passphrase', '/run/secrets/idops-client.key'),
  }),
  'TLS certificates; paths are relative to the configuration.',
  { ca_file: 'certificates/ca.pem' },
);

export const serverSchema = described(
  z.strictObject({
    base_url: optional(nonEmpty(), 'The base URL of the API.', 'https://id.example.com', '${IDOPS_BASE_URL}'),
    profile: defaulted(
      z.enum(Object.keys(profiles)),
      'documented',
      'The profile of the server. Set it explicitly; idops doctor shows which one fits.',
      'boruta',
    ),
    trust_profile: defaulted(
      z.boolean(),
      false,
      'Only with a profile: skip the GET that checks that the profile fits.',
      true,
    ),
    auth: authSchema.optional(),
    tls: tlsSchema.optional(),
    allow_insecure_http: defaulted(
      z.boolean(),
      false,
      'Allow http to other machines. This exposes the token.',
      true,
    ),
  }),
  'The server. Optional if --base-url and IDOPS_TOKEN are set.',
  { base_url: 'https://id.example.com', profile: 'documented', auth: { token: '${IDOPS_TOKEN}' } },
);

export const manifestsSchema = z
  .array(nonEmpty())
  .meta({
    description: 'Globs of manifests, relative to the configuration. "!" excludes.',
    examples: [['manifests/**/*.yaml', '!manifests/drafts/**']],
    default: DEFAULT_MANIFESTS,
  });

const count = () => z.int().min(0, 'must be 0 or more');

const addressPattern = new RegExp(`^(\\*|(${kindNames.join('|')})/.)`);

const keepSchema = z
  .strictObject({
    scope: optional(
      nonEmpty(),
      'The name or id of a scope, their own or through a role.',
      'users:manage:all',
    ),
    role: optional(nonEmpty(), 'The name or id of a role.', 'admin'),
    at_least: described(
      z.int().min(1, 'must be 1 or more'),
      'How many users must have it; blocked users do not count.',
      2,
    ),
  })
  .refine(({ scope, role }) => (scope === undefined) !== (role === undefined), {
    error: 'needs either "scope" or "role"',
  })
  .meta({ oneOf: [{ required: ['scope'] }, { required: ['role'] }] });

const approversSchema = z
  .strictObject({
    for: described(z.enum(approvalReasons), 'The kind of change.', 'privileged'),
    teams: optional(texts(), 'GitHub teams, by slug.', ['security']),
    users: optional(texts(), 'GitHub accounts.', ['ada']),
  })
  .refine(({ teams, users }) => teams !== undefined || users !== undefined, {
    error: 'needs "teams" or "users"',
  })
  .meta({ anyOf: [{ required: ['teams'] }, { required: ['users'] }] });

export const safetySchema = described(
  z.strictObject({
    max_destructive: defaulted(
      count(),
      defaultSafety.maxDestructive,
      'How many destructive changes one apply may make.',
      10,
    ),
    max_changes: optional(count(), 'How many objects one apply may change. Default: no limit.', 500),
    max_privileged: defaulted(
      count(),
      defaultSafety.maxPrivileged,
      'How many privileged changes one apply may make.',
      1,
    ),
    privileged: defaulted(
      z.array(nonEmpty().regex(/^(?!role:$)/, 'must name a role after "role:"')),
      defaultSafety.privileged,
      'Scopes that make a change privileged; "role:NAME" for roles. "*" matches any characters.',
      ['*:manage:all', 'role:admin'],
    ),
    protect: optional(
      z.array(
        nonEmpty().regex(addressPattern, 'must be an address such as User/root@example.com or KeyPair/*'),
      ),
      'Addresses of objects that no plan changes. "*" matches any characters.',
      ['User/root@example.com', 'KeyPair/*'],
    ),
    keep: optional(
      z.array(keepSchema),
      'Scopes and roles that some users must keep. Needs a profile that lists users.',
      [{ scope: 'users:manage:all', at_least: 2 }],
    ),
    approvers: optional(
      z.array(approversSchema),
      'Who must approve which kind of change before the GitHub Action applies it.',
      [{ for: 'privileged', teams: ['security'] }],
    ),
  }),
  'Limits of what one apply may do.',
  { max_destructive: 0 },
);

export const limitsSchema = described(
  z.strictObject({
    body_characters: defaulted(
      z.int().min(1, 'must be 1 or more'),
      limits.allBodiesCharacters,
      'How many characters all body files may have together.',
      100_000_000,
    ),
  }),
  'Limits of the size of a project.',
  { body_characters: 100_000_000 },
);

const kindList = () => z.array(z.enum(kindNames));

export const createSchema = described(
  z.union([z.boolean(), kindList()], { error: 'expected true, false or a list of kinds' }),
  'Whether to create objects that the server does not have: all kinds, or these. Only under boruta; a document can override it.',
  true,
  ['Role', 'Organization'],
);

export const pruneSchema = kindList().meta({
  description:
    'The kinds that --prune deletes: email templates that idops applied, other objects that idops created.',
  examples: [['EmailTemplate', 'Role']],
  default: ['EmailTemplate'],
});

const sections = {
  server: serverSchema.optional(),
  manifests: manifestsSchema.optional(),
  vars: optional(
    z.record(
      variableName,
      z.union([z.string(), z.number(), z.boolean()], { error: 'expected a string, a number or a boolean' }),
    ),
    'Values for ${NAME}, before process variables.',
    { support_email: 'help@example.com' },
  ),
  allow_env: optional(
    z.array(variableName),
    'Process variables that ${NAME} may use, in addition to those that begin with IDOPS_.',
    ['SMTP_PASSWORD'],
  ),
  state: stateSettingsSchema.optional(),
  safety: safetySchema.optional(),
  create: createSchema.optional(),
  prune: pruneSchema.optional(),
  checks: checksSchema.optional(),
  limits: limitsSchema.optional(),
};

const environmentSchema = z
  .strictObject(sections)
  .describe('Overrides for --env: maps merge, lists and single values replace.');

const environmentName = z
  .string()
  .regex(/^(?!\.{1,2}$)[\w.-]+$/, 'must be a name of letters (a to z), digits, "_", "-" and "."');

/** `idops.yaml` as it is written, before environments are merged and variables are resolved. */
export const configSchema = z
  .strictObject({
    version: z.literal(1).describe('The version of this format.'),
    ...sections,
    environments: optional(
      z.record(environmentName, environmentSchema),
      'Overrides by environment; --env chooses one.',
      { production: { server: { base_url: 'https://id.example.com' } } },
    ),
  })
  .describe('The configuration of an idops project.');
