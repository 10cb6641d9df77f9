import { identifierKey, objectKey } from './values.js';

/** What a name means among things that go by several: of the meanings, given the plainest first, the first that fits any of them. */
export function meantBy<T>(
  all: readonly T[],
  name: string,
  meanings: readonly ((thing: T) => readonly string[])[],
): readonly T[] {
  const wanted = new Set([name, objectKey(name), identifierKey(name)]);
  for (const namesOf of meanings) {
    const found = all.filter((one) => namesOf(one).some((text) => wanted.has(text)));
    if (found.length > 0) return found;
  }
  return [];
}
