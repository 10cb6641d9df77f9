/** The number of names in a list. */
const namedAtMost = 5;

/** A list for a sentence: the first five, and the number of others. */
export function some(items: readonly string[]): string {
  const more = items.length - namedAtMost;
  return `${items.slice(0, namedAtMost).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A text of a body, shortened for a sentence. */
export function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
