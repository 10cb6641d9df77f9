import { atOnce, type Steps } from '../base/pauses.js';
import { composing } from './composed.js';
import type { SourceFile } from './file.js';
import type { ParsedDocument, ParsedFile } from './parsed.js';
import { takingApart } from './quick.js';
import { documentsOn, type PlacedTape, startOnTape, treeOn } from './tape.js';
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
    for (const at of documentsOn(file, placed)) {
      if (at === undefined) return undefined;
      documents.push(new TapedDocument(file, placed, at));
      yield;
    }
  }
  return { documents, problems: [] };
}

/** A document whose tree is built when it is asked for, and again where it was given back. */
class TapedDocument implements ParsedDocument {
  readonly broken = false;
  readonly #file: SourceFile;
  readonly #placed: PlacedTape;
  readonly #at: number;
  /** Null where it was given back. */
  #root: Node | undefined | null;

  constructor(file: SourceFile, placed: PlacedTape, at: number) {
    this.#file = file;
    this.#placed = placed;
    this.#at = at;
  }

  get root(): Node {
    if (this.#root) return this.#root;
    const root = treeOn(this.#file, this.#placed, this.#at);
    if (this.#root === undefined) this.#root = root;
    return root;
  }

  get start(): number {
    return startOnTape(this.#placed, this.#at);
  }

  forget(): void {
    this.#root = null;
  }
}
