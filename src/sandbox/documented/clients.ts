import { freshDid } from '../did.js';
import type { Answer } from '../http.js';
import { notFound, ok } from './answers.js';
import type { Operation } from './operation.js';

/** Operation 1, with a new DID each time. */
export function regenerateDid({ data, params: [id] }: Operation): Answer {
  const client = data.clients.find((candidate) => candidate.id === id);
  if (client === undefined) return notFound();
  client.did = freshDid();
  return ok(client);
}
