/** More names than this say no more. */
const namedAtMost = 5;

/** Some things in a sentence: the first five, and how many more there are. */
export function some(items: readonly string[]): string {
  const more = items.length - namedAtMost;
  return `${items.slice(0, namedAtMost).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A word of a body, no longer than a sentence can take. */
export function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
