import { Composer, type Document, isAlias, isMap, isScalar, isSeq, Lexer, Parser } from 'yaml';
import type { Span } from '../base/problems.js';
import { error, type Problem } from '../base/problems.js';
import { type ExactNumber, parseNumber } from '../base/values.js';
import { looksSecret, shownKey } from '../secrets/names.js';
import type { SourceFile } from './source-file.js';
import { documentErrors, isOldYaml, MAX_DEPTH, MAX_LEXEMES, oldYaml } from './syntax-problems.js';
import { decimalText, listNode, type Member, mapNode, type Node, type ScalarNode } from './tree.js';

/** The number of nodes that aliases may add to a file. */
const MAX_ALIASED = 100_000;
const MAX_ERRORS = 100;

/** A document that isn't empty. */
export interface ParsedDocument {
  readonly root: Node;
  /** Whether it has problems, so its values can't be trusted. */
  readonly broken: boolean;
}

/** Parses YAML 1.2 (core schema). Never throws; each problem has a place. */
export function parseYaml(file: SourceFile): {
  readonly documents: readonly ParsedDocument[];
  readonly problems: readonly Problem[];
} {
  const badCharacters = [...file.text.matchAll(/\r(?!\n)|\0/g)].map(({ 0: character, index }) =>
    badCharacter(file, character, { start: index, end: index + 1 }),
  );
  // With them, line numbers would be ambiguous.
  if (badCharacters.length > 0) return { documents: [], problems: limitProblems(badCharacters) };
  const documents: ParsedDocument[] = [];
  const problems: Problem[] = [];
  const aliasBudget = { aliased: 0, exceeded: false };
  try {
    const quotes = new Map<number, number>();
    for (const document of compose(file, problems, quotes)) {
      const found = documentErrors(file, document, quotes);
      for (const problem of found) problems.push(problem);
      if (found.some(({ code }) => code !== 'unknown-tag')) continue;
      const converter = new Converter(file, aliasBudget);
      const root = document.contents === null ? undefined : converter.convert(document.contents, 0);
      for (const problem of converter.problems) problems.push(problem);
      if (root === undefined || (root.type === 'scalar' && root.value === null)) continue;
      documents.push({ root, broken: found.length > 0 || converter.broken });
    }
  } catch (failure) {
    // The parser reached a limit, such as the size of the stack.
    const reason = failure instanceof RangeError ? 'it is nested too deeply' : 'the parser failed';
    problems.push(
      error('yaml-syntax', `${file.path} is not usable YAML: ${reason}`, [file.place({ start: 0, end: 1 })]),
    );
  }
  return { documents, problems: limitProblems(problems) };
}

/** The problem of a character that editors don't show, or show as another one. */
function badCharacter(file: SourceFile, character: string, range: Span): Problem {
  const [what, hint] =
    character === '\0'
      ? ['a NUL character', 'remove it']
      : [
          'a carriage return without a line feed',
          'end lines with a line feed, or write "\\r" in double quotes',
        ];
  return error('bad-character', `${what} is not allowed here`, [file.place(range)], hint);
}

function limitProblems(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MAX_ERRORS) return problems;
  const rest = problems.length - MAX_ERRORS;
  const last = problems[MAX_ERRORS - 1];
  return [
    ...problems.slice(0, MAX_ERRORS),
    error('yaml-syntax', `${rest} more errors in this file`, last?.places ?? []),
  ];
}

