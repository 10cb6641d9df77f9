import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { SandboxData, SandboxKeyPair } from '../data.js';
import type { Answer } from '../http.js';
import { crash, noRow, ok, unprocessable } from './answers.js';
import { findById, type Operation } from './operation.js';

// Between reading the present default and writing the new one the server has no lock.
const raceWindowMs = 15;

/** GET of all. */
export async function listKeyPairs({ data, work }: Operation): Promise<Answer> {
  return ok(await work.read(() => data.keyPairs));
}

/** GET of one. */
export async function showKeyPair({ data, work, params: [id] }: Operation): Promise<Answer> {
  const keyPair = await work.read(() => findById(data.keyPairs, id));
  return keyPair === undefined ? noRow('KeyPair') : ok(keyPair);
}

/** PATCH: only `is_default` can change. */
export async function updateKeyPair(operation: Operation): Promise<Answer> {
  const { data, work, params, resource, token } = operation;
  const [id] = params;
  const found = await work.read(() => ({
    keyPair: findById(data.keyPairs, id),
    defaults: data.keyPairs.filter((candidate) => candidate.is_default === true),
  }));
  const { keyPair, defaults } = found;
  if (keyPair === undefined) return noRow('KeyPair');
  const asked = readFlag(resource.is_default);
  if (asked === undefined) return ok(keyPair);
  if (asked === 'neither') return unprocessable({ is_default: ['is invalid'] });
  if (asked === true && defaults.length > 1) {
    return crash('(Ecto.MultipleResultsError) expected at most one result but got 2', token);
  }
  if (asked === true) await work.pause(raceWindowMs);
  return await work.write(() => {
    if (asked === true) moveDefault(data, defaults[0]);
    keyPair.is_default = asked;
    return ok(keyPair);
  });
}

/** A flag, also one that is written as text. */
function readFlag(sent: unknown): boolean | null | undefined | 'neither' {
  if (sent === 'true' || sent === 'false') return sent === 'true';
  return sent === undefined || sent === null || typeof sent === 'boolean' ? sent : 'neither';
}

// Looking for the default makes one if there is none; it loses the place at once.
function moveDefault(data: SandboxData, previous: SandboxKeyPair | undefined): void {
  if (previous === undefined) data.keyPairs.push(newKeyPair());
  else previous.is_default = false;
}

function newKeyPair(): SandboxKeyPair {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  return { id: randomUUID(), public_key: pem.toString(), is_default: false };
}
