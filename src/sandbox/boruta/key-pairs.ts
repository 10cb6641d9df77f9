import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { SandboxData, SandboxKeyPair } from '../data.js';
import type { Answer } from '../http.js';
import { isObject } from '../json.js';
import { crash, noRow, notCastable, ok, unprocessable } from './answers.js';
import { findById, type Operation } from './operation.js';
import { isBlank } from './texts.js';

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
  const asked = readFlag(resource.is_default);
  if (asked === 'neither') return unprocessable({ is_default: ['is invalid'] });
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

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  ['1', true],
  [false, false],
  ['false', false],
  ['0', false],
]);

/** A boolean, also as text; an empty text is null. */
function readFlag(sent: unknown): boolean | null | undefined | 'neither' {
  if (sent === undefined || sent === null) return sent;
  return flags.get(sent) ?? (typeof sent === 'string' && isBlank(sent) ? null : 'neither');
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
