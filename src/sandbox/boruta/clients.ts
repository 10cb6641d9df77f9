import { createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import { findById, type SandboxClient, type SandboxData } from '../data.js';
import { isObject, type JsonObject } from '../json.js';
import { didOfKey } from '../seed.js';
import { Crash, notCastable, notUuid, nulRefused, ok, rowNotFound, unprocessable } from './answers.js';
import { clientErrors, clientFields } from './client-fields.js';
import { hasNul, isBlank, readUuid } from './fields.js';
import { newKey } from './key-pairs.js';
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
  async beforeValidation(_operation, client, sent) {
    const { identity_provider: provider = null } = sent;
    if (provider !== null && !isObject(provider))
      throw new Crash('(FunctionClauseError) no function clause matching in Access.get/3');
    // In a POST, null means the default lifetime.
    for (const [name, value] of Object.entries(sent))
      if (client === undefined && /_ttl$/.test(name) && (value === null || value === '')) delete sent[name];
  },
  validate: (draft, sent, client) => clientErrors(sent, draft.key_pair_type?.type, client),
  beforeWrite({ data }, draft, sent) {
    if (isObject(sent.jwk)) draft.jwt_public_key = pemOfJwk(sent.jwk);
    if (findById(data.clients, draft.id) === undefined) prepareNewClient(data, draft, sent);
    fillScopes(data, draft, sent.authorized_scopes);
  },
  async afterRow({ data, work }, client, sent, before) {
    const { identity_provider, key_pair_id } = sent;
    if (before === undefined || (idOf(identity_provider) ?? key_pair_id ?? null) === null) return;
    await work.write(() => {
      setProvider(data, client, sent);
      setKeyPair(data, client, sent);
    });
  },
};

/** Sets what a new client needs. */
function prepareNewClient(data: SandboxData, draft: SandboxClient, sent: JsonObject): void {
  draft.public_key = newKey(draft.key_pair_type);
  draft.did = null;
  draft.secret ??= randomBytes(64).toString('base64url');
  if (idOf(sent.identity_provider) === undefined)
    throw unprocessable({ identity_provider_id: ["can't be blank"] });
  setProvider(data, draft, sent);
  setKeyPair(data, draft, sent);
}

function idOf(sent: unknown): unknown {
  return isObject(sent) ? (sent.id ?? undefined) : undefined;
}

/** Sets the identity provider that the request names. */
function setProvider(data: SandboxData, client: SandboxClient, sent: JsonObject): void {
  const id = idOf(sent.identity_provider);
  if (id === undefined) return;
  if (readUuid(id) === null) throw unprocessable({ identity_provider_id: ['has invalid format'] });
  const provider = findById(data.identityProviders, readUuid(id));
  if (provider === undefined) throw unprocessable({ identity_provider_id: ['does not exist'] });
  client.identity_provider = { id: provider.id, name: provider.name };
}

/** Copies the key of the key pair that the request names; a client that already has this key gets a new one. */
function setKeyPair({ keyPairs }: SandboxData, client: SandboxClient, sent: JsonObject): void {
  const { key_pair_id: id = null } = sent;
  if (id === null) return;
  if (readUuid(id) === null) throw notUuid(String(id));
  const keyPair = findById(keyPairs, readUuid(id));
  if (keyPair === undefined) throw rowNotFound('KeyPair');
  const { public_key: key } = keyPair;
  client.public_key = (client.public_key === key ? newKey(client.key_pair_type) : key) ?? '';
}

/** Replaces all scopes. An unknown name creates a scope; an unknown id, or a name with a space, is ignored. */
function fillScopes(data: SandboxData, draft: SandboxClient, sent: unknown): void {
  const elements: unknown = sent ?? [];
  if (!Array.isArray(elements) && !isObject(elements))
    throw new Crash('(Protocol.UndefinedError) Enumerable not implemented');
  const list: unknown[] = Array.isArray(elements) ? elements : [];
  const invalid = list.find((one) => !isObject(one));
  if (invalid !== undefined) throw notCastable(invalid);
  if (hasNul(list)) throw nulRefused();
  const found = list.filter(isObject).flatMap(({ id = null, name }) => {
    if (id !== null) return findById(data.scopes, readUuid(id)) ?? [];
    if (typeof name !== 'string' || isBlank(name)) return [];
    const known = data.scopes.find((scope) => scope.name === name);
    if (known !== undefined || /\s/.test(name)) return known ?? [];
    const created = { id: randomUUID(), name, label: null, public: false };
    data.scopes.push(created);
    return created;
  });
  draft.authorized_scopes = [...new Set(found)].map(withoutLabel);
}

function pemOfJwk(jwk: JsonObject): string {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    throw new Crash('(FunctionClauseError) in JOSE.JWK.from_record/1');
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
export const regenerateKeyPair = onRow(clients, async ({ work }, client) => {
  const key = newKey(client.key_pair_type);
  await work.write(() => {
    client.public_key = key;
  });
  return ok(presentClient(client));
});
