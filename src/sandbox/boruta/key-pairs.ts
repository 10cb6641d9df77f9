import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { SandboxData, SandboxKeyPair } from '../data.js';
import type { Answer } from '../http.js';
import { isObject } from '../json.js';
import { crash, noRow, notCastable, ok, unprocessable } from './answers.js';
import { readFlag } from './fields.js';
import { findById, type Operation } from './operation.js';

// The server holds no lock between reading the present default and writing the new one.
const raceWindowMs = 15;

/** PATCH: only `is_default` can change. */
export async function updateKeyPair({ data, work, params, resource, token }: Operation): Promise<Answer> {
  const [id] = params;
  const found = await work.read(() => ({
    keyPair: findById(data.keyPairs, id),
    defaults: data.keyPairs.filter((candidate) => candidate.is_default === true),
  }));
  const { keyPair, defaults } = found;
  if (keyPair === undefined) return noRow('KeyPair');
  if (!isObject(resource)) return notCastable(resource);
  const { is_default: sent } = resource;
  const asked = sent === undefined || sent === null ? sent : readFlag(sent);
  if (asked === undefined && sent !== undefined) return unprocessable({ is_default: ['is invalid'] });
  if (asked === undefined || asked === keyPair.is_default) return ok(keyPair);
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

// The server creates a default if there is none, and replaces it right away.
function moveDefault(data: SandboxData, previous: SandboxKeyPair | undefined): void {
  if (previous === undefined) data.keyPairs.push(newKeyPair());
  else previous.is_default = false;
}

function newKeyPair(): SandboxKeyPair {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  return { id: randomUUID(), public_key: pem.toString(), is_default: false };
}
