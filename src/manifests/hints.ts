import { kinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { knownFields } from '../source/check.js';
import type { Path } from '../source/tree.js';

/** What the server answers with a client beside its id; no operation takes any of it. */
const clientAnswers = new Set([
  'public_client_id',
  'check_public_client_id',
  'name',
  'secret',
  'confidential',
  'redirect_uris',
  'public_refresh_token',
  'public_revoke',
  'authorize_scope',
  'enforce_dpop',
  'enforce_tx_code',
  'access_token_ttl',
  'authorization_code_ttl',
  'authorization_request_ttl',
  'refresh_token_ttl',
  'id_token_ttl',
  'pkce',
  'public_key',
  'key_pair_type',
  'signatures_adapter',
  'did',
  'identity_provider',
  'authorized_scopes',
  'supported_grant_types',
  'id_token_signature_alg',
  'userinfo_signed_response_alg',
  'token_endpoint_jwt_auth_alg',
  'token_endpoint_auth_methods',
  'jwt_public_key',
  'response_mode',
]);

/** What to say about a field that the kind doesn't have, where it is known from elsewhere. */
export function fieldHint(kind: Kind, field: string, path: Path): string | undefined {
  if (path.length > 0) return undefined;
  if (kind.name === 'Client' && clientAnswers.has(field)) {
    return `the server answers with "${field}", but no operation changes it`;
  }
  const others = kinds.filter((other) => other !== kind && knownFields(other.schema, []).includes(field));
  if (others.length === 0) return undefined;
  return `"${field}" is a field of ${others.map(({ name }) => name).join(' and ')}`;
}
