import type { CST, Document, YAMLError } from 'yaml';
import type { Span } from '../base/problems.js';
import { error, type Problem } from '../base/problems.js';
import type { SourceFile } from './source-file.js';

/** Levels of nesting. */
export const MAX_DEPTH = 100;
/** Lexer tokens in a document. */
export const MAX_LEXEMES = 1_000_000;

/** The starts of unclosed quotes, by the ends of their texts. */
export type OpenQuotes = ReadonlyMap<number, number>;

/** The errors of a document, in order, without repetitions: the parser often reports an error several times for the same lines. */
export function documentErrors(file: SourceFile, document: Document.Parsed, quotes: OpenQuotes): Problem[] {
  const { errors, warnings } = document;
  if (errors.length > 0) file.distrust();
  const all = [...errors, ...warnings].map((found) => ({ found, range: rangeOf(file, found, quotes) }));
  const problems: Problem[] = [];
  /** The last line of the previous syntax error; 0 if there is none. */
  let lastReportedLine = 0;
  let previous: YAMLError | undefined;
  for (const { found, range } of all.sort((a, b) => a.range.start - b.range.start)) {
    const limit = limitProblem(file, found, range);
    if (limit !== undefined) {
      problems.push(limit);
      continue;
    }
    // The parser takes a line that begins with "%" for a directive, and then expects `---`.
    const follows = found.code === 'MISSING_CHAR' && previous?.code === 'BAD_DIRECTIVE';
    if (file.lineAt(range.start).line > lastReportedLine && !follows)
      problems.push(syntaxProblem(file, found, range));
    lastReportedLine = Math.max(lastReportedLine, file.lineAt(range.end).line);
    previous = found;
  }
  return problems;
}

/** Whether a directive names YAML 1.1, which the parser would accept. */
export function isOldYaml({ source }: CST.Directive): boolean {
  return /^%YAML[ \t]+1\.1[ \t]*$/.test(source);
}

export function oldYaml(file: SourceFile, { source, offset }: CST.Directive): Problem {
  const place = file.place({ start: offset, end: offset + source.trimEnd().length });
  return error('yaml-syntax', 'YAML 1.1 is not supported', [place], 'remove the directive');
}

/** An unclosed quote is reported where it opens, not where the parser notices it. */
function rangeOf({ text }: SourceFile, { code, pos }: YAMLError, quotes: OpenQuotes): Span {
  const quote = code === 'MISSING_CHAR' ? quotes.get(pos[0]) : undefined;
  const start = quote ?? Math.min(pos[0], text.length);
  return { start, end: quote === undefined ? Math.max(Math.min(pos[1], text.length), start + 1) : start + 1 };
}

/** An error that isn't about syntax. */
function limitProblem(file: SourceFile, { code }: YAMLError, range: Span): Problem | undefined {
  const places = () => [file.place(range)];
  if (code === 'TAG_RESOLVE_FAILED') {
    return error(
      'unknown-tag',
      'this tag is not known',
      places(),
      'remove it; put quotes around a value that begins with "!"',
    );
  }
  if (code !== 'RESOURCE_EXHAUSTION') return undefined;
  return error('too-deep', `more than ${MAX_DEPTH} levels of nesting`, places(), 'flatten the document');
}

type MessageAndHint = readonly [message: string, hint?: string];

/** Replace the parser's messages, which may quote a secret. */
const messages: { readonly [code in YAMLError['code']]?: MessageAndHint } = {
  TAB_AS_INDENT: ['a line is indented with a tab, which YAML does not allow', 'indent it with spaces'],
  BAD_INDENT: [
    'wrong indentation, or an unclosed bracket above',
    'indent this line like the keys or items next to it',
  ],
  BLOCK_AS_IMPLICIT_KEY: [
    'unexpected key or list item',
    'put quotes around a value that contains ": "; indent keys and items equally',
  ],
  MULTILINE_IMPLICIT_KEY: [
    'expected "key: value"',
    'write a colon and a space after the key, or indent each line of a long value more than its key',
  ],
  MISSING_CHAR: [
    'a character is missing',
    'look for the colon after a key, the comma between members, the space before "#", and the closing bracket',
  ],
  UNEXPECTED_TOKEN: [
    'unexpected text',
    'put quotes around the whole value; start a list on the line below its key; indent keys equally',
  ],
  BLOCK_IN_FLOW: ['a comma is missing, or quotes around a value with a colon', 'write {id: x, name: "a: b"}'],
  BAD_DQ_ESCAPE: ['unknown escape in double quotes', 'write the backslash twice, or use single quotes'],
  BAD_ALIAS: ['a text without quotes can\'t begin with "&" or "*"', 'put quotes around the value'],
  BAD_DIRECTIVE: ['a line can\'t begin with "%"', 'put quotes around the key, or begin a comment with "#"'],
};

function syntaxProblem(file: SourceFile, { code, pos }: YAMLError, range: Span): Problem {
  const { text } = file;
  const { start } = range;
  const isTab = code === 'BAD_INDENT' && text[start] === '\t';
  const [message, hint] = (start < pos[0] ? unclosedQuote(text[start]) : undefined) ??
    specialStart(text, code, start) ??
    missingSpace(text, code, start) ??
    messages[isTab ? 'TAB_AS_INDENT' : code] ?? ['this is not valid YAML'];
  return error('yaml-syntax', message, [file.place(range)], hint);
}

function unclosedQuote(quote = '"'): MessageAndHint {
  return ['the quote that opens here is never closed', `write ${quote} at the end of the value`];
}

/** `@acme`, `*bold* text`, `{{ name }}, hello`. */
function specialStart(text: string, code: YAMLError['code'], at: number): MessageAndHint | undefined {
  const [line = ''] = text
    .slice(text.lastIndexOf('\n', at - 1) + 1)
    .slice(0, 500)
    .split('\n');
  const mark = code === 'BAD_SCALAR_START' ? text[at] : /(?:: |- )(\{\{|\*)/.exec(line)?.[1];
  return mark === undefined
    ? undefined
    : [`a text without quotes can't begin with "${mark}"`, 'put quotes around the value'];
}

/** `name:acme` */
function missingSpace(text: string, code: YAMLError['code'], at: number): MessageAndHint | undefined {
  if (code !== 'MULTILINE_IMPLICIT_KEY' && code !== 'MISSING_CHAR') return undefined;
  return /^["']?\w[\w-]*["']?:[^\s/]/.test(text.slice(at, at + 100))
    ? ['a space is missing after the colon', 'write it as "key: value"']
    : undefined;
}
