import { CST, Lexer, Parser, Schema } from 'yaml';
import { atOnce, type Steps } from '../base/pauses.js';
import { entry, type Tape } from './tape.js';
import { MAX_DEPTH, MAX_LEXEMES } from './yaml-problems.js';

/**
 * Takes YAML apart without building the parser's document nodes, which takes as long again. Gives undefined for
 * whatever isn't plain and surely right: an anchor, a tag, a directive, a tab, a mistake. What it gives is what the
 * parser's own nodes would have said, place for place.
 */
export function tapeOf(text: string): Tape | undefined {
  return atOnce(takingApart(text));
}

/** The same in steps. */
export function* takingApart(text: string): Steps<Tape | undefined> {
  try {
    return yield* written(text);
  } catch {
    // The parser's own limits, such as the stack's.
    return undefined;
  }
}

/** So many lexemes are a step. */
const STEP = 1000;

function* written(text: string): Steps<Tape | undefined> {
  const writer = new Writer();
  const parser = new Parser();
  let lexemes = 0;
  let seen = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document') lexemes = 0;
      if (!writer.write(token)) return undefined;
    }
    lexemes += 1;
    seen += 1;
    if (seen % STEP === 0) yield;
    if (lexemes > MAX_LEXEMES || parser.stack.length > MAX_DEPTH) return undefined;
  }
  for (const token of parser.end()) if (!writer.write(token)) return undefined;
  return writer;
}

/** What isn't plain. */
const refused = -1;

class Writer implements Tape {
  readonly marks: number[] = [];
  readonly texts: string[] = [];

  /** Writes a document down; false where that isn't all that a token says. */
  write(token: CST.Token): boolean {
    if (token.type !== 'document') return isSpace(token);
    const [first, ...rest] = token.start;
    const marked = first?.type === 'doc-start';
    const before = marked ? rest : token.start;
    if (!areSpaces(before, !marked) || !areSpaces(token.end ?? [], true)) return false;
    const { value } = token;
    if (value === undefined) return true;
    if (value.type === 'block-map')
      return (!marked || before.some(isNewline)) && this.#blockMap(value) !== refused;
    return (
      value.type === 'flow-collection' &&
      value.start.type === 'flow-map-start' &&
      this.#flow(value) !== refused
    );
  }

