import type { YAMLError } from 'yaml';
import { unindentedText } from './block-text.js';
import { contentAt, keyOf, lineAt, nextKeyLine } from './lines.js';
import type { Marks } from './marks.js';
import type { Range } from './tree.js';

/** What is wrong in YAML as a person would say it, and where they have to look. */
export interface Slip {
  readonly message: string;
  readonly hint?: string;
  readonly range: Range;
}

/** A YAML text that the parser refused, and what `slipOf` needs to know besides. */
export interface Refused {
  readonly text: string;
  readonly marks: Marks;
  /** Whether a part of the text is hidden, so that no message may quote it. */
  readonly hides: (range: Range) => boolean;
}

type Found = Pick<YAMLError, 'code' | 'message'> & { readonly at: number; readonly end: number };

/** What a person did where the parser stumbled; undefined where only the parser's own words are known. */
export function slipOf({ code, message, pos }: YAMLError, refused: Refused): Slip | undefined {
  const { text } = refused;
  const at = Math.min(pos[0], text.length);
  const found = { code, message, at, end: Math.max(Math.min(pos[1], text.length), at + 1) };
  return unindented(found, refused) ?? forCode[code]?.(found, refused);
}

type Tell = (found: Found, refused: Refused) => Slip | undefined;

/** `txt_content: |` with its text, or a later line of that, in the same column, whatever the parser takes it for. */
function unindented({ at, code }: Found, refused: Refused): Slip | undefined {
  const { text } = refused;
  const found = unindentedText(text, at);
  if (found === undefined) return undefined;
  const { mark, columns, isFirst, range } = found;
  if (isFirst) {
    return {
      message: `the text that "${mark}" announces on the line above is not indented${columns === undefined ? '' : ' so far'}`,
      hint:
        columns === undefined
          ? 'indent each line of the text further than its key'
          : `indent each line of the text by ${columns} more than its key, or leave the ${columns} behind "${mark}" out`,
      range,
    };
  }
  const written = text.slice(range.start, range.end);
  const isOther = /^[-=_*"']|^\/[/*]/.test(written) || missingSpace(written, range, refused) !== undefined;
  if (isOther || !outside.includes(code)) return undefined;
  return {
    message: `this line is no "key: value", and not indented as the text that "${mark}" announces above`,
    hint: 'indent it as far as that text, or write a colon and a space behind its key',
    range,
  };
}

/** What the parser says of a line that is neither a key with its value nor a part of what stands above. */
const outside: readonly string[] = ['MULTILINE_IMPLICIT_KEY', 'MISSING_CHAR'];

/** A merge that was left half done makes any number of errors, which say nothing of it. */
export function conflictIn(text: string): Slip | undefined {
  const marker = /^<{7} [^\n]*$/m.exec(text);
  if (marker === null || !/^>{7} /m.test(text)) return undefined;
  return {
    message: 'a merge conflict is not resolved: git left its marks here',
    hint: 'keep one of the two sides, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>',
    range: { start: marker.index, end: marker.index + marker[0].length },
  };
}

const quoteIt = 'put quotes around the value';

const forCode: { readonly [code in YAMLError['code']]?: Tell } = {
  BLOCK_AS_IMPLICIT_KEY: (found, refused) =>
    /sequence/.test(found.message) ? unevenList(found, refused) : nested(found, refused),
  MULTILINE_IMPLICIT_KEY: strayLine,
  BAD_INDENT: (found, refused) =>
    /^Flow/.test(found.message)
      ? openBracket(found, refused)
      : /sequence/.test(found.message)
        ? unevenList(found, refused)
        : /mapping/.test(found.message)
          ? unevenKeys(found, refused)
          : undefined,
  MISSING_CHAR: missing,
  UNEXPECTED_TOKEN: unexpected,
  BLOCK_IN_FLOW: ({ at, end }) => ({
    message: 'a comma is missing between the members in brackets, or quotes around a value with a colon',
    hint: 'write them as {id: x, name: "a: b"}',
    range: { start: at, end },
  }),
  BAD_SCALAR_START: ({ at }, { text }) => ({
    message: `a text without quotes can't begin with "${text[at]}"`,
    hint: 'put quotes around it',
    range: { start: at, end: at + 1 },
  }),
  BAD_DQ_ESCAPE: ({ at }) => ({
    message: 'in double quotes a backslash begins an escape, and there is none of this name',
    hint: 'write the backslash twice, or use single quotes, in which it is a backslash',
    range: { start: at, end: at + 2 },
  }),
  TAB_AS_INDENT: ({ at }, { text }) => {
    const start = text.indexOf('\t', at);
    return {
      message: 'a line is indented with a tab, which YAML does not allow',
      hint: 'indent it with spaces',
      range: start < 0 ? { start: at, end: at + 1 } : { start, end: start + 1 },
    };
  },
};

/** `label: a: b`, or a key that is indented below a key that has a value: `name: acme`, then ` label: x`. */
function nested(found: Found, refused: Refused): Slip {
  const { text } = refused;
  const { at } = found;
  const line = lineAt(text, at);
  const owner = keyOf(text.slice(line.start, at));
  const value = text.slice(at, line.end);
  if (/^\?(?:\s|$)/.test(value)) {
    return {
      message: 'a value without quotes can\'t begin with "? "',
      hint: quoteIt,
      range: { start: at, end: at + 1 },
    };
  }
  if (/:(?:\s|$)/.test(value)) {
    const hint = owner === undefined ? quoteIt : `${quoteIt}: ${owner}: "…"`;
    return {
      message: 'a value without quotes holds a colon with a space after it',
      hint,
      range: { start: at, end: line.end },
    };
  }
  const below = nextKeyLine(text, line.end);
  const ends = refused.hides(below) ? undefined : keyOf(text.slice(below.start, below.end));
  const name = ends === undefined ? 'this line' : `"${ends}"`;
  const above =
    owner === undefined ? 'a key that has a value already' : `"${owner}", which has a value already`;
  const place = owner === undefined ? 'the key above' : `"${owner}"`;
  return {
    message: `${name} is indented below ${above}`,
    hint: `indent it as far as ${place}; a text of several lines begins with "|" behind its key, or is in quotes`,
    range: below,
  };
}

/** A line that is neither a key with a value nor a part of the line above. */
function strayLine(found: Found, refused: Refused): Slip {
  const { text } = refused;
  const { at } = found;
  const first = lineAt(text, at);
  const written = text.slice(at, first.end);
  const range = { start: at, end: at + written.trimEnd().length };
  if (/^-(?:\s|$)/.test(written)) return strayItem(at);
  if (/^(?:\/\/|\/\*)/.test(written)) {
    return { message: 'this line is no YAML', hint: 'a comment begins with "#"', range };
  }
  if (/^[-=_*]{2,}\s*$/.test(written)) {
    return { message: 'this line is no YAML', hint: 'documents are separated by a line of "---"', range };
  }
  const glued = missingSpace(written, range, refused);
  if (glued !== undefined) return glued;
  const next = nextKeyLine(text, first.end);
  if (next.end <= found.end + 1 && next.start - lineAt(text, next.start).start !== at - first.start) {
    return {
      message: 'this line is indented neither like the keys above nor like the value above',
      hint: 'indent it as far as the key that it belongs beside',
      range: next,
    };
  }
  return {
    message: 'this line is no "key: value", and the one after it is',
    hint: 'write a colon and a space behind the key, or indent the next line otherwise',
    range,
  };
}

function strayItem(at: number): Slip {
  return {
    message: 'an item of a list ("- ") stands where a key is due',
    hint: 'put the items below the key that they belong to; separate documents with a line of "---"',
    range: { start: at, end: at + 1 },
  };
}

/** `name:acme`; a name that may be a secret isn't told. */
function missingSpace(written: string, range: Range, { hides }: Refused): Slip | undefined {
  const [, key] = /^["']?([A-Za-z_][\w-]{0,60})["']?:(?=[^\s/])/.exec(written) ?? [];
  if (key === undefined) return undefined;
  return {
    message: 'a space is missing behind the colon',
    ...(hides(range) ? {} : { hint: `write it as "${key}: …"` }),
    range,
  };
}

/** Keys of one map that don't begin in the same column. */
function unevenKeys({ at }: Found, { text }: Refused): Slip {
  const line = contentAt(text, at);
  const written = text.slice(line.start, line.end);
  return {
    message: 'this line is indented otherwise than the keys beside it',
    hint: /:(?:\s|$)/.test(written)
      ? 'indent it as far as the key that it belongs beside'
      : 'indent it as far as the text that it belongs to',
    range: line,
  };
}

function unevenList({ at }: Found, { text }: Refused): Slip {
  return {
    message: 'the items of a list have to begin in the same column',
    hint: 'indent this line as far as the first "- " of the list',
    range: contentAt(text, at),
  };
}

function openBracket({ at }: Found, { text, marks }: Refused): Slip {
  const start = marks.bracketBefore(at) ?? Math.max(0, at - 1);
  const [opens, closes] = text[start] === '{' ? ['{', '}'] : ['[', ']'];
  const goesOn = text.slice(at).trim() !== '' && lineAt(text, at).start > start;
  return {
    message: `the "${opens}" that opens here is not closed`,
    hint: `write its "${closes}"${goesOn ? ', or indent the lines before that further than the key' : ''}`,
    range: { start, end: start + 1 },
  };
}

function missing(found: Found, refused: Refused): Slip | undefined {
  const { text, marks } = refused;
  const { at, end, message } = found;
  if (/^Missing closing/.test(message)) {
    const start = marks.quoteBefore(at)?.start ?? at;
    return {
      message: 'the quote that opens here is never closed',
      hint: `write ${text[start] === "'" ? "'" : '"'} where the value ends`,
      range: { start, end: start + 1 },
    };
  }
  if (/^Implicit map keys/.test(message)) {
    const written = text.slice(at, lineAt(text, at).end).trimEnd();
    const range = { start: at, end: at + Math.max(1, written.length) };
    return (
      missingSpace(written, range, refused) ?? {
        message: 'this line is no "key: value"',
        hint: 'write a colon and a space behind the key; indent what belongs to the line above further',
        range,
      }
    );
  }
  if (/^(?:Flow|Missing \})/.test(message)) return openBracket(found, refused);
  if (/^Sequence item/.test(message)) {
    return {
      message: 'this line is no item of the list above, and is not indented like the keys of its last item',
      hint: 'begin it with "- ", or indent it as far as the keys of the item',
      range: contentAt(text, at),
    };
  }
  if (/^Missing (?:,|space)/.test(message)) {
    const variable = bareVariable(found, refused);
    if (variable !== undefined) return variable;
    return {
      message: 'a comma is missing before this',
      hint: 'separate what is in [] and {} by commas; a value with a comma or a colon needs quotes',
      range: { start: at, end },
    };
  }
  if (/^Comments/.test(message)) {
    return {
      message: 'a space is missing before the "#" of a comment',
      hint: 'write the space; a "#" that belongs to the value goes inside the quotes',
      range: { start: at, end: at + 1 },
    };
  }
  if (/directives-end/.test(message)) return besideMarker(found, refused);
  return undefined;
}

/** `[${NAME}]`, in which YAML takes the bracket for one of its own. */
function bareVariable({ at }: Found, { text }: Refused): Slip | undefined {
  const start = at - 1;
  const written = /^\$\{[^}\s]{0,200}\}?/.exec(text.slice(Math.max(0, start), start + 210))?.[0];
  if (written === undefined) return undefined;
  return {
    message: 'a variable inside {} or [] has no quotes',
    hint: 'write it as "${NAME}", in quotes',
    range: { start, end: start + written.length },
  };
}

