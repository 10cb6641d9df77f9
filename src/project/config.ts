import { z } from 'zod';
import { profiles } from '../server/profiles.js';

export const DEFAULT_MANIFESTS = ['manifests/**/*.yaml', 'manifests/**/*.yml'];
export const DEFAULT_STATE = '.idops/state.json';
export const DEFAULT_MAX_DESTRUCTIVE = 5;

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and "_"');

const authSchema = z
  .strictObject({
    token: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe(`The bearer token. Write \${IDOPS_TOKEN} here, never the token itself.`),
    token_file: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe('A file with the bearer token, relative to the configuration.'),
  })
  .refine((auth) => (auth.token === undefined) !== (auth.token_file === undefined), {
    error: 'needs exactly one of "token" and "token_file"',
  })
  .describe('How idops authenticates: exactly one of the members.');

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

export const stateSchema = z
  .strictObject({
    path: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe(`The state file, relative to the configuration. Default: ${DEFAULT_STATE}.`),
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
  state: stateSchema.optional(),
  safety: safetySchema.optional(),
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
