import { isObject } from '../json.js';

/** The width of the database's text columns, in characters. */
const width = 255;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text counts as empty: white space alone, Unicode's too. */
export function isBlank(text: string): boolean {
  return /^\p{White_Space}*$/u.test(text);
}

/** Whether a text is too long for its column. */
export function isTooLong(text: string): boolean {
  return text.length > width && [...text].length > width;
}

/** Whether a NUL is anywhere in a value, names of members included. */
export function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (Array.isArray(value)) return value.some(hasNul);
  return isObject(value) && Object.entries(value).some(([name, member]) => hasNul(name) || hasNul(member));
}

/** An id as the server compares it; null if it is no UUID. */
export function readUuid(value: unknown): string | null {
  return typeof value === 'string' && uuid.test(value) ? value.toLowerCase() : null;
}
