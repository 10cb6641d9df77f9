import { exactly } from '../base/values.js';
import type { SourceFile } from './file.js';
import { hideLoose, hideMember } from './hidden.js';
import { decimalText } from './number.js';
import { listNode, type Member, mapNode, type Node, type Range, type ScalarNode } from './tree.js';

/** How a value is written on a tape: its entry, then where it begins and ends in the text, then what else it takes. */
export const entry = {
  /** A plain scalar, as the schema takes it. */
  text: 0,
  null: 1,
  true: 2,
  false: 3,
  number: 4,
  /** A scalar in quotes that stands there as it is. */
  quoted: 5,
  /** A scalar that stands there otherwise, plain or not, and its place among the texts. */
  folded: 6,
  told: 7,
  /** With the number of its items. */
  list: 8,
  /** With the number of its members, each a scalar and its value. */
  map: 9,
} as const;

/**
 * The documents of a YAML text, one after the other, as numbers: what one thread can hand to another without copying a
 * tree, and what a tree is built from in no time.
 */
export interface Tape {
  readonly marks: ArrayLike<number>;
  readonly texts: readonly string[];
}

/** A tape, and where its text begins in that of the file. */
export interface PlacedTape {
  readonly tape: Tape;
  readonly offset: number;
}

/** Where the first key of a document stands in its file. */
export function startOnTape({ tape: { marks }, offset }: PlacedTape, at: number): number {
  // Behind the map's own entry, range and count there is the key's entry.
  const isKey = marks[at] === entry.map && (marks[at + 3] ?? 0) > 0;
  return offset + (marks[isKey ? at + 5 : at + 1] ?? 0);
}

/** Builds the trees of a tape's documents; `hides` says whether it masks in their file what may be a secret. */
export class TapeReader {
  readonly #file: SourceFile;
  readonly #tape: Tape;
  readonly #offset: number;
  readonly #hides: boolean;
  #at: number;

  constructor(
    file: SourceFile,
    { tape, offset }: PlacedTape,
    { at, hides }: { readonly at: number; readonly hides: boolean },
  ) {
    this.#file = file;
    this.#tape = tape;
    this.#offset = offset;
    this.#at = at;
    this.#hides = hides;
  }

  /** Where on the tape the next document begins. */
  get at(): number {
    return this.#at;
  }

  /** The next document; undefined where something is wrong with it. */
  next(): Node | undefined {
    return this.#node();
  }

  #take(): number {
    return this.#tape.marks[this.#at++] ?? 0;
  }

  #node(): Node | undefined {
    const kind = this.#take();
    if (kind < entry.list) return this.#scalar(kind);
    const range = this.#range();
    const count = this.#take();
    return kind === entry.map ? this.#map(range, count) : this.#list(range, count);
  }

  #range(): Range {
    const start = this.#offset + this.#take();
    return { start, end: this.#offset + this.#take() };
  }

  #scalar(kind: number): ScalarNode | undefined {
    const range = this.#range();
    const plain = kind < entry.quoted || kind === entry.folded;
    let value: ScalarNode['value'];
    let source: string;
    if (kind === entry.folded || kind === entry.told) {
      source = this.#tape.texts[this.#take()] ?? '';
      value = source;
    } else if (kind === entry.quoted) {
      source = this.#file.text.slice(range.start + 1, range.end - 1);
      value = source;
    } else {
      source = this.#file.text.slice(range.start, range.end);
      value = kind === entry.text ? source : null;
      if (kind === entry.true || kind === entry.false) value = kind === entry.true;
      if (kind === entry.number) {
        const number = decimalText(source);
        if (number === undefined) return undefined;
        value = exactly(number);
      }
    }
    if (plain && this.#hides) hideLoose(this.#file, source, range);
    return { type: 'scalar', value, plain, source, range, size: 1, height: 0 };
  }

  #list(range: Range, count: number): Node | undefined {
    const items: Node[] = [];
    for (let index = 0; index < count; index += 1) {
      const item = this.#node();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return listNode(range, items);
  }

  #map(range: Range, count: number): Node | undefined {
    const entries = new Map<string, Member>();
    for (let index = 0; index < count; index += 1) {
      const key = this.#key();
      if (key === undefined || entries.has(key.name)) return undefined;
      const value = this.#node();
      if (value === undefined) return undefined;
      if (this.#hides) hideMember(this.#file, key.name, key.range, value);
      entries.set(key.name, { key: key.range, value });
    }
    return mapNode(range, entries);
  }

  /** The name of a member; undefined where it is none that a member can have. */
  #key(): { readonly name: string; readonly range: Range } | undefined {
    const kind = this.#take();
    const range = this.#range();
    const { text } = this.#file;
    const name =
      kind === entry.told
        ? this.#tape.texts[this.#take()]
        : kind === entry.quoted
          ? text.slice(range.start + 1, range.end - 1)
          : kind === entry.text
            ? text.slice(range.start, range.end)
            : undefined;
    if (name === undefined || name === '__proto__' || (name === '<<' && kind === entry.text))
      return undefined;
    return { name, range };
  }
}