/** Lines that begin with `%`, and what stands behind `---`. */
function besideMarker({ at, message }: Found, { text }: Refused): Slip | undefined {
  if (/same line/.test(message)) {
    return {
      message: 'a key can\'t stand on the line of "---"',
      hint: 'begin the document on the next line',
      range: contentAt(text, at),
    };
  }
  const start = text.lastIndexOf('\n%', at) + 1;
  if (text[start] !== '%') return undefined;
  return {
    message: 'a line can\'t begin with "%", but for a directive of YAML',
    hint: 'put quotes around the key, or make a comment of the line with "#"',
    range: { start, end: lineAt(text, start).end },
  };
}

function unexpected(found: Found, refused: Refused): Slip | undefined {
  const { text, marks } = refused;
  const { at, end, message } = found;
  const line = lineAt(text, at);
  const before = text.slice(line.start, at);
  const range = { start: at, end: Math.min(end, line.end) };
  if (/block-seq-ind on same line/.test(message)) {
    if (before.trim() === '') return strayItem(at);
    return {
      message: "a list can't begin on the line of its key",
      hint: 'write each "- " on a line of its own below the key, or the list as [a, b]; put quotes around a text that begins with "- "',
      range: { start: at, end: at + 1 },
    };
  }
  if (/^(?:Block scalar header|Not a YAML token)/.test(message)) {
    const [, mark] = /([|>])[^|>]*$/.exec(text.slice(line.start, at + 1)) ?? [];
    if (mark === undefined) return undefined;
    const start = text.lastIndexOf(mark, at);
    return {
      message: `a text that begins with "${mark}" starts on the next line, and something stands behind the mark`,
      hint: `move it to the next line, indented further than its key; a value that begins with "${mark}" needs quotes`,
      range: { start, end: line.end },
    };
  }
  const [, closing] = /Unexpected flow-(seq|map)-end token/.exec(message) ?? [];
  if (closing !== undefined) {
    return {
      message: `this "${closing === 'seq' ? ']' : '}'}" closes nothing`,
      hint: 'remove it, or put quotes around the value that it belongs to',
      range,
    };
  }
  if (/^Unexpected , in/.test(message)) {
    return { message: 'nothing stands before this comma', hint: 'remove it', range };
  }
  if (/^Unexpected (?:single|double)-quoted-scalar token/.test(message)) {
    return {
      message: 'a comma is missing before this',
      hint: 'separate what is in [] and {} by commas',
      range,
    };
  }
  if (!/at node end$/.test(message)) return undefined;
  const variable = bareVariable(found, refused);
  if (variable !== undefined) return variable;
  const quote = marks.quoteBefore(at);
  if (
    quote !== undefined &&
    text.slice(quote.end, at).trim() === '' &&
    text.slice(quote.start, quote.end).includes('\n')
  ) {
    return {
      message: 'the quote that opens here closes on a later line, in front of other text',
      hint: "write the quote that closes it where the value ends; within double quotes a quote is \\\", within single ones it is ''",
      range: { start: quote.start, end: quote.start + 1 },
    };
  }
  const [, last] = /(["'])[ \t]*$/.exec(before) ?? [];
  if (last !== undefined) {
    const lone = /^\s*,\s*$/.test(text.slice(at, line.end));
    return {
      message: 'something stands behind the quote that closes the value',
      hint: lone
        ? 'remove the comma: in YAML no line ends with one'
        : `put the whole value inside the quotes; there, a quote is written ${last === "'" ? "''" : '\\"'}`,
      range,
    };
  }
  if (before.trim() === '' && line.start > 0) {
    return {
      message: 'this line is indented so that it belongs to none of the lines above',
      hint: 'indent the keys of a document equally; separate documents with a line of "---"',
      range: contentAt(text, at),
    };
  }
  return undefined;
}
