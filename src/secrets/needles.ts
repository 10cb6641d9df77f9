/** Whether the characters beside a base64 needle hold bits of the secret too. */
export interface Edges {
  readonly before: boolean;
  readonly after: boolean;
}

const noEdges: Edges = { before: false, after: false };

/** Finds many texts in one pass; a regular expression would be rebuilt for each secret that a server answers with. */
export class Needles {
  /** The minimum length in units, at least four. */
  readonly size: number;
  /** By their first `size` units and their length; the longest first, which wins. */
  readonly #byBeginning = new Map<
    string,
    { readonly length: number; readonly needles: Map<string, Edges> }[]
  >();

  /** Which hashes of four units a needle begins with, so that most places in a text cost almost nothing. */
  readonly #begins = new Uint8Array(2 ** 16);

  constructor(size: number) {
    this.size = size;
  }

  get isEmpty(): boolean {
    return this.#byBeginning.size === 0;
  }

  /** Adds a text; a shorter one than `size` is ignored. */
  add(needle: string, edges: Edges = noEdges): void {
    const { length } = needle;
    if (length < this.size) return;
    const beginning = needle.slice(0, this.size);
    const lengths = this.#byBeginning.get(beginning) ?? [];
    this.#byBeginning.set(beginning, lengths);
    this.#begins[hashAt(needle, 0)] = 1;
    const same = lengths.find((one) => one.length === length);
    if (same === undefined) lengths.push({ length, needles: new Map([[needle, edges]]) });
    else if ((same.needles.get(needle) ?? noEdges) === noEdges) same.needles.set(needle, edges);
    if (same === undefined) lengths.sort((one, other) => other.length - one.length);
  }

  /** Calls `onFound` for each needle in a text. */
  find(text: string, onFound: (from: number, to: number, edges: Edges) => void): void {
    if (this.isEmpty) return;
    for (let at = 0; at + this.size <= text.length; at += 1) {
      if (this.#begins[hashAt(text, at)] === 0) continue;
      for (const { length, needles } of this.#byBeginning.get(text.slice(at, at + this.size)) ?? []) {
        const edges = needles.get(text.slice(at, at + length));
        if (edges === undefined) continue;
        onFound(at, at + length, edges);
        // Another one may overlap its end.
        at += length - this.size;
        break;
      }
    }
  }
}

/** A hash of four units. */
function hashAt(text: string, at: number): number {
  const pair = (from: number) => text.charCodeAt(from) * 31 + text.charCodeAt(from + 1);
  return (pair(at) * 961 + pair(at + 2)) & 0xffff;
}
