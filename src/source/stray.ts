import { keyCharacter, looksSecret } from '../base/secret-names.js';
import type { Span } from '../base/span.js';

/** A line that surely is a key with its colon; `- ` may stand before it. */
const keyLine = /^([ \t]*)(?:[-?][ \t]+)*["']?([^\s"':{}[\],#]{1,120})["']?[ \t]*:(?:\s|$)/;
/** So many words of a line are looked at: a key stands at its beginning. */
const MAX_WORDS = 6;

/**
 * Where a text that is no YAML may have a secret that no key stands before: behind a name that looks secret and lacks its
 * colon, and on the lines that follow such a name without being further in. Takes time in proportion to the text.
 */
export function strayRanges(text: string): Span[] {
  const found: Span[] = [];
  let isBelow = false;
  let indent = 0;
  let start = 0;
  while (start <= text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, Math.min(end, start + 2_000));
    const content = line.search(/\S/);
    if (content >= 0) {
      const key = keyLine.exec(line);
      if (isBelow && (/^(?:---|\.\.\.)(?:\s|$)/.test(line) || /^\s*[}\]]/.test(line))) isBelow = false;
      if (isBelow && key !== null && content <= indent) isBelow = false;
      if (isBelow) found.push({ start: start + content, end });
      else {
        const stray = strayAt(line, key !== null);
        if (stray !== undefined) found.push({ start: start + stray, end });
        if (stray !== undefined || (key !== null && looksSecret(key[2] ?? ''))) {
          isBelow = true;
          indent = content;
        }
      }
    }
    start = end + 1;
  }
  return found;
}

/** Where in a line a value begins whose key lacks its colon. */
function strayAt(line: string, hasKey: boolean): number | undefined {
  const word = new RegExp(`(?:${keyCharacter.source})+`, 'gu');
  for (let count = 0, match = word.exec(line); match !== null; match = word.exec(line)) {
    const begins = /(?:^|[{,])\s*(?:-\s+)*["']?$/.test(
      line.slice(Math.max(0, match.index - 20), match.index),
    );
    count += 1;
    if (hasKey ? !begins : count > MAX_WORDS && !begins) continue;
    const [name] = match;
    if (!looksSecret(name)) continue;
    const after = line.slice(word.lastIndex);
    const [gap = ''] = /^["']?[ \t]*[:=]?[ \t]*/.exec(after) ?? [];
    if (/^["']?\s*:(?:\s|$)/.test(after)) continue;
    // A name with the value in it would tell that.
    return name.length > 30 || /\d/.test(name) ? match.index : word.lastIndex + gap.length;
  }
  return undefined;
}
