import { inspect } from 'node:util';

/** Any JSON value; a number that JavaScript would write differently is an `ExactNumber`. */
export type Json = null | boolean | number | ExactNumber | string | Json[] | { [key: string]: Json };

/** A JSON value that may contain secrets: what manifests declare and what requests carry. */
export type Value =
  | null
  | boolean
  | number
  | ExactNumber
  | string
  | Sensitive
  | Value[]
  | { [key: string]: Value };

/** A map of fields; an absent field is unknown, which isn't null. */
export type Fields = { [field: string]: Value };

/** The grammar of JSON's numbers. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/**
 * A JSON number that JavaScript would write differently, such as 9007199254740993 or 10.0; all others are plain numbers.
 * So each number has one form, and equal texts are equal numbers. Created by `parseNumber`.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    if (!jsonNumber.test(text)) throw new TypeError('not a JSON number');
    this.text = text;
  }

  /** For `JSON.stringify`; exact only if the runtime has `JSON.rawJSON`. `stringifyJson` is always exact. */
  toJSON(): unknown {
    return rawJson?.(this.text) ?? Number(this.text);
  }

  toString(): string {
    return this.text;
  }

  [inspect.custom](): string {
    return this.text;
  }
}

const { rawJSON: rawJson } = JSON as { rawJSON?: (text: string) => unknown };

/** The number of a JSON text: a plain number if JavaScript writes it the same way. */
export function parseNumber(text: string): number | ExactNumber {
  const plain = Number(text);
  return String(plain) === text ? plain : new ExactNumber(text);
}

/**
 * A value that must never be printed or stored in a readable form. It serializes as `{"sensitive": true}`; only the
 * writer, which sends it to the server, calls `reveal`.
 */
export class Sensitive {
  readonly #value: Json;

  constructor(value: Json) {
    this.#value = value;
  }

  /** The value, only for sending, comparing and hashing. */
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

/** A secret from the state, of which only a salted hash is known. It can only tell whether a value matches. */
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

/** Placeholder for a variable without a value, as in `validate`. */
export const UNKNOWN_TEXT = '(unknown)';

/** Whether a value is a map: not null, a list, a secret or a number. */
export function isMap(value: unknown): value is { [key: string]: Value } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Sensitive) &&
    !(value instanceof ExactNumber)
  );
}

/** Whether a value is or contains a secret. */
export function holdsSensitive(value: Value): boolean {
  if (value instanceof Sensitive) return true;
  if (Array.isArray(value)) return value.some(holdsSensitive);
  return isMap(value) && Object.values(value).some(holdsSensitive);
}

/** Whether a value contains a hashed secret. */
export function holdsHashed(value: Value): boolean {
  if (value instanceof HashedSecret) return true;
  if (Array.isArray(value)) return value.some(holdsHashed);
  return isMap(value) && Object.values(value).some(holdsHashed);
}

/** The plain JSON of a value, secrets included, for sending and hashing. */
export function reveal(value: Value): Json {
  if (value instanceof Sensitive) return value.reveal();
  if (Array.isArray(value)) return value.map(reveal);
  if (isMap(value)) return mapValues(value, reveal);
  return value;
}

/** A value with its readable secrets revealed, to decide by it; never shown or stored. Hashed secrets stay. */
export function revealReadable(value: Value): Value {
  if (value instanceof HashedSecret) return value;
  if (value instanceof Sensitive) return value.reveal();
  if (Array.isArray(value)) return value.map(revealReadable);
  return isMap(value) ? mapValues(value, revealReadable) : value;
}

