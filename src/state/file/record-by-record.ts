import { readSync } from 'node:fs';
import { parseJson } from '../../base/json.js';
import { isMap, put } from '../../base/values.js';

/** How many bytes are read at once: texts of a megabyte are kept outside of the heap, and the collector hurries after them. */
const PART = 256 * 1024;

/** How a state is written: what stands before its first record, between two of them, and behind the last. */
const opening = '\n  "resources": {';
const between = '\n    },\n    "';
const closing = '\n    }\n  }';

/** Stands for the records while the rest is read: an address has no such name. */
const here = '(the records)';

/**
 * What is in the file of a state, one record after the other, so that its text is never there as a whole: that of a large
 * state takes more memory than what it says. Undefined where the file isn't laid out as a state is written, or isn't
 * right: reading it as a whole tells which.
 */
export function readRecordByRecord(file: number, part = PART): unknown {
  try {
    return new Reading().read(file, part);
  } catch {
    return undefined;
  }
}

class Reading {
  readonly #records: { [key: string]: unknown } = {};
  #head: string | undefined;
  /** What was read and isn't taken apart yet. */
  #text = '';

  read(file: number, part: number): unknown {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const bytes = Buffer.allocUnsafe(part);
    for (let at = 0; ; ) {
      const length = readSync(file, bytes, 0, part, at);
      at += length;
      this.#text += decoder.decode(bytes.subarray(0, length), { stream: length > 0 });
      if (length === 0) return this.#ended();
      if (this.#takeHead()) this.#takeRecords();
      else if (this.#text.length > PART) return undefined;
    }
  }

  /** Whether what stands before the records was found, or is found now. */
  #takeHead(): boolean {
    if (this.#head !== undefined) return true;
    const at = this.#text.indexOf(opening);
    if (at < 0) return false;
    const end = at + opening.length;
    this.#head = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return true;
  }

  #takeRecords(): void {
    let from = 0;
    for (let at = this.#text.indexOf(between); at >= 0; at = this.#text.indexOf(between, from)) {
      this.#take(this.#text.slice(from, at));
      from = at + between.length - 1;
    }
    this.#text = this.#text.slice(from);
  }

  /** Takes a record whose last line is missing. No line ends within a text of JSON, so that it ends where a record does. */
  #take(record: string): void {
    const read = parseJson(`{${record}\n    }}`);
    const [entry, ...more] = isMap(read) ? Object.entries(read) : [];
    if (entry === undefined || more.length > 0) throw new SyntaxError('not a record');
    put(this.#records, ...entry);
  }

  #ended(): unknown {
    const at = this.#text.indexOf(closing);
    if (this.#head === undefined || at < 0) return undefined;
    this.#take(this.#text.slice(0, at));
    const rest = this.#text.slice(at + closing.length);
    const state = parseJson(`${this.#head}${JSON.stringify(here)}: null}${rest}`);
    if (!isMap(state) || !isMap(state.resources) || !(here in state.resources)) return undefined;
    return { ...state, resources: this.#records };
  }
}
