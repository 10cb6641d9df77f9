import { createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import type { SandboxClient, SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import { isObject, type JsonObject } from '../json.js';
import { didOfKey } from '../seed.js';
import { crash, notCastable, notUuid, nulRefused, ok, rowNotFound, unprocessable } from './answers.js';
import { clientErrors, clientFields } from './client-fields.js';
import { hasNul, isBlank, readUuid } from './fields.js';
import { newKey } from './key-pairs.js';
import { findById } from './operation.js';
import { onRow, type Resource } from './resource.js';
import { withoutLabel } from './roles.js';

/** Clients, with their secrets. A PATCH sets the identity provider and the key pair last, in their own transaction. */
export const clients: Resource<SandboxClient> = {
  path: '/api/clients',
  rows: (data) => data.clients,
  show: (_operation, client) => presentClient(client),
  onMissing: () => rowNotFound('Client'),
  fields: clientFields,
  onInvalidId: 'refuse',
  // The admin panel's client. The comparison is case-sensitive, so its id in upper case bypasses it.
  isProtected: ({ sentId, adminClientId }) => sentId === adminClientId,
  async beforeValidation({ token }, client, sent) {
    const { identity_provider: provider = null } = sent;
    if (provider !== null && !isObject(provider))
      return crash('(FunctionClauseError) no function clause matching in Access.get/3', token);
    // In a POST, null means the default lifetime.
    for (const [name, value] of Object.entries(sent))
      if (client === undefined && /_ttl$/.test(name) && (value === null || value === '')) delete sent[name];
    return undefined;
  },
  validate: (draft, sent, client) => clientErrors(sent, draft.key_pair_type?.type, client),
  beforeWrite({ data, token }, draft, sent) {
    if (isObject(sent.jwk)) {
      const key = pemOfJwk(sent.jwk);
      if (key === undefined) return crash('(FunctionClauseError) in JOSE.JWK.from_record/1', token);
      draft.jwt_public_key = key;
    }
    const isNew = findById(data.clients, draft.id) === undefined;
    return (
      (isNew ? prepareNewClient(data, draft, sent, token) : undefined) ??
      fillScopes(data, draft, sent.authorized_scopes, token)
    );
  },
  async afterRow({ data, work }, client, sent, before) {
    const { identity_provider, key_pair_id } = sent;
    if (before === undefined || (idOf(identity_provider) ?? key_pair_id ?? null) === null) return undefined;
    return await work.write(() => setProvider(data, client, sent) ?? setKeyPair(data, client, sent));
  },
};

/** Sets what a new client needs. */
function prepareNewClient(
  data: SandboxData,
  draft: SandboxClient,
  sent: JsonObject,
  token: string,
): Answer | undefined {
  const key = newKey(draft.key_pair_type);
  if (key === undefined) return crash('(FunctionClauseError) in :jose_jwk_kty_ec.generate_key/1', token);
  draft.public_key = key;
  draft.did = null;
  draft.secret ??= randomBytes(64).toString('base64url');
  return idOf(sent.identity_provider) === undefined
    ? unprocessable({ identity_provider_id: ["can't be blank"] })
    : (setProvider(data, draft, sent) ?? setKeyPair(data, draft, sent));
}

function idOf(sent: unknown): unknown {
  return isObject(sent) ? (sent.id ?? undefined) : undefined;
}

/** Sets the identity provider that the request names. */
function setProvider(data: SandboxData, client: SandboxClient, sent: JsonObject): Answer | undefined {
  const id = idOf(sent.identity_provider);
  if (id === undefined) return undefined;
  if (readUuid(id) === null) return unprocessable({ identity_provider_id: ['has invalid format'] });
  const provider = findById(data.identityProviders, readUuid(id) ?? undefined);
  if (provider === undefined) return unprocessable({ identity_provider_id: ['does not exist'] });
  client.identity_provider = { id: provider.id, name: provider.name };
  return undefined;
}

/** Copies the key of the key pair that the request names; a client that already has this key gets a new one. */
function setKeyPair({ keyPairs }: SandboxData, client: SandboxClient, sent: JsonObject): Answer | undefined {
  const { key_pair_id: id = null } = sent;
  if (id === null) return undefined;
  if (readUuid(id) === null) return notUuid(String(id));
  const keyPair = findById(keyPairs, readUuid(id) ?? undefined);
  if (keyPair === undefined) return rowNotFound('KeyPair');
  const { public_key: key } = keyPair;
  client.public_key = (client.public_key === key ? newKey(client.key_pair_type) : key) ?? '';
  return undefined;
}

/** Replaces all scopes. An unknown name creates a scope; an unknown id, or a name with a space, is ignored. */
function fillScopes(data: SandboxData, draft: SandboxClient, sent: unknown, token: string) {
  const elements: unknown = sent ?? [];
  if (!Array.isArray(elements) && !isObject(elements))
    return crash('(Protocol.UndefinedError) Enumerable not implemented', token);
  const list: unknown[] = Array.isArray(elements) ? elements : [];
  const invalid = list.find((one) => !isObject(one));
  if (invalid !== undefined) return notCastable(invalid);
  if (hasNul(list)) return nulRefused();
  const found = list.filter(isObject).flatMap(({ id = null, name }) => {
    if (id !== null) return findById(data.scopes, readUuid(id) ?? undefined) ?? [];
    if (typeof name !== 'string' || isBlank(name)) return [];
    const known = data.scopes.find((scope) => scope.name === name);
    if (known !== undefined || /\s/.test(name)) return known ?? [];
    const created = { id: randomUUID(), name, label: null, public: false };
    data.scopes.push(created);
    return created;
  });
  draft.authorized_scopes = [...new Set(found)].map(withoutLabel);
  return undefined;
}

function pemOfJwk(jwk: JsonObject): string | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    return undefined;
  }
}

/** A client as answers show it: with its secret, without write-only fields. */
function presentClient(client: SandboxClient): object {
  const visible = Object.entries(client).filter(([name]) => clientFields[name]?.writeOnly !== true);
  return { trusted_authorities: '', trusted_hosts: [], ...Object.fromEntries(visible) };
}

/** POST of regenerate_did. The DID is derived from the client's key, so without a new key it stays the same. */
export const regenerateDid = onRow({ ...clients, isProtected: () => false }, async ({ work }, client) => {
  await work.write(() => {
    client.did = didOfKey(client.public_key);
  });
  return ok(presentClient(client));
});

/** POST of regenerate_key_pair, which keeps the DID of the old key. */
export const regenerateKeyPair = onRow(clients, async ({ work, token }, client) => {
  const key = newKey(client.key_pair_type);
  if (key === undefined) return crash('(FunctionClauseError) in :jose_jwk_kty_ec.generate_key/1', token);
  await work.write(() => {
    client.public_key = key;
  });
  return ok(presentClient(client));
});
