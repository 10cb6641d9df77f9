import { distance } from 'fastest-levenshtein';
import { keyCharacter, looksLikeCredential } from '../base/secret-names.js';
import type { Span } from '../base/span.js';
import { isReference, lineEnd, quotedEnd, secretEnd } from './mask.js';

/** What the members of such a section say in plain words; whatever else stands there may be a secret. */
const plainMembers: { readonly [member: string]: RegExp } = {
  name: /^[A-Za-z][A-Za-z-]{0,40}$/,
  pass_env: /^[A-Z_][A-Z0-9_]*$/,
  ca_file: /^[\w.~${}/\\:-]*[./\\}][\w.~${}/\\:-]*$/,
  client_cert_file: /^[\w.~${}/\\:-]*[./\\}][\w.~${}/\\:-]*$/,
  client_key_file: /^[\w.~${}/\\:-]*[./\\}][\w.~${}/\\:-]*$/,
  base_url: /^https?:\/\/[\w.:/[\]-]+$/,
  profile: /^[a-z][a-z-]{1,30}$/,
};

/** Characters of a line behind which sections are taken to fill the rest of it. */
const longLine = 5_000;

/** A key that repeats nothing but a name. */
const plainKey = /^[A-Za-z_][\w-]{0,40}$/;

/**
 * Where a configuration has a credential, or may have one: all that stands in the sections that authenticate, save what
 * their known members say. Works on the text alone, since lines are shown of files that don't parse too.
 */
export function credentialRanges(text: string): Span[] {
  const found: Span[] = [];
  const word = /[A-Za-z_]+/g;
  let lineStart = 0;
  let lineStop = lineEnd(text, 0);
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    const [name] = match;
    if (!isSection(name)) continue;
    // Looking for it backwards each time would take the square of a long line's length.
    while (lineStop < match.index) {
      lineStart = lineStop + 1;
      lineStop = lineEnd(text, lineStart);
    }
    const section = sectionAt(text, lineStart, match.index, word.lastIndex);
    if (section === undefined) continue;
    hideWithin(text, section, found);
    word.lastIndex = Math.max(word.lastIndex, section.end);
  }
  return found;
}

/** Whether a key is that of a section with credentials, also where it is mistyped. */
function isSection(name: string): boolean {
  const lower = name.toLowerCase();
  if (lower === 'tls' || /^auth(?:n|entication)?$/.test(lower)) return true;
  if (lower.length < 3 || lower.length > 8) return false;
  return (
    (lower.startsWith('a') && lower.length <= 5 && distance(lower, 'auth') <= 2) ||
    (lower.startsWith('h') && distance(lower, 'header') <= 2)
  );
}

/** What belongs to a key, which may lack its colon; undefined where the word is none. */
function sectionAt(text: string, lineStart: number, key: number, keyEnd: number): Span | undefined {
  // A key that begins its line is not that far in; a line may be the whole file.
  const isFar = key - lineStart > 500;
  const before = text.slice(isFar ? key - 50 : lineStart, key);
  const after = text[keyEnd] ?? '';
  if (keyCharacter.test(after)) return undefined;
  const isBlock = !isFar && /^\s*(?:[-?][ \t]+)*["']?$/.test(before);
  if (!isBlock && !/[{,]\s*["']?$/.test(before)) return undefined;
  const [gap = ''] = /^["']?[ \t]*:?[ \t]*/.exec(text.slice(keyEnd, keyEnd + 200)) ?? [];
  const start = keyEnd + gap.length;
  // Nobody writes by hand a line in which it takes long to find out where a section ends.
  if (key - lineStart > longLine) return { start, end: lineEnd(text, keyEnd) };
  let end = secretEnd(text, lineStart, key, start);
  if (isBlock && text.slice(start, end).trim() === '') end = besideEnd(text, key - lineStart, end);
  return { start, end };
}

/** Where the lines end that stand as far in as an empty section, to which they may have been meant to belong. */
function besideEnd(text: string, indent: number, from: number): number {
  if (indent === 0) return from;
  let end = from;
  while (end < text.length) {
    const next = lineEnd(text, end + 1);
    const line = text.slice(end + 1, next);
    if (line.trim() !== '' && line.search(/\S/) < indent) break;
    end = next;
  }
  return end;
}

function hideWithin(text: string, { start, end }: Span, found: Span[]): void {
  let owner: string | undefined;
  let at = start;
  while (at < end) {
    const char = text[at] ?? '';
    if (/[\s{}[\],]/.test(char) || (/[-?]/.test(char) && /\s/.test(text[at + 1] ?? ' '))) {
      at += 1;
      continue;
    }
    const isQuoted = char === '"' || char === "'";
    const tokenEnd = Math.min(end, isQuoted ? quotedEnd(text, at, char) : plainEnd(text, at));
    const written = text.slice(at, tokenEnd);
    const said = isQuoted ? written.slice(1, -1) : written;
    const [colon] = /^[ \t]*:(?=[\s,{}[\]"']|$)/.exec(text.slice(tokenEnd, tokenEnd + 100)) ?? [];
    const isKey = colon !== undefined;
    const isPlain = isKey
      ? plainKey.test(said) && !endsThere(text, tokenEnd + colon.length)
      : isOpen(owner, said);
    if (!isPlain && !isReference(written)) {
      // A known key whose colon is missing tells nothing.
      const [known = ''] =
        /^["']?(?:token|header|name|value|client_\w{2,10})\b["']?[ \t]*[:=]?[ \t]*/.exec(written) ?? [];
      const from = known.length < written.length ? at + known.length : at;
      if (!isReference(text.slice(from, tokenEnd))) found.push({ start: from, end: tokenEnd });
    }
    if (isKey) owner = said;
    else if (owner !== 'pass_env') owner = undefined;
    at = tokenEnd + (colon?.length ?? 0);
    if (at < end && at === tokenEnd && text[at] === ':') at += 1;
  }
}

function isOpen(owner: string | undefined, said: string): boolean {
  const pattern = owner !== undefined && Object.hasOwn(plainMembers, owner) ? plainMembers[owner] : undefined;
  return pattern?.test(said) === true && said.length <= 100 && !looksLikeCredential(said);
}

/** Whether a key has nothing behind its colon, neither there nor on lines that are further in. */
function endsThere(text: string, at: number): boolean {
  const [rest = ''] = text.slice(at, at + 500).split('\n', 1);
  if (!/^\s*(?:$|[,}#])/.test(rest)) return false;
  const [, below = ''] = /^[^\n]*\n([^\n]*)/.exec(text.slice(at, at + 500)) ?? [];
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^\s*[,}]/.test(rest) || below.trim() === '' || below.search(/\S/) <= line.search(/\S/);
}

/** Where a value without quotes ends: with its line, at a mark of brackets, or where it turns out to be a key. */
function plainEnd(text: string, at: number): number {
  const stop = /\$\{[^{}\n]{0,200}\}|\n|\s*:(?=[\s,{}[\]]|$)|[,{}[\]]/g;
  stop.lastIndex = at;
  let found = stop.exec(text);
  // A reference is part of a value.
  while (found?.[0].startsWith('$') === true) found = stop.exec(text);
  return Math.max(found?.index ?? text.length, at + 1);
}
