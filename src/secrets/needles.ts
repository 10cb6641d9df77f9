import { foldedOf } from './decode.js';

/** How a needle is cut out of an encoding: whether the characters beside it hold bits of the secret too. */
export interface Edges {
  readonly before: boolean;
  readonly after: boolean;
}

/** Told of each place where a needle was found. */
export type OnFound = (from: number, to: number, edges: Edges) => void;

const noEdges: Edges = { before: false, after: false };

/** The needles of one length that begin alike. */
interface Length {
  readonly length: number;
  /** By a hash that costs the same for every length, so that a text is compared only where it is most likely one. */
  readonly hashes: Set<number>;
  readonly needles: Map<string, Edges>;
}

interface Beginning {
  /** The greatest length first: the longest one wins. */
  readonly lengths: Length[];
  /** Whether this much is a find by itself. */
  run: boolean;
}

/** How a text is taken: as it is, in small letters, or without what can't be seen as well. */
export type Fold = 'exact' | 'lowered' | 'squeezed';

const base = 0x2c1b3c6d;

/**
 * Texts to look for, by how they begin. A server may answer with thousands of secrets while texts are shown, and a
 * regular expression of all would be built anew for each. A text is gone through once, however many there are.
 */
export class Needles {
  /** How many units they begin with at least. */
  readonly size: number;
  readonly #byBeginning = new Map<string, Beginning>();
  /** Whether any needle begins so, by hash, so that most places of a text cost next to nothing. */
  #flags: Uint8Array | undefined;
  readonly #power: number;
  /** The last units of a text that is gone through. */
  readonly #window: Uint16Array;

  constructor(size: number) {
    this.size = size;
    this.#power = powerOf(size);
    this.#window = new Uint16Array(size);
  }

  /** Adds a text; one that is shorter than all must be is left out. */
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

  /** Adds a text of exactly `size` units that is found wherever it stands, as a part of a longer one. */
  addRun(run: string): void {
    this.#beginning(run).run = true;
  }

  /**
   * Whether any of them begins in a text that isn't folded yet. Nearly all texts hold none: this keeps nothing of them,
   * so that it costs a fraction of looking where each unit stands.
   */
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

  /** Looks for all of them in one pass. */
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
      // Another one may begin within the last units of it.
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

/** The bit that a hash has among those of all beginnings. */
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

/** The hash of each beginning of a text, of which the hash of any part follows. */
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
