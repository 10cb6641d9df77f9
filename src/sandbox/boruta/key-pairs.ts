import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { SandboxKeyPair } from '../data.js';
import type { Answer } from '../http.js';
import { isObject } from '../json.js';
import { Crash, notCastable, ok, rowNotFound, severalDefaults, unprocessable } from './answers.js';
import { readFlag } from './fields.js';
import type { Operation } from './operation.js';
import { type Deletable, onRow } from './resource.js';

// The server holds no lock between reading the current default and writing the new one.
const raceWindowMs = 15;

/** Key pairs. If one is deleted, clients keep its key. */
export const keyPairs: Deletable<SandboxKeyPair> = {
  rows: (data) => data.keyPairs,
  show: (_operation, keyPair) => keyPair,
  onMissing: () => rowNotFound('KeyPair'),
  checkDeletion(_operation, { is_default }) {
    if (is_default === true) throw unprocessable({ is_default: ['Cannot delete a default key pair.'] });
  },
};

/** PATCH: only `is_default` can change. */
export const updateKeyPair = onRow(keyPairs, save);

/** POST, which generates a key. */
export async function createKeyPair(operation: Operation): Promise<Answer> {
  const keyPair = { ...newKeyPair(), is_default: null };
  const answer = await save(operation, keyPair);
  return { ...answer, status: 201, headers: { location: `/api/key-pairs/${keyPair.id}` } };
}

/** Replaces the key, also in the clients that have it. */
export const rotateKeyPair = onRow(keyPairs, ({ data, work }, keyPair) =>
  work.write(() => {
    const key = newRsaKey();
    for (const client of data.clients) if (client.public_key === keyPair.public_key) client.public_key = key;
    keyPair.public_key = key;
    return ok(keyPair);
  }),
);

async function save({ data, work, resource }: Operation, keyPair: SandboxKeyPair): Promise<Answer> {
  if (!isObject(resource)) throw notCastable(resource);
  const { is_default: sent } = resource;
  const isDefault = sent === undefined || sent === null ? sent : readFlag(sent);
  if (isDefault === undefined && sent !== undefined) throw unprocessable({ is_default: ['is invalid'] });
  const exists = data.keyPairs.includes(keyPair);
  if (exists && (isDefault === undefined || isDefault === keyPair.is_default)) return ok(keyPair);
  const defaults = await work.read(() => data.keyPairs.filter((one) => one.is_default === true));
  if (isDefault === true && defaults.length > 1) throw severalDefaults();
  if (isDefault === true) await work.pause(raceWindowMs);
  return await work.write(() => {
    const [previous] = defaults;
    // The server creates a default if there is none, and replaces it right away.
    if (isDefault === true && previous === undefined)
      data.keyPairs.push({ ...newKeyPair(), is_default: false });
    if (isDefault === true && previous !== undefined) previous.is_default = false;
    if (!exists) data.keyPairs.push(keyPair);
    keyPair.is_default = isDefault ?? null;
    return ok(keyPair);
  });
}

function newKeyPair(): { id: string; public_key: string } {
  return { id: randomUUID(), public_key: newRsaKey() };
}

/** A public RSA key with a random modulus, since finding two primes takes long. */
function newRsaKey(): string {
  const head = Buffer.from('3082010a0282010100', 'hex');
  const modulus = randomBytes(256);
  modulus[0] = (modulus[0] ?? 0) | 0x80;
  modulus[255] = (modulus[255] ?? 0) | 1;
  const der = Buffer.concat([head, modulus, Buffer.from('0203010001', 'hex')]);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN RSA PUBLIC KEY-----\n${lines.join('\n')}\n-----END RSA PUBLIC KEY-----\n\n`;
}

/** A new public key of this type. */
export function newKey({ type, curve }: { type?: unknown; curve?: unknown }): string {
  if (type === 'rsa') return newRsaKey();
  if (curve !== 'P-256' && curve !== 'P-384')
    throw new Crash('(FunctionClauseError) in :jose_jwk_kty_ec.generate_key/1');
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: curve });
  return `${publicKey.export({ type: 'spki', format: 'pem' }).toString()}\n`;
}
