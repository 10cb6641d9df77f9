/** A JSON object of unknown members. */
export type JsonObject = { [member: string]: unknown };

/** Tells a JSON object from arrays, null and plain values. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
