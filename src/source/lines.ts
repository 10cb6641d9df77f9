import { shownKey } from '../base/secret-names.js';
import type { Range } from './tree.js';

/** The line of an offset, without its end. */
export function lineAt(text: string, at: number): Range {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  return { start, end: withoutReturn(text, start, end < 0 ? text.length : end) };
}

function withoutReturn(text: string, start: number, end: number): number {
  return end > start && text[end - 1] === '\r' ? end - 1 : end;
}

/** How many lines are looked at for what a mistake is about. */
const MAX_LINES = 50;

/** What is written on the line of an offset, or on the first one below that is neither empty nor a comment. */
export function contentAt(text: string, at: number): Range {
  let from = at;
  for (let tries = 0; tries < MAX_LINES; tries += 1) {
    const line = lineAt(text, from);
    const indent = text.slice(from, line.end).search(/\S/);
    if (indent >= 0 && text[from + indent] !== '#') return { start: from + indent, end: line.end };
    const next = text.indexOf('\n', line.end);
    if (next < 0) break;
    from = next + 1;
  }
  return { start: at, end: at + 1 };
}

/** The first line behind an offset that holds a key, without its indentation. */
export function nextKeyLine(text: string, at: number): Range {
  const first = contentAt(text, at);
  let line = first;
  for (let tries = 0; tries < MAX_LINES; tries += 1) {
    if (/:(?:\s|$)/.test(text.slice(line.start, line.end))) return line;
    if (line.end >= text.length) break;
    line = contentAt(text, line.end);
  }
  return first;
}

/** The key that a line begins with, as far as it is a plain name; `- ` may stand before it. */
export function keyOf(line: string): string | undefined {
  const key = /^\s*(?:- +)*["']?([A-Za-z_][\w -]{0,60}?)["']?\s*:(?:\s|$)/.exec(line)?.[1];
  return key === undefined || shownKey(key) !== key ? undefined : key;
}
