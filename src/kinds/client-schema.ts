import * as z from 'zod';
import { nullish, optional } from '../base/members.js';
import { lazy } from '../base/values.js';
import { counter } from './regeneration.js';
import {
  anyObject,
  document,
  identifier,
  lifecycle,
  noFieldsIfAbsent,
  reference,
  referenceSet,
  text,
  UUID,
  uniqueItems,
} from './schema.js';

const grantTypes = [
  ...['client_credentials', 'password', 'authorization_code', 'agent_code', 'refresh_token', 'implicit'],
  ...['revoke', 'introspect', 'id_token', 'vp_token', 'preauthorized_code', 'agent_credentials'],
];
const authMethods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt'];

const day = 86_400;
const month = 30 * day;
const seconds: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: day };

/** A number of seconds, or a number with a unit: `90s`, `10m`, `1h`, `30d`. */
function lifetime(most: number) {
  const message = `must be 1 to ${most} seconds`;
  const number = z.int().min(1, message).max(most, message);
  const expected = 'expected seconds, or a number with a unit: s, m, h or d';
  const form = /^\d+[smhd]?$/;
  const withUnit = z
    .string()
    .regex(form, expected)
    .transform((given) => Number.parseInt(given, 10) * (seconds[given.at(-1) ?? ''] ?? 1))
    .pipe(number);
  return z.union([number, withUnit], {
    error: ({ input }) => (typeof input === 'number' || form.test(String(input)) ? message : expected),
  });
}

const ttl = (what: string, most: number, example: string) =>
  optional(lifetime(most), `How long ${what} holds, such as ${example}.`, example);

const flag = (what: string, example = true) => optional(z.boolean(), what, example);

/** A list without repetitions. */
const listOnce = (item: z.ZodType) =>
  z
    .array(item)
    .refine((list) => new Set(list).size === list.length, 'must not contain a value twice')
    .meta(uniqueItems);

const algorithms = (...families: string[]) =>
  z.enum(families.flatMap((family) => [256, 384, 512].map((size) => `${family}${size}`)));

