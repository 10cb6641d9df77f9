import { decodeHTML } from 'entities/decode';

/** A text as it is, or with what was encoded in it decoded, and where each part of that stands in the text as it is. */
export interface Layer {
  readonly text: string;
  /** Where each unit of `text` begins and ends in the first layer; null in the first itself. */
  readonly from: Int32Array | null;
  readonly to: Int32Array | null;
}

/** So often a text is decoded; a token in JSON in JSON in a URL is found. */
const maxDecodings = 3;

/** Escapes as JSON, URLs and HTML have them, each for one character, by what they begin with. */
const escapes: readonly (readonly [string, string])[] = [
  ['\\', String.raw`\\(?:u\{[0-9a-f]{1,6}\}|u[0-9a-f]{4}|x[0-9a-f]{2}|["'\\/bfnrt])`],
  [
    '%',
    '%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}',
  ],
  // Browsers take numbers of any length, and need no semicolon behind them, nor behind the oldest names.
  [
    '&',
    String.raw`&(?:#\d{1,24};?|#x[0-9a-f]{1,24};?|[a-z][a-z0-9]{1,31};|(?:amp|lt|gt|quot|[aeiou]uml|copy|reg|nbsp|sect|szlig))`,
  ],
];
const everyEscape = new RegExp(escapes.map(([, pattern]) => pattern).join('|'), 'gi');

/** Whether a text has anything in it that an escape begins with. */
export function mayHoldEscapes(text: string): boolean {
  return escapes.some(([begin]) => text.includes(begin));
}

/**
 * A text, and what is in it once and again decoded, as long as there is something to decode: of all kinds together, and
 * where there are several, of each alone too, since what looks like an escape may be part of a secret.
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
    const meant = meaningOf(written);
    // No escape is shorter than what it stands for, so the arrays have room.
    if (meant === written || meant.length > written.length) continue;
    keep(index);
    kept = index + written.length;
    pieces.push(meant);
    for (let unit = 0; unit < meant.length; unit += 1) {
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

function meaningOf(written: string): string {
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

/** A text in which what looks alike is alike, and where each of its units stands in the text that it is of. */
export interface Folded {
  readonly text: string;
  /** Null where each unit stands where it did. */
  readonly at: Int32Array | null;
}

/** A text in small letters, unit by unit. */
export function lowered(text: string): Folded {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const folded = foldedOf(text, at);
    units[at] = folded < 0 ? text.charCodeAt(at) : folded;
  }
  return { text: textOfUnits(units), at: null };
}

/** A text in small letters without white space, control characters and what can't be seen. */
export function squeezed(text: string): Folded & { readonly at: Int32Array } {
  const units = new Uint16Array(text.length);
  const at = new Int32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const folded = foldedOf(text, index);
    if (folded < 0) {
      index -= folded + 1;
      continue;
    }
    units[length] = folded;
    at[length] = index;
    length += 1;
  }
  return { text: textOfUnits(units.subarray(0, length)), at: at.subarray(0, length) };
}

/** The small letter of a unit; where what begins there can't be seen, the number of its units, below zero. */
export function foldedOf(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  // All that is of these code points can't be seen: tags and variation selectors.
  if (unit === 0xdb40 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) return -2;
  const answer = knownOf(unit);
  return answer === 1 ? -1 : answer - 2;
}

function textOfUnits(units: Uint16Array): string {
  // No TextDecoder, which would replace lone surrogates.
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le');
}

/** What is known of each unit: 0 nothing yet, 1 that it is ignored, else its small letter and 2. */
let known: Uint32Array | undefined;

function knownOf(unit: number): number {
  known ??= new Uint32Array(2 ** 16);
  const before = known[unit] ?? 0;
  if (before !== 0) return before;
  const character = String.fromCharCode(unit);
  const small = character.toLowerCase();
  // An empty Braille pattern shows nothing, and Unicode has it as a symbol.
  const ignored = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(character);
  const answer = ignored ? 1 : (small.length === 1 ? small.charCodeAt(0) : unit) + 2;
  known[unit] = answer;
  return answer;
}
