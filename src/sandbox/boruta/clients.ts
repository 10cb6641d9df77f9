import { didOfKey } from '../did.js';
import type { Answer } from '../http.js';
import { noRow, ok } from './answers.js';
import { presentClient } from './catalogue.js';
import { findById, type Operation } from './operation.js';

/** The DID is derived from the client's key, so it stays the same as long as the key does. */
export async function regenerateDid({ data, work, params: [id] }: Operation): Promise<Answer> {
  const client = await work.read(() => findById(data.clients, id));
  if (client === undefined) return noRow('Client');
  await work.write(() => {
    client.did = didOfKey(client.public_key);
  });
  return ok(presentClient(client));
}
