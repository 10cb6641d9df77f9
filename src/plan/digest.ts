import { createHash } from 'node:crypto';
import { normalForm, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import { operationPath, operations } from '../server/operations.js';
import { Hasher } from '../state/secrets.js';
import { canonical, HashedSecret, isMap, type Json, mapValues, Sensitive, type Value } from '../values.js';
import type { Change } from './plan.js';

/**
 * One salt for all, since a digest has to be the same on every machine. The hash is slow, so that the digest
 * can't be used to guess a secret.
 */
const hasher = new Hasher('idops plan digest');

/** `sha256:` and the hash of what the changes would send to a server, whatever order they are given in. */
export function planDigest(server: string, changes: readonly Change[]): string {
  const requests = changes.flatMap((change) => {
    const types = kindOf(change.kind).fields;
    return change.requests.map(({ operation, params, body }) => {
      const fields =
        body === undefined ? null : mapValues(body, (field, name) => normalForm(types[name] ?? value, field));
      return canonical([
        operations[operation].method,
        operationPath(operation, params),
        withoutSecrets(fields),
      ]);
    });
  });
  const text = canonical({ format_version: 1, server, requests: requests.sort() });
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** A value with each secret replaced by its slow hash. */
export function withoutSecrets(field: Value): Json {
  if (field instanceof HashedSecret) return { secret: field.hash };
  if (field instanceof Sensitive) return { secret: hasher.hash(field.reveal()) };
  if (Array.isArray(field)) return field.map(withoutSecrets);
  return isMap(field) ? mapValues(field, withoutSecrets) : field;
}
