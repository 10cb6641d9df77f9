import { inspect } from 'node:util';

/** Anything JSON can hold; a number that JavaScript would write otherwise is an `ExactNumber`. */
export type Json = null | boolean | number | ExactNumber | string | Json[] | { [key: string]: Json };

/** JSON whose leaves may be secrets: what manifests declare and what requests carry. */
export type Value =
  | null
  | boolean
  | number
  | ExactNumber
  | string
  | Sensitive
  | Value[]
  | { [key: string]: Value };

/** A map of fields; a field that is not there is unknown, which is not the same as null. */
export type Fields = { [field: string]: Value };

/** The grammar of JSON's numbers. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/**
 * A JSON number that JavaScript would write otherwise than it is written, such as 9007199254740993 or 10.0.
 * All others are plain numbers: so each number has one form here, and two are the same where their texts are.
 * Made by `exactly` alone.
 */
export class ExactNumber {
  /** The number as it is written. */
  readonly text: string;

  constructor(text: string) {
    if (!jsonNumber.test(text)) throw new TypeError('not a number of JSON');
    this.text = text;
  }

  /**
   * For a `JSON.stringify` of somebody else; `stringifyJson` is what writes it to the digit everywhere. Runtimes
   * that can keep the text of a number keep it.
   */
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

/** The number that a text of JSON is: a plain one where that is written in the same way. */
export function exactly(text: string): number | ExactNumber {
  const plain = Number(text);
  return String(plain) === text ? plain : new ExactNumber(text);
}

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

/** Whether a value is a map: not null, not a list, not a secret, not a number. */
export function isMap(value: unknown): value is { [key: string]: Value } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Sensitive) &&
    !(value instanceof ExactNumber)
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

/**
 * Deep equality of JSON values without regard to key order; secrets compare by what they hold, numbers by what servers keep
 * of them: `10.50` is `10.5`. 10 and 10.0 are one value: a server that has one of them doesn't write the other.
 */
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
  if (a instanceof ExactNumber || b instanceof ExactNumber) return isSameNumber(a, b);
  return a === b;
}

function isSameNumber(a: Value, b: Value): boolean {
  const [one, other] = [a, b].map((side) =>
    typeof side === 'number' || side instanceof ExactNumber
      ? keptSpelling(String(side)).replace(/\.0$/, '')
      : undefined,
  );
  return one !== undefined && one === other;
}

/**
 * How a server gives a number back that reads decimals as doubles and stores what is the shorter of `1000.0` and `1.0e3` as a decimal.
 * Integers, and what no double can hold, stay as they are.
 */
export function keptSpelling(text: string): string {
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
  // A double of more digits than it can tell apart is never written out.
  if (plain.length <= short.length && Math.abs(double) < 2 ** 53) return plain;
  return exponent < 0 ? short : `${sign}${whole}`;
}

/** Whether two values are deeply equal and hold no secret: false says nothing. */
export function plainlySame(a: Value, b: Value | undefined): boolean {
  if (typeof a !== 'object' || a === null) return a === b;
  if (typeof b !== 'object' || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => plainlySame(item, b[index]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && plainlySame(a[key] ?? null, b[key]))
  );
}

/** JSON text with sorted keys, so that equal values have equal texts. */
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

/** A map with each value replaced; safe for a key such as `__proto__`. */
export function mapValues<A, B>(
  map: { [key: string]: A },
  change: (value: A, key: string) => B,
): { [key: string]: B } {
  const changed: { [key: string]: B } = {};
  for (const key of Object.keys(map)) put(changed, key, change(map[key] as A, key));
  return changed;
}

/** Gives an object a member; a key such as `__proto__` names one like any other. */
export function put<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The order of two texts by their code units, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID, in small letters or capitals. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** The one form of an id by which it is found: the letters of a UUID may be written as capitals. */
export function identifierKey(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

/** The one form of an object's key, `<kind>/<id>` and for a template its type: ids as `identifierKey` has them. */
export function objectKey(key: string): string {
  const [kind = '', id = '', ...rest] = key.split('/');
  return [kind, identifierKey(id), ...rest].join('/');
}

/** Longer ids are nobody's. */
const maxIdentifier = 512;

/**
 * Whether a text can name an object in a path: not empty nor too long, no step that URL parsers resolve away,
 * well-formed, without control characters.
 */
export function isPathParameter(text: string): boolean {
  return (
    text !== '' &&
    text.length <= maxIdentifier &&
    !/^\.{1,2}$/.test(text) &&
    !/\p{Cc}/u.test(text) &&
    text.isWellFormed()
  );
}

/** Whether two ids are the same one: the letters of a UUID may be written as capitals. */
export function sameIdentifier(a: string, b: string): boolean {
  return identifierKey(a) === identifierKey(b);
}
