import { keyCharacter, looksSecret } from './names.js';

/** A line that certainly is a key with its colon, perhaps after `- ` or `? `. */
const keyLine = /^[ \t]*(?:[-?][ \t]+)*["']?[^\s"':{}[\],#]{1,120}["']?[ \t]*:(?:\s|$)/;

/** A line that ends a document, a map or a list, and so the value of a secret. */
const closing = /^(?:(?:---|\.\.\.)(?:\s|$)|\s*[}\]])/;

/** Characters. Longer lines aren't shown: they are unreadable and take memory. */
export const MAX_LINE = 100_000;

/**
 * The lines of a YAML text, from 0, that must not be shown: those with a key that looks secret, and the lines below that may
 * belong to its value. If the text is broken, the key may lack its colon. Works on the text, since errors also show lines of
 * files that don't parse. If in doubt, hides a line. Takes linear time.
 */
export function secretLines(text: string, isBroken: boolean): Set<number> {
  const hidden = new Set<number>();
  let secretIndent: number | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const indent = /^[ \t]*(?:[-?][ \t]+)*/.exec(line)?.[0].length ?? 0;
    const isKey = keyLine.test(line);
    if (secretIndent !== undefined && (closing.test(line) || (isKey && indent <= secretIndent)))
      secretIndent = undefined;
    const found = secretIndent === undefined ? secretIn(line, isBroken, isKey) : undefined;
    if (found !== undefined) secretIndent = indent;
    if ((secretIndent !== undefined && found !== 'reference') || holdsUrlCredential(line)) hidden.add(index);
  }
  return hidden;
}

/** Whether a line has a secret, or a reference to a variable instead of one; undefined if neither. */
function secretIn(line: string, isBroken: boolean, isKey: boolean): 'secret' | 'reference' | undefined {
  if (line.length > MAX_LINE) return 'secret';
  let found: 'reference' | undefined;
  for (let colon = line.indexOf(':'); colon !== -1; colon = line.indexOf(':', colon + 1)) {
    const [, name = ''] = keyBefore.exec(line.slice(Math.max(0, colon - 130), colon)) ?? [];
    if (name === '' || !looksSecret(name)) continue;
    if (!isReference(line.slice(colon + 1))) return 'secret';
    found = 'reference';
  }
  if (/^\s*(?:-\s+)*\?\s/.test(line) && looksSecret(line)) return 'secret';
  return isBroken && holdsBrokenKey(line, isKey) ? 'secret' : found;
}

const keyBefore = new RegExp(`((?:${keyCharacter.source})+)["']?[ \\t]*$`, 'u');

/** Only the first words of a line can be a key. */
const MAX_WORDS = 6;

/** Whether a line has a key that looks secret, without the colon or the space after it. */
function holdsBrokenKey(line: string, isKey: boolean): boolean {
  let count = 0;
  for (const { 0: name, index } of line.matchAll(new RegExp(`(?:${keyCharacter.source})+`, 'gu'))) {
    const begins = /(?:^|[{,])\s*(?:-\s+)*["']?$/.test(line.slice(Math.max(0, index - 20), index));
    count += 1;
    if ((!begins && (isKey || count > MAX_WORDS)) || line.slice(0, index).endsWith('${')) continue;
    if (looksSecret(name) && !isReference(line.slice(index + name.length))) return true;
  }
  return false;
}

/** Whether a line has a URL with credentials before its `@` that are not references to variables. */
function holdsUrlCredential(line: string): boolean {
  return /:\/\/(?!(?:\$\{[A-Za-z_]\w*\}:?)+@)[^\s/@"']{1,256}@/.test(line);
}

/** Whether a value has only references to variables, perhaps after the scheme of a header. */
export function isReference(value: string): boolean {
  return (
    value.length < 200 &&
    /^[\s:=]*(["']?)\s*(?:(?:Bearer|Basic|Token)\s+)?(?:\$\{[A-Za-z_]\w*\}\s*)+\1[\s,}\]]*$/.test(value)
  );
}
