import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** A JSON object of unknown members. */
export type JsonObject = { [member: string]: unknown };

/** Tells a JSON object from arrays, null and plain values. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** Parses JSON; a number that a double can't give back as it was written is kept as its text. */
export function parseJson(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: (digits) =>
      String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits),
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** The JSON of a value, each number as it was written. */
export function writeJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** A deep copy that keeps each number as it was written. */
export function copyJson<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copy(member)]));
}
