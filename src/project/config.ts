import { z } from 'zod';
import { checksSchema } from '../mail/settings.js';
import { profiles } from '../server/profiles.js';

export const DEFAULT_MANIFESTS = ['manifests/**/*.yaml', 'manifests/**/*.yml'];
export const DEFAULT_STATE = '.idops/state.json';
export const DEFAULT_MAX_DESTRUCTIVE = 5;

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and "_"');

const text = () => z.string().min(1, 'must not be empty');

const clientCredentialsSchema = z
  .strictObject({
    token_url: text().describe('The address that gives tokens, by the same rules as base_url.'),
    client_id: text().describe('The id of the client.'),
    client_secret: text().describe(
      `The secret of the client. Write \${IDOPS_CLIENT_SECRET} here, never the secret itself.`,
    ),
    scopes: z
      .array(text().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope: visible ASCII without spaces'))
      .optional()
      .describe('The scopes to ask for. Default: those that the manifests need.'),
  })
  .describe('Asks an OAuth 2.0 token address for a token, by the client credentials grant.');

const headerSchema = z
  .strictObject({
    name: text().describe('The name of the header, such as X-Api-Key.'),
    value: text().describe(`Its value. Write \${IDOPS_API_KEY} here, never the value itself.`),
  })
  .describe('A header of your own in the place of "Authorization: Bearer".');

const ways = {
  token: text().optional().describe(`The bearer token. Write \${IDOPS_TOKEN} here, never the token itself.`),
  token_file: text()
    .optional()
    .describe(
      'A file with the bearer token, relative to the configuration. Read again when the server refuses it.',
    ),
  token_command: z
    .array(text())
    .min(1, 'must not be empty')
    .optional()
    .describe(
      'A program that prints the bearer token, and its arguments; no shell takes part. Run again when the server refuses it. It gets no process variables but those that programs need to run, and those of pass_env.',
    ),
  client_credentials: clientCredentialsSchema.optional(),
  header: headerSchema.optional(),
};

const wayNames = Object.keys(ways);

const authSchema = z
  .strictObject({
    ...ways,
    pass_env: z
      .array(z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a process variable'))
      .optional()
      .describe('Names of further process variables that the program of token_command gets.'),
  })
  .refine(({ pass_env, ...given }) => Object.values(given).filter((way) => way !== undefined).length === 1, {
    error: `needs exactly one of ${wayNames.map((name) => `"${name}"`).join(', ')}`,
  })
  .refine(({ pass_env, token_command }) => pass_env === undefined || token_command !== undefined, {
    error: '"pass_env" goes with "token_command" alone',
  })
  .meta({
    oneOf: wayNames.map((name) => ({ required: [name] })),
    dependentRequired: { pass_env: ['token_command'] },
  })
  .describe('How idops authenticates: exactly one of the ways; pass_env belongs to token_command.');

const tlsSchema = z
  .strictObject({
    ca_file: text()
      .optional()
      .describe(
        'A PEM file with the authorities to trust, in the place of those that Node.js knows; relative to the configuration.',
      ),
    client_cert_file: text().optional().describe('A PEM file with the client certificate and its chain.'),
    client_key_file: text()
      .optional()
      .describe('A PEM file with the private key of the client certificate, without a passphrase.'),
  })
  .describe('Certificates. TLS 1.2 is the least that is spoken.');

export const serverSchema = z
  .strictObject({
    base_url: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe('The address that the paths of the API are relative to, such as https://id.example.com.'),
    profile: z
      .enum(Object.keys(profiles))
      .optional()
      .describe('What the server offers beyond the documented API. Default: documented.'),
    auth: authSchema.optional(),
    tls: tlsSchema.optional(),
    allow_insecure_http: z
      .boolean()
      .optional()
      .describe('Allow http, which shows the token to the network, to other hosts than this one.'),
  })
  .describe('The server to manage. May be left out where --base-url and IDOPS_TOKEN are given.');

export const manifestsSchema = z
  .array(z.string().min(1, 'must not be empty'))
  .describe(
    `Globs of manifests, relative to the configuration; "!" before one excludes. Default: ${DEFAULT_MANIFESTS.join(', ')}.`,
  );

export const stateSettingsSchema = z
  .strictObject({
    path: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe(`The state file, relative to the configuration. Default: ${DEFAULT_STATE}.`),
    allow_tracked: z
      .boolean()
      .optional()
      .describe('Take a state, a lock and journals that git tracks. Default: false, they are refused.'),
  })
  .describe('Where idops records what it applied.');

export const safetySchema = z
  .strictObject({
    max_destructive: z
      .int()
      .min(0, 'must be 0 or more')
      .optional()
      .describe(`How many destructive changes one apply may make. Default: ${DEFAULT_MAX_DESTRUCTIVE}.`),
  })
  .describe('Limits that stop an apply.');

const sections = {
  server: serverSchema.optional(),
  manifests: manifestsSchema.optional(),
  vars: z
    .record(
      variableName,
      z.union([z.string(), z.number(), z.boolean()], { error: 'expected a string, a number or a boolean' }),
    )
    .optional()
    .describe(`Values for \${NAME} in manifests and in this file; they stand above process variables.`),
  allow_env: z
    .array(variableName)
    .optional()
    .describe(`Process variables that may be used as \${NAME}, beside those that start with IDOPS_.`),
  state: stateSettingsSchema.optional(),
  safety: safetySchema.optional(),
  checks: checksSchema.optional(),
};

const environmentSchema = z
  .strictObject(sections)
  .describe('Laid over the rest with --env: maps merge, lists and single values replace.');

/** `idops.yaml`, as it is written: before environments are merged and variables filled in. */
export const configSchema = z
  .strictObject({
    version: z.literal(1).describe('The version of this format.'),
    ...sections,
    environments: z
      .record(z.string().regex(/^[\w.-]+$/), environmentSchema)
      .optional()
      .describe('What is different in an environment, by its name.'),
  })
  .describe('The configuration of an idops project.');
