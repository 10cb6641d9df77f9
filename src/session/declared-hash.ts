import { createHash } from 'node:crypto';
import {
  canonical,
  HashedSecret,
  isMap,
  type Json,
  mapValues,
  Sensitive,
  type Value,
} from '../base/values.js';
import { addressOf } from '../kinds/address.js';
import type { Declared } from '../kinds/kind.js';

/** Tells whether two processes were given the same manifests; no secret has a part in it. */
export function declaredHash(declared: readonly Declared[]): string {
  const hash = createHash('sha256');
  for (const { kind, identity, fields, absent, generation } of declared) {
    hash.update(canonical([addressOf(kind, identity), mapValues(fields, bare), absent, generation ?? null]));
  }
  return `manifests ${hash.digest('base64url')}`;
}

function bare(value: Value): Json {
  if (value instanceof Sensitive || value instanceof HashedSecret) return { secret: true };
  if (Array.isArray(value)) return value.map(bare);
  return isMap(value) ? mapValues(value, bare) : value;
}
