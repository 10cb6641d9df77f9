import { atOnce, type Steps } from '../base/pauses.js';
import { composing } from './composed.js';
import type { SourceFile } from './file.js';
import type { ParsedDocument, ParsedFile } from './parsed.js';
import { takingApart } from './quick.js';
import { type PlacedTape, startOnTape, TapeReader } from './tape.js';
import type { Node } from './tree.js';

/**
 * Parses YAML 1.2 (core schema) and reports every error at its place. Never throws. `tapes` are what was taken apart of
 * the file beforehand; null where that can't be done.
 */
export function parseYaml(file: SourceFile, tapes?: readonly PlacedTape[] | null): ParsedFile {
  return atOnce(parsing(file, tapes));
}

/** The same in steps. */
export function* parsing(file: SourceFile, given?: readonly PlacedTape[] | null): Steps<ParsedFile> {
  const tapes = given === undefined ? yield* wholeTape(file.text) : given;
  const plain = tapes === null ? undefined : yield* readingPlain(file, tapes);
  return plain ?? (yield* composing(file));
}

function* wholeTape(text: string): Steps<readonly PlacedTape[] | null> {
  const tape = yield* takingApart(text);
  return tape === undefined ? null : [{ tape, offset: 0 }];
}

/** The documents of a file that is plain and surely right; undefined for any other. */
function* readingPlain(file: SourceFile, tapes: readonly PlacedTape[]): Steps<ParsedFile | undefined> {
  const documents: ParsedDocument[] = [];
  for (const placed of tapes) {
    const reader = new TapeReader(file, placed, { at: 0, hides: true });
    for (let { at } = reader; at < placed.tape.marks.length; { at } = reader) {
      const root = reader.next();
      if (root === undefined) return undefined;
      documents.push(new TapedDocument(file, placed, at, root));
      yield;
    }
  }
  return { documents, problems: [] };
}

/** A document whose tree is built again from its tape where it was given back. */
class TapedDocument implements ParsedDocument {
  readonly broken = false;
  readonly #file: SourceFile;
  readonly #placed: PlacedTape;
  readonly #at: number;
  #root: Node | undefined;

  constructor(file: SourceFile, placed: PlacedTape, at: number, root: Node) {
    this.#file = file;
    this.#placed = placed;
    this.#at = at;
    this.#root = root;
  }

  get root(): Node {
    const root =
      this.#root ?? new TapeReader(this.#file, this.#placed, { at: this.#at, hides: false }).next();
    if (root === undefined) throw new Error('a tape that was read can be read again');
    return root;
  }

  get start(): number {
    return startOnTape(this.#placed, this.#at);
  }

  forget(): void {
    this.#root = undefined;
  }
}
