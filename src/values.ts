import { inspect } from 'node:util';

/** Anything JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** JSON whose leaves may be secrets: what manifests declare and what requests carry. */
export type Value = null | boolean | number | string | Sensitive | Value[] | { [key: string]: Value };

/** A map of fields; a field that is not there is unknown, which is not the same as null. */
export type Fields = { [field: string]: Value };

/**
 * A value that must never be printed or stored in a readable form. Whatever serialises it gets
 * `{"sensitive": true}`; only the writer, which sends it to the server, calls `reveal`.
 */
export class Sensitive {
  readonly #value: Json;

  constructor(value: Json) {
    this.#value = value;
  }

  /** The value itself, for sending, comparing and hashing alone. */
  reveal(): Json {
    return this.#value;
  }

  toJSON(): { sensitive: true } {
    return { sensitive: true };
  }

  [inspect.custom](): string {
    return '(sensitive)';
  }

  toString(): string {
    return '(sensitive)';
  }
}

/**
 * A secret that is known by its salted hash alone, as the state keeps it. It can tell whether a
 * value is the recorded one, and nothing else.
 */
export class HashedSecret extends Sensitive {
  readonly hash: string;
  readonly #matches: (value: Json) => boolean;

  constructor(hash: string, matches: (value: Json) => boolean) {
    super(null);
    this.hash = hash;
    this.#matches = matches;
  }

  matches(value: Json): boolean {
    return this.#matches(value);
  }

  override reveal(): never {
    throw new Error('a hashed secret has no readable value');
  }
}

/** What stands in a manifest's text for a variable that has no value here, as in `validate`. */
export const UNKNOWN_TEXT = '(unknown)';

/** Whether a value is a map: not null, not a list, not a secret. */
export function isMap(value: unknown): value is { [key: string]: Value } {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Sensitive)
  );
}

/** Whether a value is, or holds anywhere, a secret. */
export function holdsSensitive(value: Value): boolean {
  if (value instanceof Sensitive) return true;
  if (Array.isArray(value)) return value.some(holdsSensitive);
  return isMap(value) && Object.values(value).some(holdsSensitive);
}

/** The plain JSON of a value, secrets included: for what is sent to the server, and for hashing. */
export function reveal(value: Value): Json {
  if (value instanceof Sensitive) return value.reveal();
  if (Array.isArray(value)) return value.map(reveal);
  if (isMap(value)) return mapValues(value, reveal);
  return value;
}

/** Deep equality of JSON values without regard to key order; secrets compare by what they hold. */
export function same(a: Value, b: Value): boolean {
  if (a instanceof HashedSecret || b instanceof HashedSecret) {
    if (a instanceof HashedSecret && b instanceof HashedSecret) return a.hash === b.hash;
    return a instanceof HashedSecret ? a.matches(reveal(b)) : (b as HashedSecret).matches(reveal(a));
  }
  if (a instanceof Sensitive || b instanceof Sensitive) return same(reveal(a), reveal(b));
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index] ?? null))
    );
  }
  if (isMap(a)) {
    if (!isMap(b)) return false;
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && same(a[key] ?? null, b[key] ?? null))
    );
  }
  return a === b;
}

/** JSON text with sorted keys, so that equal values have equal texts. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

/** A map with each value replaced; safe for a key such as `__proto__`. */
export function mapValues<A, B>(
  map: { [key: string]: A },
  change: (value: A, key: string) => B,
): { [key: string]: B } {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}