/** Deep equality regardless of key order. Secrets compare by value, numbers as servers keep them: 10, 10.0 and 10.00 are equal. */
export function same(a: Value, b: Value): boolean {
  if (a instanceof HashedSecret || b instanceof HashedSecret) {
    const [hashed, other] = a instanceof HashedSecret ? [a, b] : [b as HashedSecret, a];
    if (other instanceof HashedSecret) return hashed.hash === other.hash;
    return !holdsHashed(other) && hashed.matches(reveal(other));
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
  if (a instanceof ExactNumber || b instanceof ExactNumber) return isSameNumber(a, b);
  return a === b;
}

function isSameNumber(a: Value, b: Value): boolean {
  const [one, other] = [a, b].map((side) =>
    typeof side === 'number' || side instanceof ExactNumber
      ? serverSpelling(String(side)).replace(/\.0$/, '')
      : undefined,
  );
  return one !== undefined && one === other;
}

/**
 * How a server spells a number that it has stored, if it reads decimals as doubles and writes the shorter of `1000.0` and
 * `1.0e3`. Integers, and numbers outside the range of a double, keep their spelling.
 */
export function serverSpelling(text: string): string {
  if (/^-?\d+$/.test(text)) return text === '-0' ? '0' : text;
  const double = Number(text);
  if (!Number.isFinite(double)) return text;
  if (double === 0) return '0.0';
  const [mantissa = '', power = '0'] = double.toExponential().split('e');
  const exponent = Number(power);
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  const whole = exponent < 0 ? '0' : digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const rest = exponent < 0 ? `${'0'.repeat(-exponent - 1)}${digits}` : digits.slice(exponent + 1) || '0';
  const plain = `${sign}${whole}.${rest}`;
  const short = `${sign}${digits.charAt(0)}.${digits.slice(1) || '0'}e${exponent}`;
  // Beyond the precision of a double, digits aren't written out.
  if (plain.length <= short.length && Math.abs(double) < 2 ** 53) return plain;
  return exponent < 0 ? short : `${sign}${whole}`;
}

/** A fast check: true if two values are deeply equal and contain no secret. False is inconclusive. */
export function sameWithoutSecrets(a: Value, b: Value | undefined): boolean {
  if (typeof a !== 'object' || a === null) return a === b;
  if (typeof b !== 'object' || b === null) return false;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => sameWithoutSecrets(item, b[index]))
    );
  }
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameWithoutSecrets(a[key] ?? null, b[key]))
  );
}

/** JSON text with sorted keys: equal values have equal texts. */
export function canonical(value: Json): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

/** A map with each value replaced; safe for a key `__proto__`. */
export function mapValues<A, B>(
  map: { [key: string]: A },
  change: (value: A, key: string) => B,
): { [key: string]: B } {
  const changed: { [key: string]: B } = {};
  for (const key of Object.keys(map)) setMember(changed, key, change(map[key] as A, key));
  return changed;
}

/** The members of a map that a test accepts; safe for a key `__proto__`. */
export function filterValues<T>(
  map: { readonly [key: string]: T },
  accepts: (value: T, key: string) => boolean,
): { [key: string]: T } {
  return Object.fromEntries(Object.entries(map).filter(([key, value]) => accepts(value, key)));
}

/** Groups items by key, in their order. `Map.groupBy` needs Node.js 21. */
export function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Sets a member; safe for a key `__proto__`. */
export function setMember<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Appends to the list of a key; creates the list if it is missing. */
export function appendTo<K, T>(lists: Map<K, T[]>, key: K, ...items: readonly T[]): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [...items]);
  else list.push(...items);
}

/** Compares texts by code units, for the same order on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Like `{ ...object, ...more }`, for values that are created once for each of very many objects: Node 20 gives every spread
 * object its own hidden class, which is 5 times slower to create and 20 times slower to read. Not for users' keys (`__proto__`).
 */
export function assign<A extends object, B extends object>(object: A, more: B): Omit<A, keyof B> & B {
  return Object.assign({}, object, more);
}

/** An object without its undefined members. */
export function withoutUndefined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** A function that computes its result once, when it is first called. */
export function lazy<T>(work: () => T): () => T {
  let computed: { readonly result: T } | undefined;
  return () => {
    computed ??= { result: work() };
    return computed.result;
  };
}
