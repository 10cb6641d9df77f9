import type { Span } from '../base/span.js';

/** A body with as little text between its tags as the parser needs to see, and how to get back from it. */
export interface Condensed {
  readonly text: string;
  /** Where a piece of the condensed text begins, or ends, in the whole one. */
  original(offset: number): number;
  /** Sections that are open at the end, or where another one is closed, the outermost first; in the whole text. */
  readonly open: readonly OpenTag[];
  /** Where the last tag begins, in the whole text. */
  readonly lastTag: number;
}

/** The tag that opens a section. */
export interface OpenTag extends Span {
  readonly name: string;
}

/**
 * Shortens the text between the tags: the parser makes an object of each character, so that a body of a megabyte would
 * take 400 MB. It only needs to see whether there is more than white space beside a tag on its line; lines without a
 * tag become one line end.
 */
export function condense(body: string): Condensed {
  const pieces: string[] = [];
  const origins = new Map<number, number>();
  let length = 0;
  let at = 0;
  const add = (piece: string, taken: number): void => {
    if (taken === 0) return;
    origins.set(length, at);
    pieces.push(piece);
    length += piece.length;
    at += taken;
  };
  const addLine = (line: string): void => add(/\S/.test(line) ? 'x' : ' ', line.length);
  let delimiters: Delimiters = ['{{', '}}'];
  const open: OpenTag[] = [];
  let isCrossed = false;
  let lastTag = 0;
  while (at < body.length) {
    const tag = body.indexOf(delimiters[0], at);
    const text = body.slice(at, tag < 0 ? undefined : tag);
    const first = text.indexOf('\n');
    if (first < 0) {
      addLine(text);
    } else {
      const last = text.lastIndexOf('\n');
      addLine(text.slice(0, first));
      add('\n', 1);
      add('\n', last - first);
      addLine(text.slice(last + 1));
    }
    if (tag < 0) break;
    const { end, next, sign, name } = tagAt(body, tag, delimiters);
    add(body.slice(tag, end), end - tag);
    lastTag = tag;
    if (sign === '#' || sign === '^') {
      if (!isCrossed) open.push({ name, start: tag, end });
    } else if (sign === '/') {
      isCrossed ||= open.at(-1)?.name !== name;
      if (!isCrossed) open.pop();
    }
    delimiters = next;
  }
  origins.set(length, body.length);
  return {
    text: pieces.join(''),
    original: (offset) => origins.get(offset) ?? body.length,
    open,
    lastTag,
  };
}

type Delimiters = readonly [open: string, close: string];

/** Where a tag ends, and what delimits the next ones; a tag that isn't closed goes on to the end. */
function tagAt(
  body: string,
  start: number,
  delimiters: Delimiters,
): {
  readonly end: number;
  readonly next: Delimiters;
  readonly sign: string;
  readonly name: string;
} {
  const [open, close] = delimiters;
  const first = afterSpace(body, start + open.length);
  const type = body.charAt(first);
  const after = (text: string, from: number): number => {
    const found = body.indexOf(text, from);
    return found < 0 ? body.length : found + text.length;
  };
  const inside = type !== '' && '#^/>{&=!'.includes(type) ? first + 1 : first;
  if (type === '{') return { end: after(`}${close}`, inside), next: delimiters, sign: type, name: '' };
  if (type !== '=') {
    const end = after(close, inside);
    const name = '#^/'.includes(type) ? body.slice(inside, end - close.length).trim() : '';
    return { end, next: delimiters, sign: type, name };
  }
  const equals = after('=', inside);
  const [nextOpen = '', nextClose = ''] = body
    .slice(inside, equals - 1)
    .trim()
    .split(/\s+/, 2);
  // What isn't two delimiters is refused by the parser.
  return {
    end: after(close, equals),
    sign: type,
    name: '',
    next: nextOpen === '' || nextClose === '' ? delimiters : [nextOpen, nextClose],
  };
}

function afterSpace(body: string, from: number): number {
  let at = from;
  while (at < body.length && /\s/.test(body.charAt(at))) at += 1;
  return at;
}
