import { createHmac } from 'node:crypto';
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
} from '../base/values.js';
import { notYet, prepareSlowHashes, slowHash } from './slow-hash.js';

/** What hashes are made for: those of two servers, or with two salts, have nothing in common. */
export interface HashScope {
  readonly server: string;
  readonly salt: string;
}

/**
 * Hashes secrets. The slow hash, which is what keeps a short secret from being guessed, is salted with the server's
 * address, so that one serves the state, the journals and the digest, on every machine; the salt of the scope turns it
 * into that scope's own with a fast keyed hash.
 */
export class Hasher {
  readonly #slowSalt: string;
  readonly #salt: string;
  readonly #holds: (text: string) => boolean;

  /** `holds` says whether a text that nobody declared secret has a secret in it, such as one that a server repeats. */
  constructor({ server, salt }: HashScope, holds: (text: string) => boolean = () => false) {
    this.#slowSalt = `idops secrets of ${server}`;
    this.#salt = salt;
    this.#holds = holds;
  }

  /** Whether a text must not lie on a disk as it is. */
  conceals(text: string): boolean {
    return this.#holds(text);
  }

  hash(value: Json): string {
    return this.#keyed(this.#slow(value));
  }

  /** A secret that is known by its hash alone. */
  secret(hash: string): HashedSecret {
    return new HashedSecret(hash, (value) => {
      const slow = this.#slow(value);
      // Most secrets are as they were, and what is compared after this one is better known now than later.
      return slow === notYet || this.#keyed(slow) === hash;
    });
  }

  /** Works out the slow hashes of values that will be asked for, without stopping anything. */
  async prepare(values: Iterable<Json>, signal?: AbortSignal): Promise<void> {
    const wanted = [...values].map((value) => ({ salt: this.#slowSalt, text: canonical(value) }));
    await prepareSlowHashes(wanted, signal);
  }

  #slow(value: Json): Buffer {
    return slowHash(this.#slowSalt, canonical(value));
  }

  #keyed(slow: Buffer): string {
    return `scrypt:${createHmac('sha256', this.#salt).update(slow).digest('base64url')}`;
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
  // Few objects have secrets.
  if (Object.keys(stored.hashes).length === 0) return { ...(stored.fields as Fields) };
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

/** All the secrets in a value that can be read. */
export function secretsIn(value: Value): Json[] {
  if (value instanceof HashedSecret) return [];
  if (value instanceof Sensitive) return [value.reveal()];
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  return isMap(value) ? Object.values(value).flatMap(secretsIn) : [];
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
