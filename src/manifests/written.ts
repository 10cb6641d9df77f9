import type { Span } from '../base/span.js';

/**
 * Where a part of a text stands in the YAML that it is written in; undefined where that can't be told exactly. Quotes,
 * indentation and folding change white space alone, so that the n-th other character of the one is that of the other;
 * escapes and variables change more, and are told by that.
 */
export function partOfText(source: string, written: Span, text: string, part: Span): Span | undefined {
  const at = contentOf(source, written);
  const raw = source.slice(at.start, at.end);
  if (squeezed(raw) !== squeezed(text)) return undefined;
  const before = squeezed(text.slice(0, part.start)).length;
  const length = squeezed(text.slice(part.start, part.end)).length;
  const start = nth(raw, before);
  const end = nth(raw, before + Math.max(1, length) - 1);
  return start === undefined || end === undefined
    ? undefined
    : { start: at.start + start, end: at.start + end + 1 };
}

/** A scalar without its quotes, or without the line that begins a block. */
function contentOf(source: string, { start, end }: Span): Span {
  const first = source.charAt(start);
  if (first === '"' || first === "'") return { start: start + 1, end: end - 1 };
  if (first !== '|' && first !== '>') return { start, end };
  const line = source.indexOf('\n', start);
  return line < 0 || line >= end ? { start, end } : { start: line + 1, end };
}

function squeezed(text: string): string {
  return text.replace(/[ \t\r\n]+/g, '');
}

/** Where the n-th character stands that is no white space. */
function nth(text: string, count: number): number | undefined {
  let left = count;
  for (let at = 0; at < text.length; at += 1) {
    if (' \t\r\n'.includes(text.charAt(at))) continue;
    if (left === 0) return at;
    left -= 1;
  }
  return undefined;
}
