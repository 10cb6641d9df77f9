/** The words of a text, split at white space. */
export function splitWords(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** The first `most` names, and how many more there are, for a sentence. */
export function firstFew(names: readonly string[], most = 3): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A text, shortened to 80 characters for a sentence. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** A noun after `a` or `an`. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