/** Composes one document at a time; stops before memory or stack are exhausted. */
function* compose(
  file: SourceFile,
  problems: Problem[],
  quotes: Map<number, number>,
): Generator<Document.Parsed> {
  const parser = new Parser();
  const composer = new Composer({
    schema: 'core',
    resolveKnownTags: false,
    uniqueKeys: false,
    merge: false,
    strict: true,
    logLevel: 'silent',
    prettyErrors: false,
  });
  let lexemes = 0;
  let isPlain = false;
  let hasError = false;
  for (const lexeme of new Lexer().lex(file.text)) {
    if (!isPlain && isOpenQuote(lexeme)) quotes.set(parser.offset + lexeme.length, parser.offset);
    isPlain = lexeme === PLAIN;
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document') {
        lexemes = 0;
        hasError = false;
      }
      // After an error, the parser reports all other tokens of the document too.
      if (token.type === 'error' && hasError) continue;
      hasError ||= token.type === 'error';
      if (token.type === 'directive' && isOldYaml(token)) problems.push(oldYaml(file, token));
      yield* composer.next(token) as Generator<Document.Parsed>;
    }
    lexemes += 1;
    const deep = parser.stack.length > MAX_DEPTH;
    if (deep || lexemes > MAX_LEXEMES) {
      file.distrust();
      const place = file.place({ start: parser.offset, end: parser.offset + 1 });
      problems.push(
        deep
          ? error('too-deep', `more than ${MAX_DEPTH} levels of nesting`, [place], 'flatten the document')
          : error('too-large', 'one document has too many values', [place], 'split it into several files'),
      );
      yield* composer.end() as Generator<Document.Parsed>;
      return;
    }
  }
  for (const token of parser.end()) yield* composer.next(token) as Generator<Document.Parsed>;
  yield* composer.end(true, file.text.length) as Generator<Document.Parsed>;
}

/** The lexer's marker before a plain or block scalar. */
const PLAIN = '\u001f';

