import { decodeHTML } from 'entities/decode';

/** A text, or a decoded form of it with the offsets in the original. */
export interface Layer {
  readonly text: string;
  /** Where each unit of `text` begins and ends in the original; null for the original itself. */
  readonly from: Int32Array | null;
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
 * A text and its decoded forms, repeatedly: all kinds of escapes together, and if there are several kinds, each alone,
 * since what looks like an escape may be part of a secret.
 */
export function* layersOf(text: string): Generator<Layer> {
  const layer: Layer = { text, from: null, to: null };
  yield layer;
  const kinds = escapes.filter(([begin]) => text.includes(begin));
  if (kinds.length === 0) return;
  yield* decodedLayers(layer, everyEscape);
  if (kinds.length === 1) return;
  for (const [, pattern] of kinds) yield* decodedLayers(layer, new RegExp(pattern, 'gi'));
}

function* decodedLayers(first: Layer, pattern: RegExp): Generator<Layer> {
  let layer: Layer | null = first;
  for (let count = 0; count < maxDecodings; count += 1) {
    layer = decoded(layer, pattern);
    if (layer === null) return;
    yield layer;
  }
}

function decoded({ text, from, to }: Layer, pattern: RegExp): Layer | null {
  if (text.search(pattern) === -1) return null;
  const pieces: string[] = [];
  const starts = new Int32Array(text.length);
  const ends = new Int32Array(text.length);
  let length = 0;
  let kept = 0;
  const keep = (end: number): void => {
    for (let at = kept; at < end; at += 1) {
      starts[length] = from?.[at] ?? at;
      ends[length] = to?.[at] ?? at + 1;
      length += 1;
    }
    pieces.push(text.slice(kept, end));
    kept = end;
  };
  for (const { 0: written, index } of text.matchAll(pattern)) {
    const plain = unescaped(written);
    // Decoding never makes a text longer, so the arrays are large enough.
    if (plain === written || plain.length > written.length) continue;
    keep(index);
    kept = index + written.length;
    pieces.push(plain);
    for (let unit = 0; unit < plain.length; unit += 1) {
      starts[length] = from?.[index] ?? index;
      ends[length] = to?.[kept - 1] ?? kept;
      length += 1;
    }
  }
  if (pieces.length === 0) return null;
  keep(text.length);
  return { text: pieces.join(''), from: starts.subarray(0, length), to: ends.subarray(0, length) };
}

const letters: { readonly [letter: string]: string } = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescaped(written: string): string {
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

/** A text in lower case, with as many units. */
export function lowered(text: string): string {
  // The small letter of the first has two units; that of Σ depends on what is beside it.
  return text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('ς', 'σ');
}

/** White space, control and invisible characters; the empty Braille pattern is a symbol, but invisible. */
const invisible = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/** A text in lower case without white space, control and invisible characters. */
export function squeezed(text: string): string {
  return lowered(text).replace(invisible, '');
}

/** The offset in a text of each unit of its squeezed form. */
export function squeezedOffsets(text: string): number[] {
  const offsets: number[] = [];
  let from = 0;
  const keep = (end: number): void => {
    for (; from < end; from += 1) offsets.push(from);
  };
  for (const { 0: gone, index } of lowered(text).matchAll(invisible)) {
    keep(index);
    from = index + gone.length;
  }
  keep(text.length);
  return offsets;
}
