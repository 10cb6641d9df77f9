import { isUuid } from '../base/identifiers.js';
import type { Problem } from '../base/problems.js';
import type { Redactor } from './redactor.js';

const minWordLength = 4;

/**
 * Returns a function that hides credentials in messages that repeat arguments. `words` are the arguments. Hides what the redactor
 * knows, and words that only look like a credential.
 */
export function scrubArguments(
  words: readonly string[],
  redactor?: Pick<Redactor, 'holds' | 'redact'>,
): (text: string) => string {
  const hidden = new Map<string, string>();
  for (const word of words.flatMap(partsOf)) {
    const clean = redactor?.holds(word) ? redactor.redact(word) : word;
    if (clean !== word) hidden.set(word, clean);
    else if (looksRandom(word)) hidden.set(word, `(a value of ${word.length} characters)`);
  }
  // The longest first, since one may be part of another.
  const found = [...hidden].sort(([one], [other]) => other.length - one.length);
  return (text) => found.reduce((rest, [word, shown]) => rest.split(word).join(shown), text);
}

/** Problems without credentials that the user typed in the wrong place. */
export function scrubProblems(
  problems: readonly Problem[],
  words: readonly string[],
  redactor: Redactor,
): Problem[] {
  const scrub = scrubArguments(words, redactor);
  return problems.map(({ message, hint, places, ...problem }) => ({
    ...problem,
    message: scrub(message),
    ...(hint === undefined ? {} : { hint: scrub(hint) }),
    places: places.map((place) => ({ ...place, file: scrub(place.file) })),
  }));
}

/** The words of an argument without leading dashes, and what follows their first `=`. */
function partsOf(word: string): string[] {
  const parts = word.split(/\s+/).flatMap((one) => {
    const bare = one.replace(/^-+/, '');
    const split = bare.indexOf('=');
    return split < 0 ? [bare] : [bare, bare.slice(split + 1)];
  });
  return parts.filter(({ length }) => length >= minWordLength);
}

/** The name of a run or of a shard of it, or the beginning of such a name. */
const runName = /^\d{8}T\d{6}Z-[0-9a-f]{1,6}(?:(?<=-[0-9a-f]{6})\.[\d.of-]{0,16})?$/;
const fileName = /\.[a-z]{2,8}$/;

/** Whether a word is a JSON Web Token, or too long and mixed to be a name. */
export function looksRandom(word: string): boolean {
  if (/^eyJ[\w-]{9,}/.test(word)) return true;
  if (!/^[\w+=.~-]{20,}$/.test(word) && !/^[\w+=][\w+=/]{39,}$/.test(word)) return false;
  if (isUuid(word) || runName.test(word) || fileName.test(word)) return false;
  const digits = word.match(/\d(?=[a-z])|[a-z](?=\d)/gi)?.length ?? 0;
  const cases = word.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  // Names in camelCase change case once per word and have few digits.
  return new Set(word).size >= 10 && (digits >= 4 || cases >= word.length / 3);
}
