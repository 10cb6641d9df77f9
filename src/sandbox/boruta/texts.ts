import { isObject } from '../json.js';

/** The width of the database's text columns, in characters. */
const width = 255;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is empty or only white space, as Unicode defines it. */
export function isBlank(text: string): boolean {
  return /^\p{White_Space}*$/u.test(text);
}

/** Whether a text is too long for its column. */
export function isTooLong(text: string): boolean {
  return text.length > width && [...text].length > width;
}

/** Whether a value contains a NUL, also in names of members. */
export function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (Array.isArray(value)) return value.some(hasNul);
  return isObject(value) && Object.entries(value).some(([name, member]) => hasNul(name) || hasNul(member));
}

/** An id in the form in which the server compares it; null if it isn't a UUID. */
export function readUuid(value: unknown): string | null {
  return typeof value === 'string' && uuid.test(value) ? value.toLowerCase() : null;
}
