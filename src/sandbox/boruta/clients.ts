import { createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import type { SandboxClient, SandboxData } from '../data.js';
import { didOfKey } from '../did.js';
import type { Answer } from '../http.js';
import { isObject, type JsonObject } from '../json.js';
import { crash, noRow, notCastable, noUuid, nul, ok, unprocessable } from './answers.js';
import { clientErrors, clientFields } from './client-fields.js';
import { newKey } from './key-pairs.js';
import { findById } from './operation.js';
import { onRow, type Resource } from './resource.js';
import { withoutLabel } from './roles.js';
import { hasNul, isBlank, readUuid } from './texts.js';

/** Clients, with their secrets. A PATCH names its identity provider and key pair last, after all else was written. */
export const clients: Resource<SandboxClient> = {
  path: '/api/clients',
  rows: (data) => data.clients,
  show: (_operation, client) => presentClient(client),
  missing: () => noRow('Client'),
  fields: clientFields,
  takesId: 'refuse',
  // The admin panel's own client. The comparison is case-sensitive, so its id in upper case passes.
  isProtected: ({ sentId, adminClientId }) => sentId === adminClientId,
  async begin({ token }, client, sent) {
    const { identity_provider: provider = null } = sent;
    if (provider !== null && !isObject(provider))
      return crash('(FunctionClauseError) no function clause matching in Access.get/3', token);
    // In a POST, null is the default of these.
    for (const [name, value] of Object.entries(sent))
      if (client === undefined && /_ttl$/.test(name) && (value === null || value === '')) delete sent[name];
    return undefined;
  },
  check: (draft, sent, client) => clientErrors(sent, draft.key_pair_type?.type, client),
  complete({ data, token }, draft, sent) {
    if (isObject(sent.jwk)) {
      const key = keyOf(sent.jwk);
      if (key === undefined) return crash('(FunctionClauseError) in JOSE.JWK.from_record/1', token);
      draft.jwt_public_key = key;
    }
    const isNew = findById(data.clients, draft.id) === undefined;
    return (
      (isNew ? make(data, draft, sent, token) : undefined) ??
      fillScopes(data, draft, sent.authorized_scopes, token)
    );
  },
  async finish({ data, work }, client, sent, before) {
    const { identity_provider, key_pair_id } = sent;
    if (before === undefined || (idOf(identity_provider) ?? key_pair_id ?? null) === null) return undefined;
    return await work.write(() => useProvider(data, client, sent) ?? useKeyPair(data, client, sent));
  },
};

/** What a new client needs. */
function make(data: SandboxData, draft: SandboxClient, sent: JsonObject, token: string): Answer | undefined {
  const key = newKey(draft.key_pair_type);
  if (key === undefined) return crash('(FunctionClauseError) in :jose_jwk_kty_ec.generate_key/1', token);
  draft.public_key = key;
  draft.did = null;
  draft.secret ??= randomBytes(64).toString('base64url');
  return idOf(sent.identity_provider) === undefined
    ? unprocessable({ identity_provider_id: ["can't be blank"] })
    : (useProvider(data, draft, sent) ?? useKeyPair(data, draft, sent));
}

function idOf(sent: unknown): unknown {
  return isObject(sent) ? (sent.id ?? undefined) : undefined;
}

/** Gives a client the identity provider that was sent, with its present name. */
function useProvider(data: SandboxData, client: SandboxClient, sent: JsonObject): Answer | undefined {
  const id = idOf(sent.identity_provider);
  if (id === undefined) return undefined;
  if (readUuid(id) === null) return unprocessable({ identity_provider_id: ['has invalid format'] });
  const provider = findById(data.identityProviders, readUuid(id) ?? undefined);
  if (provider === undefined) return unprocessable({ identity_provider_id: ['does not exist'] });
  client.identity_provider = { id: provider.id, name: provider.name };
  return undefined;
}

/** Copies the key of the key pair that was sent; a client that has it already gets a new key. */
function useKeyPair({ keyPairs }: SandboxData, client: SandboxClient, sent: JsonObject): Answer | undefined {
  const { key_pair_id: id = null } = sent;
  if (id === null) return undefined;
  if (readUuid(id) === null) return noUuid(String(id));
  const keyPair = findById(keyPairs, readUuid(id) ?? undefined);
  if (keyPair === undefined) return noRow('KeyPair');
  const { public_key: key } = keyPair;
  client.public_key = (client.public_key === key ? newKey(client.key_pair_type) : key) ?? '';
  return undefined;
}

/** Replaces all scopes. An unknown name creates a scope; an unknown id, or a name with a space, is dropped. */
function fillScopes(data: SandboxData, draft: SandboxClient, sent: unknown, token: string) {
  const elements: unknown = sent ?? [];
  if (!Array.isArray(elements) && !isObject(elements))
    return crash('(Protocol.UndefinedError) Enumerable not implemented', token);
  const list: unknown[] = Array.isArray(elements) ? elements : [];
  const wrong = list.find((one) => !isObject(one));
  if (wrong !== undefined) return notCastable(wrong);
  if (hasNul(list)) return nul();
  const found = list.filter(isObject).flatMap(({ id = null, name }) => {
    if (id !== null) return findById(data.scopes, readUuid(id) ?? undefined) ?? [];
    if (typeof name !== 'string' || isBlank(name)) return [];
    const known = data.scopes.find((scope) => scope.name === name);
    if (known !== undefined || /\s/.test(name)) return known ?? [];
    const made = { id: randomUUID(), name, label: null, public: false };
    data.scopes.push(made);
    return made;
  });
  draft.authorized_scopes = [...new Set(found)].map(withoutLabel);
  return undefined;
}

function keyOf(jwk: JsonObject): string | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    return undefined;
  }
}

/** A client with its secret, without what is only written. */
function presentClient(client: SandboxClient): object {
  const shown = Object.entries(client).filter(([name]) => clientFields[name]?.writeOnly !== true);
  return { trusted_authorities: '', trusted_hosts: [], ...Object.fromEntries(shown) };
}

/** The DID is derived from the client's key, so it stays the same as long as the key does. */
export const regenerateDid = onRow({ ...clients, isProtected: () => false }, async ({ work }, client) => {
  await work.write(() => {
    client.did = didOfKey(client.public_key);
  });
  return ok(presentClient(client));
});

/** A new key of the client's type. The DID stays that of the old one. */
export const regenerateKeyPair = onRow(clients, async ({ work, token }, client) => {
  const key = newKey(client.key_pair_type);
  if (key === undefined) return crash('(FunctionClauseError) in :jose_jwk_kty_ec.generate_key/1', token);
  await work.write(() => {
    client.public_key = key;
  });
  return ok(presentClient(client));
});
