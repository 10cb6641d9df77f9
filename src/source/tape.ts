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

/** Goes along a tape. */
class Cursor {
  readonly file: SourceFile;
  readonly #tape: Tape;
  readonly #offset: number;
  at: number;

  constructor(file: SourceFile, { tape, offset }: PlacedTape, at: number) {
    this.file = file;
    this.#tape = tape;
    this.#offset = offset;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#tape.marks.length;
  }

  take(): number {
    return this.#tape.marks[this.at++] ?? 0;
  }

  range(): Range {
    const start = this.#offset + this.take();
    return { start, end: this.#offset + this.take() };
  }

  /** The text of a scalar, behind whose range the cursor is. */
  text(kind: number, { start, end }: Range): string {
    if (kind === entry.folded || kind === entry.told) return this.#tape.texts[this.take()] ?? '';
    return kind === entry.quoted
      ? this.file.text.slice(start + 1, end - 1)
      : this.file.text.slice(start, end);
  }

  /** The name of a member, and where it stands. */
  key(): { readonly kind: number; readonly name: string; readonly range: Range } {
    const kind = this.take();
    const range = this.range();
    return { kind, name: this.text(kind, range), range };
  }
}

/** Whether a scalar of a kind is written without quotes and not as a block. */
function isPlain(kind: number): boolean {
  return kind < entry.quoted || kind === entry.folded;
}

/**
 * Where the documents of a tape begin on it, one after the other; what of each may be a secret is masked in the file. The last
 * is undefined where something is wrong with a document. No tree is built: those of a large file would all be there at once.
 */
export function* documentsOn(file: SourceFile, placed: PlacedTape): Generator<number | undefined, void> {
  const cursor = new Cursor(file, placed, 0);
  while (!cursor.isAtEnd) {
    const { at } = cursor;
    if (passed(cursor) === undefined) return yield undefined;
    yield at;
  }
}

/** Goes past a value; gives what it is, undefined where something is wrong with it. */
function passed(cursor: Cursor): Pick<Node, 'type' | 'range'> | undefined {
  const { file } = cursor;
  const kind = cursor.take();
  const range = cursor.range();
  if (kind === entry.list) {
    for (let left = cursor.take(); left > 0; left -= 1) if (passed(cursor) === undefined) return undefined;
    return { type: 'list', range };
  }
  if (kind === entry.map) {
    const names = new Set<string>();
    for (let left = cursor.take(); left > 0; left -= 1) {
      const key = cursor.key();
      const value = isMember(key) && !names.has(key.name) ? passed(cursor) : undefined;
      if (value === undefined) return undefined;
      names.add(key.name);
      hideMember(file, key.name, key.range, value);
    }
    return { type: 'map', range };
  }
  const source = cursor.text(kind, range);
  if (kind === entry.number && decimalText(source) === undefined) return undefined;
  if (isPlain(kind)) hideLoose(file, source, range);
  return { type: 'scalar', range };
}

/** Whether a key is one that a member can have. */
function isMember({ kind, name }: { readonly kind: number; readonly name: string }): boolean {
  const isText = kind === entry.text || kind === entry.quoted || kind === entry.told;
  return isText && name !== '__proto__' && (name !== '<<' || kind !== entry.text);
}

/** The tree of a document that begins at a place where `documentsOn` said that one does. */
export function treeOn(file: SourceFile, placed: PlacedTape, at: number): Node {
  return nodeAt(new Cursor(file, placed, at));
}

function nodeAt(cursor: Cursor): Node {
  const kind = cursor.take();
  const range = cursor.range();
  if (kind === entry.list) {
    const items: Node[] = [];
    for (let left = cursor.take(); left > 0; left -= 1) items.push(nodeAt(cursor));
    return listNode(range, items);
  }
  if (kind === entry.map) {
    const entries = new Map<string, Member>();
    for (let left = cursor.take(); left > 0; left -= 1) {
      const key = cursor.key();
      entries.set(key.name, { key: key.range, value: nodeAt(cursor) });
    }
    return mapNode(range, entries);
  }
  const source = cursor.text(kind, range);
  return {
    type: 'scalar',
    value: scalarOf(kind, source),
    plain: isPlain(kind),
    source,
    range,
    size: 1,
    height: 0,
  };
}

function scalarOf(kind: number, source: string): ScalarNode['value'] {
  if (kind === entry.null) return null;
  if (kind === entry.true || kind === entry.false) return kind === entry.true;
  return kind === entry.number ? exactly(decimalText(source) ?? source) : source;
}
