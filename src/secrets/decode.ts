import { decodeHTML } from 'entities/decode';

/** A text, or a decoded form of it with its offsets in the original. */
export interface Decoding {
  readonly text: string;
  /** The offset in the original at which each UTF-16 unit of `text` begins; null for the original itself. */
  readonly from: Int32Array | null;
  /** The offset at which each unit ends. */
  readonly to: Int32Array | null;
}

/** Enough for a token in JSON in JSON in a URL. */
const maxDecodings = 3;

/** Escapes of one character in JSON, URLs and HTML, by their first character. */
const escapes: readonly (readonly [string, string])[] = [
  ['\\', String.raw`\\(?:u\{[0-9a-f]{1,6}\}|u[0-9a-f]{4}|x[0-9a-f]{2}|["'\\/bfnrt])`],
  [
    '%',
    '%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}',
  ],
  // Browsers accept numbers of any length, and need no semicolon after them or after the oldest names.
  [
    '&',
    String.raw`&(?:#\d{1,24};?|#x[0-9a-f]{1,24};?|[a-z][a-z0-9]{1,31};|(?:amp|lt|gt|quot|[aeiou]uml|copy|reg|nbsp|sect|szlig))`,
  ],
];
const everyEscape = new RegExp(escapes.map(([, pattern]) => pattern).join('|'), 'gi');

/**
 * A text and its decoded forms, up to three levels deep. If the text has several kinds of escapes, they are decoded both
 * together and one kind at a time, since a part of a secret may look like an escape.
 */
export function* decodingsOf(text: string): Generator<Decoding> {
  const original: Decoding = { text, from: null, to: null };
  yield original;
  const kinds = escapes.filter(([begin]) => text.includes(begin));
  if (kinds.length === 0) return;
  yield* decodeRepeatedly(original, everyEscape);
  if (kinds.length === 1) return;
  for (const [, pattern] of kinds) yield* decodeRepeatedly(original, new RegExp(pattern, 'gi'));
}

function* decodeRepeatedly(first: Decoding, pattern: RegExp): Generator<Decoding> {
  let decoding: Decoding | null = first;
  for (let count = 0; count < maxDecodings; count += 1) {
    decoding = decodeOnce(decoding, pattern);
    if (decoding === null) return;
    yield decoding;
  }
}

function decodeOnce({ text, from, to }: Decoding, pattern: RegExp): Decoding | null {
  if (text.search(pattern) === -1) return null;
  const pieces: string[] = [];
  const starts = new Int32Array(text.length);
  const ends = new Int32Array(text.length);
  let length = 0;
  let copied = 0;
  const copyUntil = (end: number): void => {
    for (let at = copied; at < end; at += 1) {
      starts[length] = from?.[at] ?? at;
      ends[length] = to?.[at] ?? at + 1;
      length += 1;
    }
    pieces.push(text.slice(copied, end));
    copied = end;
  };
  for (const { 0: written, index } of text.matchAll(pattern)) {
    const plain = decodeEscape(written);
    // Decoding never makes a text longer, so the arrays are large enough.
    if (plain === written || plain.length > written.length) continue;
    copyUntil(index);
    copied = index + written.length;
    pieces.push(plain);
    for (let unit = 0; unit < plain.length; unit += 1) {
      starts[length] = from?.[index] ?? index;
      ends[length] = to?.[copied - 1] ?? copied;
      length += 1;
    }
  }
  if (pieces.length === 0) return null;
  copyUntil(text.length);
  return { text: pieces.join(''), from: starts.subarray(0, length), to: ends.subarray(0, length) };
}

const letters: { readonly [letter: string]: string } = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function decodeEscape(written: string): string {
  if (written.startsWith('&')) return decodeHTML(written);
  if (written.startsWith('%')) {
    try {
      return decodeURIComponent(written);
    } catch {
      return written;
    }
  }
  const letter = written[1] ?? '';
  if (written.length === 2) return letters[letter] ?? letter;
  const code = Number.parseInt(written.replace(/^\\[ux]\{?|\}$/gi, ''), 16);
  return code > 0x10ffff
    ? written
    : written.length === 6
      ? String.fromCharCode(code)
      : String.fromCodePoint(code);
}

/** A text in lower case, with the same number of UTF-16 units. */
export function lowerCase(text: string): string {
  // Lower case of U+0130 has two units; that of Σ depends on its neighbours.
  return text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('ς', 'σ');
}

/** White space, control and invisible characters, including the empty Braille pattern. */
const invisible = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/** A text in lower case without white space, control and invisible characters. */
export function compact(text: string): string {
  return lowerCase(text).replace(invisible, '');
}

/** The offset in a text of each unit of its compact form. */
export function compactOffsets(text: string): number[] {
  const offsets: number[] = [];
  let from = 0;
  const keepUntil = (end: number): void => {
    for (; from < end; from += 1) offsets.push(from);
  };
  for (const { 0: gone, index } of lowerCase(text).matchAll(invisible)) {
    keepUntil(index);
    from = index + gone.length;
  }
  keepUntil(text.length);
  return offsets;
}
