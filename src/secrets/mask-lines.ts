import { keyCharacter, looksSecret } from './names.js';

/** A line that surely is a key with its colon; `- ` or `? ` may stand before it. */
const keyLine = /^[ \t]*(?:[-?][ \t]+)*["']?[^\s"':{}[\],#]{1,120}["']?[ \t]*:(?:\s|$)/;

/** What no secret below it goes on behind: the end of a document, or of a map or list. */
const closing = /^(?:(?:---|\.\.\.)(?:\s|$)|\s*[}\]])/;

/** A longer line is not shown: nobody reads it, and showing it takes memory for each of its characters. */
export const MAX_LINE = 100_000;

/**
 * The lines of a text that are not shown, counted from 0: those with a key that looks secret, and those below it that may belong
 * to its value. In a text that is not the YAML that it was meant to be, such a name may lack its colon. Works on the text alone,
 * since lines are shown of files that don't parse too; rather hides too much than too little. Takes time in proportion to the text.
 */
export function secretLines(text: string, isBroken: boolean): Set<number> {
  const hidden = new Set<number>();
  let below: number | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const indent = /^[ \t]*(?:[-?][ \t]+)*/.exec(line)?.[0].length ?? 0;
    const isKey = keyLine.test(line);
    if (below !== undefined && (closing.test(line) || (isKey && indent <= below))) below = undefined;
    const found = below === undefined ? secretIn(line, isBroken, isKey) : undefined;
    if (found !== undefined) below = indent;
    if ((below !== undefined && found !== 'named') || holdsAddressSecret(line)) hidden.add(index);
  }
  return hidden;
}

/** Whether a line has a secret, or the name of a variable in the place of one. */
function secretIn(line: string, isBroken: boolean, isKey: boolean): 'secret' | 'named' | undefined {
  if (line.length > MAX_LINE) return 'secret';
  let found: 'named' | undefined;
  for (let colon = line.indexOf(':'); colon !== -1; colon = line.indexOf(':', colon + 1)) {
    const [, name = ''] = keyBefore.exec(line.slice(Math.max(0, colon - 130), colon)) ?? [];
    if (name === '' || !looksSecret(name)) continue;
    if (!isReference(line.slice(colon + 1))) return 'secret';
    found = 'named';
  }
  if (/^\s*(?:-\s+)*\?\s/.test(line) && looksSecret(line)) return 'secret';
  return isBroken && holdsStray(line, isKey) ? 'secret' : found;
}

const keyBefore = new RegExp(`((?:${keyCharacter.source})+)["']?[ \\t]*$`, 'u');

/** So many words of a line are looked at: a key stands at its beginning. */
const MAX_WORDS = 6;

/** Whether a line has a name that looks secret in the place of a key, its colon or the space behind that being missing. */
function holdsStray(line: string, isKey: boolean): boolean {
  let count = 0;
  for (const { 0: name, index } of line.matchAll(new RegExp(`(?:${keyCharacter.source})+`, 'gu'))) {
    const begins = /(?:^|[{,])\s*(?:-\s+)*["']?$/.test(line.slice(Math.max(0, index - 20), index));
    count += 1;
    if ((!begins && (isKey || count > MAX_WORDS)) || line.slice(0, index).endsWith('${')) continue;
    if (looksSecret(name) && !isReference(line.slice(index + name.length))) return true;
  }
  return false;
}

/** Whether an address has something before its `@` that isn't the name of a variable. */
function holdsAddressSecret(line: string): boolean {
  return /:\/\/(?!(?:\$\{[A-Za-z_]\w*\}:?)+@)[^\s/@"']{1,256}@/.test(line);
}

/** Whether a value is names of variables and at most the scheme of a header, which tells no secret. */
export function isReference(value: string): boolean {
  return (
    value.length < 200 &&
    /^[\s:=]*(["']?)\s*(?:(?:Bearer|Basic|Token)\s+)?(?:\$\{[A-Za-z_]\w*\}\s*)+\1[\s,}\]]*$/.test(value)
  );
}
