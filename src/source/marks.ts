import type { Range } from './tree.js';

/** What the lexer says before a plain value's text. */
const PLAIN = '\u001f';
/** What it says where brackets end without having been closed. */
const FLOW_END = '\u0018';

/**
 * Where quotes and brackets open that close on another line, or never: what a parser finds wrong about them it finds far from there.
 */
export class Marks {
  readonly #quotes: Range[] = [];
  readonly #unclosed: number[] = [];
  readonly #open: { readonly closes: string; readonly offset: number }[] = [];
  #isText = false;

  /** Takes the next piece of the text, which begins at an offset. */
  see(lexeme: string, offset: number): void {
    const isText = this.#isText;
    this.#isText = lexeme === PLAIN;
    if (isText) return;
    if (lexeme === '[' || lexeme === '{') this.#open.push({ closes: lexeme === '[' ? ']' : '}', offset });
    else if (lexeme === ']' || lexeme === '}') {
      if (this.#open.at(-1)?.closes === lexeme) this.#open.pop();
    } else if (lexeme === FLOW_END) {
      for (const one of this.#open.splice(0)) this.#unclosed.push(one.offset);
    } else if (lexeme[0] === '"' || lexeme[0] === "'") {
      const surelyClosed = lexeme.length > 1 && lexeme.endsWith(lexeme[0]) && !/(?:\\"|'')$/.test(lexeme);
      if (!surelyClosed || lexeme.includes('\n'))
        this.#quotes.push({ start: offset, end: offset + lexeme.length });
    }
  }

  /** The quote that never closes, or closes on another line, and ends last before an offset. */
  quoteBefore(offset: number): Range | undefined {
    return this.#quotes.findLast(({ end }) => end <= offset);
  }

  /** The bracket that was opened last before an offset and isn't closed. */
  bracketBefore(offset: number): number | undefined {
    const isBefore = (start: number): boolean => start < offset;
    const closed = this.#unclosed.findLast(isBefore) ?? -1;
    const open = this.#open.findLast((one) => isBefore(one.offset))?.offset ?? -1;
    return closed < 0 && open < 0 ? undefined : Math.max(closed, open);
  }
}
