import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { SandboxKeyPair } from '../data.js';
import type { Answer } from '../http.js';
import { crash, notFound, ok, unprocessable } from './answers.js';
import { findById, type Operation } from './operation.js';

// Between reading the present default and writing the new one the server has no lock.
const raceWindowMs = 15;

/** GET of all. */
export function listKeyPairs({ data }: Operation): Answer {
  return ok(data.keyPairs);
}

/** GET of one. */
export function showKeyPair({ data, params: [id] }: Operation): Answer {
  const keyPair = findById(data.keyPairs, id);
  return keyPair === undefined ? notFound() : ok(keyPair);
}

/** PATCH: only `is_default` can change. */
export async function updateKeyPair({ data, params: [id], resource, token }: Operation): Promise<Answer> {
  const keyPair = findById(data.keyPairs, id);
  if (keyPair === undefined) return notFound();
  const asked = resource.is_default;
  if (asked === undefined) return ok(keyPair);
  if (asked !== null && typeof asked !== 'boolean') return unprocessable({ is_default: ['is invalid'] });
  if (asked !== true) {
    keyPair.is_default = asked;
    return ok(keyPair);
  }
  const defaults = data.keyPairs.filter((candidate) => candidate.is_default === true);
  if (defaults.length > 1) {
    return crash('(Ecto.MultipleResultsError) expected at most one result but got 2', token);
  }
  await wait(raceWindowMs);
  const [previous] = defaults;
  if (previous === undefined) {
    // Looking for the default makes one if there is none; it loses the place at once.
    data.keyPairs.push(newKeyPair());
  } else previous.is_default = false;
  keyPair.is_default = true;
  return ok(keyPair);
}

function newKeyPair(): SandboxKeyPair {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  return { id: randomUUID(), public_key: pem.toString(), is_default: false };
}
