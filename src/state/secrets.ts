import { scryptSync } from 'node:crypto';
import {
  canonical,
  type Fields,
  HashedSecret,
  holdsSensitive,
  isMap,
  type Json,
  mapValues,
  reveal,
  Sensitive,
  type Value,
} from '../values.js';

/** scrypt's cost: some tens of milliseconds a value, so that a short secret can't be guessed from its hash. */
const COST = { N: 16384, r: 8, p: 1 };

/** Hashes secrets with one salt; each distinct value is worked out once. */
export class Hasher {
  readonly #salt: string;
  readonly #hashes = new Map<string, string>();

  constructor(salt: string) {
    this.#salt = salt;
  }

  hash(value: Json): string {
    const text = canonical(value);
    const known = this.#hashes.get(text);
    if (known !== undefined) return known;
    const hash = `scrypt:${scryptSync(text, this.#salt, 32, COST).toString('base64url')}`;
    this.#hashes.set(text, hash);
    return hash;
  }

  /** A secret that is known by its hash alone. */
  secret(hash: string): HashedSecret {
    return new HashedSecret(hash, (value) => this.hash(value) === hash);
  }
}

/** Fields in a form that may lie on a disk: secrets taken out, their hashes by JSON pointer. */
export interface StoredFields {
  readonly fields: { readonly [field: string]: Json };
  readonly hashes: { readonly [pointer: string]: string };
}

/** Takes the secrets out of fields; `restoreFields` puts their hashes back in. */
export function storeFields(fields: Fields, hasher: Hasher): StoredFields {
  const hashes: { [pointer: string]: string } = {};
  const strip = (value: Value, pointer: string): Json => {
    if (value instanceof HashedSecret || value instanceof Sensitive) {
      hashes[pointer] = value instanceof HashedSecret ? value.hash : hasher.hash(value.reveal());
      return null;
    }
    if (Array.isArray(value)) return value.map((item, index) => strip(item, `${pointer}/${index}`));
    if (isMap(value))
      return mapValues(value, (member, key) => strip(member, `${pointer}/${escapePointer(key)}`));
    return value;
  };
  return { fields: mapValues(fields, (value, field) => strip(value, `/${escapePointer(field)}`)), hashes };
}

/** The fields as they were stored, each secret as something that can be compared and not read. */
export function restoreFields(stored: StoredFields, hasher: Hasher): Fields {
  const restore = (value: Json, pointer: string): Value => {
    const hash = Object.hasOwn(stored.hashes, pointer) ? stored.hashes[pointer] : undefined;
    if (hash !== undefined) return hasher.secret(hash);
    if (Array.isArray(value)) return value.map((item, index) => restore(item, `${pointer}/${index}`));
    if (isMap(value))
      return mapValues(value as { [key: string]: Json }, (member, key) =>
        restore(member, `${pointer}/${escapePointer(key)}`),
      );
    return value;
  };
  return mapValues(stored.fields as { [field: string]: Json }, (value, field) =>
    restore(value, `/${escapePointer(field)}`),
  );
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * The server's value with those parts made secret that are secret in what was asked. A list is secret as a
 * whole, in the form in which it was asked, since its elements have no fixed places.
 */
export function conceal(got: Value, asked: Value | undefined): Value {
  if (asked instanceof Sensitive) return got instanceof Sensitive ? got : new Sensitive(reveal(got));
  if (Array.isArray(asked)) return holdsSensitive(asked) ? new Sensitive(reveal(asked)) : got;
  if (isMap(asked) && isMap(got)) {
    return mapValues(got, (member, key) =>
      conceal(member, Object.hasOwn(asked, key) ? asked[key] : undefined),
    );
  }
  return got;
}
