import { keyCharacter, looksSecret } from '../base/secret-names.js';
import type { Span } from '../base/span.js';

/**
 * Where a text has values of keys that look secret. Works on the text alone, since lines are shown of
 * files that don't parse too; rather masks too much than too little. Takes time in proportion to the text.
 */
export function secretRanges(text: string): Span[] {
  const found: Span[] = [];
  let lineStart = 0;
  let nextLine = lineEnd(text, 0) + 1;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    const keyStart = keyBefore(text, colon);
    if (keyStart === undefined) continue;
    const after = text.slice(colon + 1, colon + 500);
    const start = colon + 1 + (/^[ \t]*/.exec(after)?.[0].length ?? 0);
    // A tag or an anchor may be a secret whose quotes were forgotten.
    const at = colon + 1 + (/^(?:[ \t]*[!&][^\s,{}[\]]*(?=[ \t]))*[ \t]*/.exec(after)?.[0].length ?? 0);
    while (nextLine <= keyStart) {
      lineStart = nextLine;
      nextLine = lineEnd(text, nextLine) + 1;
    }
    const end = secretEnd(text, lineStart, keyStart, at);
    if (end > start) {
      if (!isReference(text.slice(start, end))) found.push({ start, end });
      colon = end - 1;
    }
  }
  found.push(...addressSecrets(text));
  return found;
}

/** What stands before the `@` of addresses. */
function addressSecrets(text: string): Span[] {
  const found: Span[] = [];
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const [, before = ''] = /^:\/\/([^\s/@"']{1,256})@/.exec(text.slice(at, at + 300)) ?? [];
    const named = before === '' || /^(?:\$\{[A-Za-z_]\w*\}:?)+$/.test(before);
    if (!named) found.push({ start: at + 3, end: at + 3 + before.length });
  }
  return found;
}

/** Whether a value is names of variables and at most the scheme of a header, which tells no secret. */
export function isReference(value: string): boolean {
  return (
    value.length < 200 &&
    /^(["']?)\s*(?:(?:Bearer|Basic|Token)\s+)?(?:\$\{[A-Za-z_]\w*\}\s*)+\1\s*$/.test(value)
  );
}

/** Where the key before a colon begins, if it looks secret. */
function keyBefore(text: string, colon: number): number | undefined {
  const last = text[colon - 1] ?? '';
  if (!/["'\s]/.test(last) && !keyCharacter.test(last)) return undefined;
  const end = keyCharacter.test(last) ? colon : colon - gapBefore(text, colon);
  let start = end;
  while (start > 0 && end - start < 120 && keyCharacter.test(text[start - 1] ?? '')) start -= 1;
  return start < end && looksSecret(text.slice(start, end)) ? start : undefined;
}

/** How much stands between a key and its colon. */
function gapBefore(text: string, colon: number): number {
  const before = text.slice(Math.max(0, colon - 100), colon);
  return /["']?[ \t]*(?:\r?\n[ \t]*)?$/.exec(before)?.[0].length ?? 0;
}

/** Where the value at `at` ends, of a key that stands at `key`. */
export function secretEnd(text: string, lineStart: number, key: number, at: number): number {
  const quoted = /["']/.test(text[key - 1] ?? '') ? 1 : 0;
  const indent = key - quoted - lineStart;
  const block = indent < 500 && /^\s*(?:[-?:][ \t]+)*$/.test(text.slice(lineStart, key - quoted));
  const first = text[at] ?? '';
  let end = at;
  if (first === '"' || first === "'") end = quotedEnd(text, at, first);
  else if (first === '{' || first === '[') end = flowEnd(text, at);
  else if (!block) {
    const plain = /[,}\]\n]/g;
    plain.lastIndex = at;
    return plain.exec(text)?.index ?? text.length;
  }
  if (!block) return end;
  end = lineEnd(text, end);
  while (end < text.length) {
    const next = lineEnd(text, end + 1);
    const line = text.slice(end + 1, next);
    const level = /^ */.exec(line)?.[0].length ?? 0;
    const item = level === indent && /^ *-(\s|$)/.test(line);
    if (line.trim() !== '' && level <= indent && !item) break;
    end = next;
  }
  return end;
}

/** Where the quote that opens at `at` is closed. */
export function quotedEnd(text: string, at: number, quote: string): number {
  for (let index = at + 1; index < text.length; index += 1) {
    if (quote === '"' && text[index] === '\\') index += 1;
    else if (text[index] === quote) {
      if (quote === "'" && text[index + 1] === quote) index += 1;
      else return index + 1;
    }
  }
  return text.length;
}

function flowEnd(text: string, at: number): number {
  let depth = 0;
  for (let index = at; index < text.length; index += 1) {
    const char = text[index];
    if (char === '"' || char === "'") index = quotedEnd(text, index, char) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return text.length;
}

/** Where the line of an offset ends. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
