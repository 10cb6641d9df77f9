import { createHash } from 'node:crypto';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID, in upper or lower case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** The normal form of an id: a UUID in lower case. */
export function identifierKey(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

/** The normal form of an object's key: `<kind>/<id>`, for a template followed by its type. */
export function objectKey(key: string): string {
  const [kind = '', id = '', ...rest] = key.split('/');
  return [kind, identifierKey(id), ...rest].join('/');
}

const maxLength = 512;

/** Whether a text can be an id in a URL path: well-formed, without control characters, not `.` or `..`. */
export function isPathParameter(text: string): boolean {
  return (
    text !== '' &&
    text.length <= maxLength &&
    !/^\.{1,2}$/.test(text) &&
    !/\p{Cc}/u.test(text) &&
    text.isWellFormed()
  );
}

/** Whether two ids are equal in their normal form. */
export function sameIdentifier(a: string, b: string): boolean {
  return identifierKey(a) === identifierKey(b);
}

/** The items that have a name. `meanings` return the names of an item; the first of them that finds an item decides. */
export function identify<T>(
  items: readonly T[],
  name: string,
  meanings: readonly ((item: T) => readonly string[])[],
): readonly T[] {
  const wanted = new Set([name, objectKey(name), identifierKey(name)]);
  for (const namesOf of meanings) {
    const found = items.filter((item) => namesOf(item).some((text) => wanted.has(text)));
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * A placeholder id for a new object in a plan, derived from its address, so that two plans are the same. No request contains it: the
 * server assigns the real id.
 */
export function plannedId(address: string): string {
  const hash = createHash('sha256').update(address).digest('hex');
  // A UUID of version 8.
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(12, 15)}`, `8${hash.slice(15, 18)}`];
  return [...parts, hash.slice(18, 30)].join('-');
}

/** Whether an id is such a placeholder. */
export function isPlannedId(id: string): boolean {
  return isUuid(id) && /^.{14}8.{4}8/.test(id);
}

/** A short name for a long text such as a public key. */
export function fingerprint(text: string): string {
  return `SHA256:${createHash('sha256').update(text).digest('base64url')}`;
}
