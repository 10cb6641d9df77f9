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
import { pendingHash, prepareSlowHashes, slowHash } from './slow-hash.js';

/** What hashes depend on: those of different servers or salts can't be compared. */
export interface HashScope {
  readonly server: string;
  readonly salt: string;
}

/**
 * Hashes secrets in two steps: a slow hash, which makes guessing short secrets expensive, then a fast hash keyed with the
 * scope's salt. The slow hash is salted only with the server's address, so one serves the state, the journals and the digest.
 */
export class Hasher {
  readonly #slowSalt: string;
  readonly #salt: string;
  readonly #holds: (text: string) => boolean;

  /** `holds` tells whether a text contains a known secret, such as one that a server repeats in another field. */
  constructor({ server, salt }: HashScope, holds: (text: string) => boolean = () => false) {
    this.#slowSalt = `idops secrets of ${server}`;
    this.#salt = salt;
    this.#holds = holds;
  }

  /** Whether a text must not be stored as it is. */
  mustHide(text: string): boolean {
    return this.#holds(text);
  }

  hash(value: Json): string {
    return this.#keyed(this.#slow(value));
  }

  /** A stored secret, of which only the hash is known. */
  hashedSecret(hash: string): HashedSecret {
    return new HashedSecret(hash, (value) => {
      const slow = this.#slow(value);
      // Most secrets are unchanged, so a secret counts as equal until its hash is computed.
      return slow === pendingHash || this.#keyed(slow) === hash;
    });
  }

  /** Computes the slow hashes of values in the background. */
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

/** Fields to store: their secrets are null, with hashes by JSON pointer. */
export interface StoredFields {
  readonly fields: { readonly [field: string]: Json };
  readonly hashes: { readonly [pointer: string]: string };
}

/** Replaces the secrets in fields by hashes; `restoreFields` is the inverse. */
export function storeFields(fields: Fields, hasher: Hasher): StoredFields {
  const hashes: { [pointer: string]: string } = {};
  const mustHide = (value: Value, key: string): boolean =>
    // An id is never a secret.
    typeof value === 'string' && key !== 'id' && hasher.mustHide(value);
  const toStored = (value: Value, pointer: string, key: string, isInList: boolean): Json => {
    if (value instanceof HashedSecret || value instanceof Sensitive || mustHide(value, key)) {
      hashes[pointer] = value instanceof HashedSecret ? value.hash : hasher.hash(reveal(value));
      return null;
    }
    if (Array.isArray(value)) {
      return value.map((item, index) => toStored(item, `${pointer}/${index}`, '', true));
    }
    if (!isMap(value)) return value;
    // Elements are matched by id, and a hash in another member would make equal ones differ.
    const members = isInList
      ? Object.fromEntries(Object.entries(value).filter(([name, member]) => !mustHide(member, name)))
      : value;
    return mapValues(members, (member, name) =>
      toStored(member, `${pointer}/${escapePointer(name)}`, name, isInList),
    );
  };
  return {
    fields: mapValues(fields, (value, field) => toStored(value, `/${escapePointer(field)}`, field, false)),
    hashes,
  };
}

/** The stored fields; their secrets can be compared but not read. */
export function restoreFields(stored: StoredFields, hasher: Hasher): Fields {
  if (Object.keys(stored.hashes).length === 0) return { ...(stored.fields as Fields) };
  const restore = (value: Json, pointer: string): Value => {
    const hash = Object.hasOwn(stored.hashes, pointer) ? stored.hashes[pointer] : undefined;
    if (hash !== undefined) return hasher.hashedSecret(hash);
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

/** All readable secrets in a value. */
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
 * A server's value in which the parts that are sensitive in the request become sensitive too. A list becomes sensitive as a
 * whole, since its elements have no fixed places.
 */
export function hideSecrets(received: Value, sent: Value | undefined): Value {
  if (sent instanceof Sensitive)
    return received instanceof Sensitive ? received : new Sensitive(reveal(received));
  if (Array.isArray(sent)) return holdsSensitive(sent) ? new Sensitive(reveal(sent)) : received;
  if (isMap(sent) && isMap(received)) {
    return mapValues(received, (member, key) =>
      hideSecrets(member, Object.hasOwn(sent, key) ? sent[key] : undefined),
    );
  }
  return received;
}
