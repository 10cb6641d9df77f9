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
  readonly #holds: (text: string) => boolean;
  readonly #hashes = new Map<string, string>();

  /** `holds` says whether a text that nobody declared secret has a secret in it, such as one that a server repeats. */
  constructor(salt: string, holds: (text: string) => boolean = () => false) {
    this.#salt = salt;
    this.#holds = holds;
  }

  /** Whether a text must not lie on a disk as it is. */
  conceals(text: string): boolean {
    return this.#holds(text);
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
  const conceals = (value: Value, key: string): boolean =>
    // An id says which object is meant, and never comes from a secret.
    typeof value === 'string' && key !== 'id' && hasher.conceals(value);
  const strip = (value: Value, pointer: string, key: string, listed: boolean): Json => {
    if (value instanceof HashedSecret || value instanceof Sensitive || conceals(value, key)) {
      hashes[pointer] = value instanceof HashedSecret ? value.hash : hasher.hash(reveal(value));
      return null;
    }
    if (Array.isArray(value)) {
      return value.map((item, index) => strip(item, `${pointer}/${index}`, '', true));
    }
    if (!isMap(value)) return value;
    // An element is told from the others by its id; what a server shows beside it is better unknown than a hash.
    const members = listed
      ? Object.fromEntries(Object.entries(value).filter(([name, member]) => !conceals(member, name)))
      : value;
    return mapValues(members, (member, name) =>
      strip(member, `${pointer}/${escapePointer(name)}`, name, listed),
    );
  };
  return {
    fields: mapValues(fields, (value, field) => strip(value, `/${escapePointer(field)}`, field, false)),
    hashes,
  };
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