const uri = z
  .string()
  .max(255, 'must not be longer than 255 characters')
  .regex(/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#][^\s#]*$/i, 'must have a scheme and a host, and no "#"');

const resource = z
  .string()
  .regex(/^[a-z][a-z0-9+.-]*:[^\s#]+$/i, 'must be a URI with a scheme, and without "#"');

/** The server takes and shows texts. */
const size = z.union([z.string(), z.int().transform(String)]);

const keyPairType = z.union(
  [
    z.strictObject({
      type: z.literal('rsa').meta({ description: 'The type of the key.', examples: ['rsa'] }),
      modulus_size: size.meta({ description: 'The bits of the modulus.', examples: ['2048'] }),
      exponent_size: size.meta({ description: 'The public exponent.', examples: ['65537'] }),
    }),
    z.strictObject({
      type: z.literal('ec').meta({ description: 'The type of the key.', examples: ['ec'] }),
      curve: z.enum(['P-256', 'P-384']).meta({ description: 'The curve of the key.', examples: ['P-256'] }),
    }),
  ],
  { error: 'expected {type: rsa, modulus_size, exponent_size} or {type: ec, curve}' },
);

/** The fields that only Boruta has. */
const shape = () => ({
  name: nullish(text(), 'The name that people see.', 'Web shop'),
  secret: optional(
    text(),
    "The client's secret. Use a variable. Without it, the server makes one for a new client.",
    '${IDOPS_SHOP_SECRET}',
  ),
  identity_provider: optional(
    reference('identity provider', 'Customers'),
    'The identity provider that users log in at, by name or id. A new client needs one.',
    'Customers',
  ),
  redirect_uris: optional(z.array(uri), 'Where logins may lead back to.', ['https://shop.example.com/login']),
  supported_grant_types: optional(listOnce(z.enum(grantTypes)), 'The grants that the client may use.', [
    'authorization_code',
    'refresh_token',
  ]),
  authorized_scopes: optional(
    referenceSet('scope', 'billing:read'),
    'The scopes that the client may get: a list of all, or {add, remove}.',
    ['billing:read'],
  ),
  authorize_scope: flag('Whether the client gets only its authorized scopes.'),
  access_token_ttl: ttl('an access token', day, '1h'),
  id_token_ttl: ttl('an ID token', day, '1h'),
  refresh_token_ttl: ttl('a refresh token', month, '30d'),
  authorization_code_ttl: ttl('an authorization code', 600, '1m'),
  authorization_request_ttl: ttl('a pushed authorization request', 300, '1m'),
  agent_token_ttl: ttl('an agent token', month, '30d'),
  confidential: flag('Whether the client must authenticate.'),
  pkce: flag('Whether the client must use PKCE.'),
  enforce_dpop: flag('Whether tokens must be bound by DPoP.'),
  enforce_tx_code: flag('Whether a pre-authorized code needs a transaction code.'),
  public_refresh_token: flag('Whether tokens can be refreshed without the secret.', false),
  public_revoke: flag('Whether tokens can be revoked without the secret.', false),
  public_client_id: nullish(
    text(),
    'The id by which a public client calls itself.',
    'https://wallet.example',
  ),
  check_public_client_id: flag('Whether public_client_id is checked.'),
  token_endpoint_auth_methods: optional(
    listOnce(z.enum(authMethods)),
    'How the client authenticates at the token endpoint.',
    ['private_key_jwt'],
  ),
  token_endpoint_jwt_auth_alg: optional(
    algorithms('RS', 'HS'),
    "The algorithm of the client's assertions.",
    'RS256',
  ),
  jwt_public_key: nullish(text(), "The public key of the client's assertions, in PEM form.", {
    file: 'keys/shop.pub.pem',
  }),
  jwks_uri: nullish(text(), "Where the client's keys are.", 'https://shop.example.com/jwks.json'),
  key_pair_type: optional(
    keyPairType,
    "The type of the client's key. An existing client keeps its key until its key pair is regenerated.",
    { type: 'ec', curve: 'P-256' },
  ),
  key_pair_id: optional(
    z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be a UUID in lower case'),
    'The id of the key pair whose key a new client gets. Only the creation sends it.',
    UUID,
  ),
  id_token_signature_alg: optional(
    algorithms('RS', 'ES', 'HS'),
    'The algorithm that signs ID tokens. RS needs an RSA key, ES an EC key.',
    'RS256',
  ),
  userinfo_signed_response_alg: nullish(
    algorithms('RS', 'ES', 'HS'),
    'The algorithm that signs userinfo; null leaves it unsigned.',
    'RS256',
  ),
  response_mode: optional(z.enum(['direct_post', 'post']), 'How presentations are answered.', 'direct_post'),
  trusted_authorities: optional(text(), 'The authorities whose credentials are trusted.', ''),
  trusted_hosts: optional(z.array(z.string()), 'The hosts whose requests are trusted.', ['shop.example.com']),
  authorized_resources: optional(z.array(resource), 'The resources that tokens may be issued for.', [
    'https://api.example.com',
  ]),
  logo_uri: nullish(text(), "Where the client's logo is.", 'https://shop.example.com/logo.svg'),
  metadata: optional(anyObject, 'Anything else about the client, as JSON; the whole object.', {
    contact: 'shop@example.com',
  }),
});

export const clientSchema = lazy(() => {
  const fields = shape();
  return document(
    'Client',
    'An application that gets tokens. Under the profile documented, only its DID can be regenerated.',
    {
      id: identifier().meta({ description: 'The id of the client.', examples: [UUID] }),
      did_generation: counter('regenerate the DID'),
      ...fields,
      ...lifecycle('client'),
    },
    noFieldsIfAbsent(['did_generation', ...Object.keys(fields)]),
  );
});
