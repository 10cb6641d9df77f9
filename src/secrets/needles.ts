import { foldedOf } from './decode.js';

/** Whether the characters beside a base64 needle hold bits of the secret too. */
export interface Edges {
  readonly before: boolean;
  readonly after: boolean;
}

/** Called for each needle that is found. */
export type OnFound = (from: number, to: number, edges: Edges) => void;

const noEdges: Edges = { before: false, after: false };

/** The needles of one length with one beginning. */
interface Length {
  readonly length: number;
  /** Rolling hashes, so that texts are only compared if they are very likely equal. */
  readonly hashes: Set<number>;
  readonly needles: Map<string, Edges>;
}

interface Beginning {
  /** The longest first, which wins. */
  readonly lengths: Length[];
  /** Whether the beginning alone is a needle. */
  run: boolean;
}

/** As it is, in lower case, or also without invisible characters. */
export type Fold = 'exact' | 'lowered' | 'squeezed';

const base = 0x2c1b3c6d;

/**
 * Finds many texts in one pass (Rabin-Karp). A server may answer with thousands of secrets while texts are shown, and a
 * regular expression would be rebuilt for each.
 */
export class Needles {
  /** The minimum length in units. */
  readonly size: number;
  readonly #byBeginning = new Map<string, Beginning>();
  /** A Bloom filter of the beginnings, so that most places in a text cost almost nothing. */
  #flags: Uint8Array | undefined;
  readonly #power: number;
  /** The last `size` units of the text. */
  readonly #window: Uint16Array;

  constructor(size: number) {
    this.size = size;
    this.#power = powerOf(size);
    this.#window = new Uint16Array(size);
  }

  /** Adds a text; a shorter one than `size` is ignored. */
  add(needle: string, edges: Edges = noEdges): void {
    if (needle.length < this.size) return;
    const { lengths } = this.#beginning(needle.slice(0, this.size));
    let group = lengths.find(({ length }) => length === needle.length);
    if (group === undefined) {
      group = { length: needle.length, hashes: new Set(), needles: new Map() };
      lengths.push(group);
      lengths.sort((one, other) => other.length - one.length);
    }
    group.hashes.add(hashOf(needle));
    if (!group.needles.has(needle)) group.needles.set(needle, edges);
  }

  /** Adds a part of a longer text, with exactly `size` units. */
  addRun(run: string): void {
    this.#beginning(run).run = true;
  }

  /** Whether a needle may be in a text, which is folded on the fly: much faster than `find`, since nearly all texts hold none. */
  beginIn(text: string, fold: Fold): boolean {
    const flags = this.#flags;
    const { size } = this;
    if (flags === undefined || text.length < size) return false;
    const power = this.#power;
    const window = this.#window.fill(0);
    let oldest = 0;
    let hash = 0;
    let count = 0;
    for (let index = 0; index < text.length; index += 1) {
      let unit = text.charCodeAt(index);
      if (fold !== 'exact') {
        const folded = foldedOf(text, index);
        if (fold === 'lowered') {
          if (folded >= 0) unit = folded;
        } else if (folded < 0) {
          index -= folded + 1;
          continue;
        } else unit = folded;
      }
      hash = (Math.imul(hash, base) + unit - Math.imul(window[oldest] ?? 0, power)) | 0;
      window[oldest] = unit;
      oldest = oldest + 1 === size ? 0 : oldest + 1;
      count += 1;
      if (count < size || !isFlagged(flags, hash)) continue;
      const units = [...window.subarray(oldest), ...window.subarray(0, oldest)];
      if (this.#byBeginning.has(String.fromCharCode(...units))) return true;
    }
    return false;
  }

  /** Finds all needles in a folded text. */
  find(text: string, onFound: OnFound): void {
    const flags = this.#flags;
    if (flags === undefined || text.length < this.size) return;
    const sums = sumsOf(text);
    const hash = (from: number, length: number, power: number): number =>
      ((sums[from + length] ?? 0) - Math.imul(sums[from] ?? 0, power)) | 0;
    for (let at = 0; at + this.size <= text.length; at += 1) {
      if (!isFlagged(flags, hash(at, this.size, this.#power))) continue;
      const beginning = this.#byBeginning.get(text.slice(at, at + this.size));
      if (beginning === undefined) continue;
      let found = beginning.run ? this.size : 0;
      let edges = noEdges;
      for (const { length, hashes, needles } of beginning.lengths) {
        if (at + length > text.length || !hashes.has(hash(at, length, powerOf(length)))) continue;
        const needle = needles.get(text.slice(at, at + length));
        if (needle === undefined) continue;
        found = length;
        edges = needle;
        break;
      }
      if (found === 0) continue;
      onFound(at, at + found, edges);
      // Another one may overlap its end.
      at += found - this.size;
    }
  }

  #beginning(text: string): Beginning {
    const known = this.#byBeginning.get(text);
    if (known !== undefined) return known;
    const made: Beginning = { lengths: [], run: false };
    this.#byBeginning.set(text, made);
    this.#flags ??= new Uint8Array(2 ** 17);
    const slot = slotOf(hashOf(text));
    this.#flags[slot >>> 3] = (this.#flags[slot >>> 3] ?? 0) | (1 << (slot & 7));
    return made;
  }
}

/** The bit of a hash in the filter. */
function slotOf(hash: number): number {
  return (hash ^ (hash >>> 12)) & 0xfffff;
}

function isFlagged(flags: Uint8Array, hash: number): boolean {
  const slot = slotOf(hash);
  return ((flags[slot >>> 3] ?? 0) & (1 << (slot & 7))) !== 0;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
  return hash;
}

/** The hash of each prefix of a text, from which the hash of any part follows. */
function sumsOf(text: string): Int32Array {
  const sums = new Int32Array(text.length + 1);
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) {
    hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
    sums[at + 1] = hash;
  }
  return sums;
}

const powers = new Map<number, number>();

function powerOf(length: number): number {
  const known = powers.get(length);
  if (known !== undefined) return known;
  let power = 1;
  for (let step = 0; step < length; step += 1) power = Math.imul(power, base);
  powers.set(length, power);
  return power;
}
