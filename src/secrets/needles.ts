/** Whether the characters next to a base64 needle also contain bits of the secret. */
export interface Edges {
  readonly before: boolean;
  readonly after: boolean;
}

const noEdges: Edges = { before: false, after: false };

/** Finds many texts in one pass. A regular expression would have to be rebuilt for each new secret. */
export class Needles {
  /** The minimum length in UTF-16 units, at least four. */
  readonly size: number;
  /** Needles by their first `size` units and their length, the longest first: it wins. */
  readonly #byBeginning = new Map<
    string,
    { readonly length: number; readonly needles: Map<string, Edges> }[]
  >();

  /** The hashes of the first four units of all needles: they rule out most offsets in a text at almost no cost. */
  readonly #begins = new Uint8Array(2 ** 16);

  constructor(size: number) {
    this.size = size;
  }

  get isEmpty(): boolean {
    return this.#byBeginning.size === 0;
  }

  /** Adds a text; ignores texts shorter than `size`. */
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