  /** Writes a value down; gives where what belongs to it ends. */
  #value(token: CST.Token, isBelow: boolean): number {
    switch (token.type) {
      case 'scalar':
        return this.#plain(token);
      case 'single-quoted-scalar':
      case 'double-quoted-scalar':
        return this.#quoted(token);
      case 'block-scalar':
        return this.#told(token);
      case 'block-map':
        return isBelow ? this.#blockMap(token) : refused;
      case 'block-seq':
        return isBelow ? this.#blockList(token) : refused;
      case 'flow-collection':
        return this.#flow(token);
      default:
        return refused;
    }
  }

  #plain(token: CST.FlowScalar): number {
    const { source, offset } = token;
    const end = offset + source.length;
    const after = endOf(token.end, end);
    if (after === refused || /^[\t,%|>@`]/.test(source)) return refused;
    if (source.includes('\n')) return this.#told(token);
    this.marks.push(plainEntry(source), offset, end);
    return after;
  }

  #quoted(token: CST.FlowScalar): number {
    const { source, offset, type } = token;
    const quote = type === 'single-quoted-scalar' ? "'" : '"';
    const end = offset + source.length;
    // Within are neither escapes, nor another end, nor lines to be folded.
    if (/[\\\n]/.test(source) || source.indexOf(quote, 1) !== source.length - 1) return this.#told(token);
    const after = endOf(token.end, end);
    if (after === refused) return refused;
    this.marks.push(entry.quoted, offset, end);
    return after;
  }

  /** Writes down what a scalar says that stands there otherwise. */
  #told(token: CST.FlowScalar | CST.BlockScalar): number {
    let isRight = true;
    const read = CST.resolveAsScalar(token, true, () => {
      isRight = false;
    });
    const isPlain = token.type === 'scalar';
    if (read === null || !isRight || (isPlain && plainEntry(read.value) !== entry.text)) return refused;
    const [start, end, after] = read.range;
    this.marks.push(isPlain ? entry.folded : entry.told, start, end, this.texts.push(read.value) - 1);
    return after;
  }

  /** Writes down that nothing stands behind an indicator; gives where that is over. */
  #nothing(tokens: readonly CST.SourceToken[], after: number): number {
    let at = after;
    let index = tokens.length - 1;
    let isTold = false;
    for (; index >= 0; index -= 1) {
      const token = tokens[index];
      if (token === undefined || !isSpace(token)) break;
      isTold ||= token.type === 'comment';
      at -= token.source.length;
    }
    for (index += 1; tokens[index]?.type === 'space'; index += 1) at += tokens[index]?.source.length ?? 0;
    this.marks.push(entry.null, at, at);
    return isTold ? after : at;
  }

  /** Begins a collection; gives where its end and its count go. */
  #open(kind: number, offset: number): number {
    return this.marks.push(kind, offset, 0, 0) - 2;
  }

  #close(opened: number, end: number, count: number): void {
    this.marks[opened] = end;
    this.marks[opened + 1] = count;
  }

  #blockMap(map: CST.BlockMap): number {
    const opened = this.#open(entry.map, map.offset);
    let offset = map.offset;
    let after: number | undefined;
    let count = 0;
    for (const item of map.items) {
      const { start, key, sep, value } = item;
      if (after !== undefined || item.explicitKey === true || !areSpaces(start, true)) return refused;
      if (sep === undefined) {
        if (key !== undefined || value !== undefined) return refused;
        after = endAfter(start, offset);
        continue;
      }
      if (!this.#key(key) || !('indent' in key) || key.indent !== map.indent) return refused;
      const found = behind(sep, 'map-value-ind');
      if (found === undefined) return refused;
      const valueAt = endAfter(sep, offset);
      offset = value === undefined ? this.#nothing(sep, valueAt) : this.#value(value, found.some(isNewline));
      if (offset === refused) return refused;
      count += 1;
    }
    this.#close(opened, offset, count);
    return after ?? offset;
  }

  #blockList(list: CST.BlockSequence): number {
    const opened = this.#open(entry.list, list.offset);
    let offset = list.offset;
    let after: number | undefined;
    let count = 0;
    for (const { start, key, sep, value } of list.items) {
      if (after !== undefined || key != null || sep !== undefined) return refused;
      if (value === undefined && areSpaces(start, true)) {
        after = endAfter(start, offset);
        continue;
      }
      if (behind(start, 'seq-item-ind') === undefined) return refused;
      const valueAt = endAfter(start, offset);
      offset = value === undefined ? this.#nothing(start, valueAt) : this.#value(value, true);
      if (offset === refused) return refused;
      count += 1;
    }
    this.#close(opened, offset, count);
    return after ?? offset;
  }

  #flow({ start, offset, items, end }: CST.FlowCollection): number {
    const isMap = start.type === 'flow-map-start';
    const opened = this.#open(isMap ? entry.map : entry.list, offset);
    let count = 0;
    for (const [index, item] of items.entries()) {
      const { key, sep, value } = item;
      const isLast = index === items.length - 1;
      const isEmpty = key == null && sep === undefined && value === undefined;
      const commas = item.start.filter(({ type }) => type === 'comma').length;
      if (commas > 1) return refused;
      if (index === 0 ? commas > 0 : commas < 1 && !(isEmpty && isLast)) return refused;
      if (!areSpaces(item.start, false, 'comma')) return refused;
      if (isEmpty) {
        if (!isLast) return refused;
        continue;
      }
      if (!isMap) {
        if (key != null || sep !== undefined || value === undefined) return refused;
      } else if (!this.#key(key) || sep === undefined || behind(sep, 'map-value-ind') === undefined) {
        return refused;
      }
      const written =
        value === undefined
          ? this.#nothing(sep ?? [], endAfter(sep ?? [], offset))
          : this.#value(value, false);
      if (written === refused) return refused;
      count += 1;
    }
    const [closing, ...rest] = end;
    if (closing === undefined || closing.source !== (isMap ? '}' : ']') || !areSpaces(rest, false))
      return refused;
    const closed = closing.offset + 1;
    this.#close(opened, closed, count);
    return endAfter(rest, closed);
  }

  /** Writes the key of a member down; false where it is none on one line, or says more. */
  #key(key: CST.Token | null | undefined): key is CST.FlowScalar {
    if (key == null || !isFlowScalar(key) || key.source.length > MAX_KEY || key.source.includes('\n'))
      return false;
    if (key.end?.some(({ type }) => type !== 'space')) return false;
    return this.#value(key, false) !== refused;
  }
}

/** A key that is longer, or further from its colon, is a mistake from some length on that both are part of. */
const MAX_KEY = 500;

function isFlowScalar(token: CST.Token): token is CST.FlowScalar {
  return (
    token.type === 'scalar' || token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar'
  );
}

function isSpace({ type }: CST.Token): boolean {
  return type === 'space' || type === 'newline' || type === 'comment' || type === 'byte-order-mark';
}

function isNewline({ type }: CST.Token): boolean {
  return type === 'newline';
}

/**
 * Whether tokens are spaces without tabs, lines and comments alone; before a comment there has to be a space. `isSpaced`
 * says whether there is one before all of them.
 */
function areSpaces(tokens: readonly CST.SourceToken[], isSpaced: boolean, besides?: 'comma'): boolean {
  let spaced = isSpaced;
  for (const { type, source } of tokens) {
    if (type === 'comment') {
      if (!spaced) return false;
    } else if (type === 'space') {
      if (source.includes('\t')) return false;
      spaced = true;
    } else if (type === 'newline') spaced = true;
    else if (type === besides) spaced = false;
    else return false;
  }
  return true;
}

/** What stands behind an indicator; undefined where there isn't one such, or more than spaces is with it. */
function behind(tokens: readonly CST.SourceToken[], indicator: string): CST.SourceToken[] | undefined {
  const at = tokens.findIndex(({ type }) => type === indicator);
  if (at < 0) return undefined;
  if (endAfter(tokens.slice(0, at), 0) - (tokens[0]?.offset ?? 0) > MAX_KEY) return undefined;
  const rest = tokens.slice(at + 1);
  return areSpaces(tokens.slice(0, at), true) && areSpaces(rest, false) ? rest : undefined;
}

function endAfter(tokens: readonly CST.SourceToken[], offset: number): number {
  const last = tokens.at(-1);
  return last === undefined ? offset : last.offset + last.source.length;
}

function endOf(tokens: readonly CST.SourceToken[] | undefined, offset: number): number {
  if (tokens === undefined) return offset;
  return areSpaces(tokens, false) ? endAfter(tokens, offset) : refused;
}

/** The parser's own ideas of what a plain scalar is, in its order. */
const tests = new Schema({ schema: 'core', resolveKnownTags: false }).tags.flatMap((tag) =>
  tag.default === true && 'test' in tag && tag.test !== undefined ? [{ tag: tag.tag, test: tag.test }] : [],
);
const ofTag: { readonly [tag: string]: number } = {
  'tag:yaml.org,2002:null': entry.null,
  'tag:yaml.org,2002:int': entry.number,
  'tag:yaml.org,2002:float': entry.number,
};

/** What a plain scalar is. */
function plainEntry(source: string): number {
  // Nothing else can be anything but a text.
  if (!/^[~nNtTfF.\d+-]|^$/.test(source)) return entry.text;
  const found = tests.find(({ test }) => test.test(source));
  if (found === undefined) return entry.text;
  if (found.tag === 'tag:yaml.org,2002:bool') return /^[tT]/.test(source) ? entry.true : entry.false;
  return ofTag[found.tag] ?? refused;
}