/** Whether a lexeme may be a quoted text without a closing quote. */
function isOpenQuote(lexeme: string): boolean {
  const [quote] = lexeme;
  if (quote !== '"' && quote !== "'") return false;
  return lexeme.length === 1 || !lexeme.endsWith(quote) || /(?:\\"|'')$/.test(lexeme);
}

/** The number of nodes that aliases have added to a file. */
interface AliasBudget {
  aliased: number;
  exceeded: boolean;
}

/** Converts the parser's nodes to plain values with places. */
class Converter {
  readonly problems: Problem[] = [];
  readonly #file: SourceFile;
  readonly #aliasBudget: AliasBudget;
  #exhausted = false;
  readonly #anchors = new Map<string, Node | null>();

  constructor(file: SourceFile, allowance: AliasBudget) {
    this.#file = file;
    this.#aliasBudget = allowance;
  }

  /** Whether the values can't be trusted. */
  get broken(): boolean {
    return this.problems.length > 0 || this.#exhausted;
  }

  convert(node: unknown, depth: number): Node {
    if (isAlias(node)) return this.#alias(node.source, rangeOf(node), depth);
    if (isMap(node)) {
      return this.#anchored(node.anchor, () => {
        const entries = new Map<string, Member>();
        for (const pair of node.items) this.#pair(entries, pair.key, pair.value, depth);
        return mapNode(rangeOf(node), entries);
      });
    }
    if (isSeq(node)) {
      return this.#anchored(node.anchor, () =>
        listNode(
          rangeOf(node),
          node.items.map((item) => this.convert(item, depth + 1)),
        ),
      );
    }
    if (isScalar(node)) return this.#anchored(node.anchor, () => this.#scalar(node));
    return this.#scalar({ value: null });
  }

  #anchored(anchor: string | undefined, build: () => Node): Node {
    if (anchor === undefined) return build();
    this.#anchors.set(anchor, null);
    const node = build();
    this.#anchors.set(anchor, node);
    return node;
  }

  #alias(name: string, range: Span, depth: number): Node {
    const target = this.#anchors.get(name);
    const empty = unknownAt(range);
    const places = [this.#file.place(range)];
    if (target === undefined) {
      this.problems.push(
        error(
          'unknown-alias',
          'this alias has no anchor before it',
          places,
          'put quotes around a text that begins with "*", or write the anchor "&name" first',
        ),
      );
      return empty;
    }
    if (target === null) {
      this.problems.push(error('alias-explosion', 'this alias is inside its own anchor', places));
      return empty;
    }
    if (depth + target.height > MAX_DEPTH) {
      this.problems.push(
        error('too-deep', `more than ${MAX_DEPTH} levels of nesting`, places, 'flatten the document'),
      );
      return empty;
    }
    this.#aliasBudget.aliased += target.size;
    if (this.#aliasBudget.aliased > MAX_ALIASED) {
      const isReported = this.#aliasBudget.exceeded;
      this.#aliasBudget.exceeded = true;
      this.#exhausted = true;
      if (isReported) return empty;
      this.problems.push(
        error(
          'alias-explosion',
          `aliases repeat more than ${MAX_ALIASED} values`,
          places,
          'use fewer aliases',
        ),
      );
      return empty;
    }
    return { ...target, range };
  }

  #scalar(node: { value: unknown; source?: unknown; type?: unknown; range?: unknown }): Node {
    const range = rangeOf(node);
    const plain = node.type === 'PLAIN' || node.type === undefined || node.type === null;
    const source = typeof node.source === 'string' ? node.source : '';
    const { value } = node;
    let kept: ScalarNode['value'] = typeof value === 'string' || typeof value === 'boolean' ? value : null;
    if (typeof value === 'string' && value.includes('\0')) {
      this.problems.push(badCharacter(this.#file, '\0', range));
    }
    // A secret field without its colon.
    if (plain && shownKey(source) !== source && beginsLine(this.#file.text, range.start)) {
      this.#file.hide(range);
    }
    if (typeof value === 'number') {
      const number = numberOf(source);
      if (number === undefined) {
        this.problems.push(
          error(
            'wrong-value',
            'JSON has no such number',
            [this.#file.place(range)],
            'put it in quotes to make it a text',
          ),
        );
      }
      kept = number ?? 0;
    }
    return { type: 'scalar', value: kept, plain, source, range, size: 1, height: 0 };
  }

  #pair(entries: Map<string, Member>, key: unknown, value: unknown, depth: number): void {
    const range = rangeOf(key);
    const places = () => [this.#file.place(range)];
    const name = isScalar(key) ? key.value : undefined;
    if (typeof name !== 'string') {
      const hint = isScalar(key) ? 'write it in quotes' : 'put quotes around a text that begins with "{{"';
      this.problems.push(error('bad-key', 'a key must be a text', places(), hint));
      return;
    }
    if (name.includes('\0')) {
      this.problems.push(badCharacter(this.#file, '\0', range));
      return;
    }
    if (name === '__proto__') {
      this.problems.push(error('bad-key', 'a key can\'t be "__proto__"', places()));
      return;
    }
    if (name === '<<' && isScalar(key) && key.type === 'PLAIN') {
      this.problems.push(
        error(
          'bad-key',
          'merge keys are not part of YAML 1.2',
          places(),
          'write out the members, or quote the key',
        ),
      );
      return;
    }
    if (isScalar(key) && key.anchor !== undefined) this.#anchors.set(key.anchor, this.#scalar(key));
    const converted =
      value === null
        ? this.#scalar({ value: null, range: [range.end, range.end] })
        : this.convert(value, depth + 1);
    if (shownKey(name) !== name) this.#file.hide(range);
    if (looksSecret(name)) {
      this.#file.hide(converted.range);
      // The value of an alias is in the line of its anchor.
      const target = isAlias(value) ? this.#anchors.get(value.source) : undefined;
      if (target) this.#file.hide(target.range);
    }
    const before = entries.get(name);
    if (before !== undefined) {
      this.problems.push(
        error(
          'duplicate-key',
          `duplicate key "${shownKey(name)}"`,
          [this.#file.place(range), this.#file.place(before.key)],
          'remove one of the two',
        ),
      );
      return;
    }
    entries.set(name, { key: range, value: converted });
  }
}

/** A node that replaces an invalid one. */
function unknownAt(range: Span): ScalarNode {
  return { type: 'scalar', value: null, plain: true, source: '', range, size: 1, height: 0, unknown: true };
}

function beginsLine(text: string, at: number): boolean {
  return /(?:^|\n)[ \t]*(?:-[ \t]+)*$/.test(text.slice(Math.max(0, at - 200), at));
}

/** A number of YAML; undefined for infinity and NaN. */
function numberOf(source: string): number | ExactNumber | undefined {
  if (/^0[xo]/.test(source)) return parseNumber(BigInt(source).toString());
  const text = decimalText(source);
  return text === undefined ? undefined : parseNumber(text);
}

function rangeOf(node: unknown): Span {
  if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)) {
    const [start, end] = node.range as readonly unknown[];
    if (typeof start === 'number' && typeof end === 'number') return { start, end };
  }
  return { start: 0, end: 0 };
}
