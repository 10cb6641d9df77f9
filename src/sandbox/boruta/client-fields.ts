import type { SandboxClient } from '../data.js';
import { isObject, type JsonObject } from '../json.js';
import {
  type Errors,
  type Field,
  type Fields,
  flag,
  Invalid,
  integer,
  isBlank,
  oneOf,
  text,
} from './fields.js';

const day = 86_400;
const month = 30 * day;
const grantTypes = [
  ...['client_credentials', 'password', 'authorization_code', 'agent_code', 'refresh_token', 'implicit'],
  ...['revoke', 'introspect', 'id_token', 'vp_token', 'preauthorized_code', 'agent_credentials'],
];
const authMethods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt'];
const sizes = (...families: string[]): string[] =>
  families.flatMap((family) => [256, 384, 512].map((size) => `${family}${size}`));
const adapter = 'Elixir.Boruta.Internal.Signatures';

const ttl = (initial: number, most: number): Field => ({
  ...integer(initial, 1, most),
  onNull: new Invalid("can't be blank"),
  blankIsNull: true,
});

/** A list of strings. */
function listOfTexts(
  initial: readonly string[],
  onNull: Field['onNull'],
  check: (values: string[]) => string[] | Invalid = (values) => values,
): Field {
  return {
    initial,
    onNull,
    read: (sent) =>
      Array.isArray(sent) && sent.every((one) => typeof one === 'string') ? check(sent) : undefined,
  };
}

const checkUris =
  (pattern: RegExp) =>
  (uris: string[]): string[] | Invalid => {
    const nonBlank = uris.filter((uri) => !isBlank(uri));
    const invalid = nonBlank.find((uri) => !pattern.test(uri));
    return invalid === undefined ? nonBlank : new Invalid(`\`${invalid}\` is invalid`);
  };

function checkGrants(grants: string[]): string[] | Invalid {
  const isValid = grants.every((one) => grantTypes.includes(one)) && new Set(grants).size === grants.length;
  return isValid ? grants : new Invalid(`must be part of ${grantTypes.join(', ')}`);
}

const writeOnly = (field: Field): Field => ({ ...field, writeOnly: true });
const unlimitedText: Field = { ...text, unlimited: true };

/** The fields of a client, without its scopes, its identity provider and generated values. */
export const clientFields: Fields = {
  name: text,
  public_client_id: text,
  check_public_client_id: flag(false),
  secret: text,
  confidential: flag(false),
  redirect_uris: listOfTexts([], 'crash', checkUris(/^[a-z][a-z0-9+.-]*:\/\/[^#]*$/i)),
  public_refresh_token: flag(false),
  public_revoke: flag(false),
  authorize_scope: flag(false, 'store'),
  enforce_dpop: flag(false, 'store'),
  enforce_tx_code: flag(false),
  access_token_ttl: ttl(day, day),
  authorization_code_ttl: ttl(600, 600),
  authorization_request_ttl: integer(300),
  refresh_token_ttl: ttl(month, month),
  id_token_ttl: ttl(day, day),
  agent_token_ttl: writeOnly(ttl(month, month)),
  pkce: flag(false, 'store'),
  key_pair_type: {
    initial: { type: 'rsa', modulus_size: '2048', exponent_size: '65537' },
    onNull: new Invalid("can't be blank"),
    read: (sent) => (isObject(sent) ? (keyError(sent) ?? sent) : undefined),
  },
  signatures_adapter: oneOf([adapter], adapter, 'crash'),
  supported_grant_types: listOfTexts(['client_credentials', 'authorization_code'], 'store', checkGrants),
  id_token_signature_alg: { ...text, initial: 'RS512' },
  userinfo_signed_response_alg: text,
  token_endpoint_jwt_auth_alg: oneOf(sizes('RS', 'HS'), 'HS256', 'crash'),
  token_endpoint_auth_methods: listOfTexts(authMethods.slice(0, 2), 'crash', (methods) =>
    methods.every((one) => authMethods.includes(one)) ? methods : new Invalid('has an invalid entry'),
  ),
  jwt_public_key: unlimitedText,
  response_mode: oneOf(['direct_post', 'post'], 'direct_post', 'store'),
  trusted_authorities: { ...text, initial: '', onNull: new Invalid("can't be nil") },
  trusted_hosts: listOfTexts([], new Invalid("can't be nil")),
  authorized_resources: writeOnly(listOfTexts([], 'crash', checkUris(/^[a-z][a-z0-9+.-]*:[^\s#]+$/i))),
  metadata: writeOnly({ initial: {}, onNull: 'crash', read: readObject }),
  logo_uri: writeOnly(text),
  jwks_uri: writeOnly(text),
  id_token_kid: writeOnly(text),
  jwk: writeOnly({ initial: null, onNull: 'store', read: readObject }),
};

function readObject(sent: unknown): JsonObject | undefined {
  return isObject(sent) ? sent : undefined;
}

function keyError({ type, modulus_size, exponent_size, curve }: JsonObject): Invalid | undefined {
  if (type === 'universal') return undefined;
  if (type === 'ec') return typeof curve === 'string' ? undefined : new Invalid('ec curve is required');
  if (type !== 'rsa')
    return new Invalid('validation failed: #/type do match required pattern /^ec|rsa|universal$/.');
  return typeof modulus_size === 'string' && typeof exponent_size === 'string'
    ? undefined
    : new Invalid('rsa modulus_size is required');
}

/** Errors of values that POST and PATCH check differently, or that depend on the key type. */
export function clientErrors(sent: JsonObject, keyType: unknown, current: SandboxClient | undefined) {
  const errors: Errors = {};
  const isNew = current === undefined;
  const algorithms = keyType === 'ec' ? sizes('ES', 'HS') : sizes('RS', 'HS');
  for (const name of ['id_token_signature_alg', 'userinfo_signed_response_alg']) {
    const algorithm = sent[name];
    if (typeof algorithm === 'string' && !isBlank(algorithm) && !algorithms.includes(algorithm))
      errors[name] = ['is invalid'];
  }
  const lifetime = sent.authorization_request_ttl;
  if (isNew && lifetime !== undefined && !(Number(lifetime) >= 1 && Number(lifetime) <= 300))
    errors.authorization_request_ttl = ['is invalid'];
  // A PATCH checks access_token_ttl against the limit of authorization_request_ttl.
  const token = sent.access_token_ttl ?? current?.access_token_ttl;
  if (!isNew && Number(token) !== current.access_token_ttl && !(Number(token) <= 300))
    errors.access_token_ttl = ['is invalid'];
  if (isNew && sent.redirect_uris === null) errors.redirect_uris = ["can't be blank"];
  return errors;
}
