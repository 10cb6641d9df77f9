import { byField, flag, members, text } from '../fields.js';
import type { Answer } from '../http.js';
import { errors, notFound, ok } from './answers.js';
import type { Operation } from './operation.js';

const fields = members({ id: text, public_key: text, is_default: flag });

/** Operation 5. A new default replaces the old one. */
export function updateKeyPair({ data, params: [id], resource }: Operation): Answer {
  const keyPair = data.keyPairs.find((candidate) => candidate.id === id);
  if (keyPair === undefined) return notFound();
  const read = fields.safeParse(resource);
  if (!read.success) return errors(422, byField(read.error));
  const { id: _, ...changes } = read.data;
  if (changes.is_default === true) {
    for (const other of data.keyPairs) other.is_default = false;
  }
  Object.assign(keyPair, changes);
  return ok(keyPair);
}
