import { keyOf, lineAt } from './lines.js';
import type { Range } from './tree.js';

/** How far above a line the key of its text is looked for. */
const REACH = 2_000;

/** A line that lies outside of the text that it was meant for. */
export interface Unindented {
  /** What announces the text: `|` or `>`. */
  readonly mark: string;
  /** How many columns further in than its key the text has to be, where a number behind the mark says so. */
  readonly columns: number | undefined;
  /** Whether nothing of the text stands before it. */
  readonly isFirst: boolean;
  readonly range: Range;
}

/** The line of an offset, where a text that "|" or ">" announces stands above, and it isn't indented enough to be of it. */
export function unindentedText(text: string, at: number): Unindented | undefined {
  const line = lineAt(text, at);
  const written = text.slice(line.start, line.end);
  const indent = written.search(/\S/);
  if (indent < 0 || keyOf(written) !== undefined || /^\s*\t|^(?:---|\.\.\.)/.test(written)) return undefined;
  const above = headAbove(text, line.start, indent);
  if (above === undefined || indent >= above.least) return undefined;
  // The next item of the list that the key stands in.
  if (/^-(?:\s|$)/.test(written.slice(indent)) && indent < above.column) return undefined;
  const { mark, columns, isFirst } = above;
  return { mark, columns, isFirst, range: { start: line.start + indent, end: line.end } };
}

/** The line that announces a text, where nothing but lines that are further in stands between it and another one. */
function headAbove(text: string, before: number, indent: number) {
  const lines = text
    .slice(Math.max(0, before - REACH), before)
    .split('\n')
    .filter((line) => line.trim() !== '');
  for (const [index, line] of lines.toReversed().entries()) {
    const [, lead = '', mark, digit] =
      /^(\s*(?:- +)*)["']?[A-Za-z_][\w -]{0,60}["']?:[ \t]+([|>])[-+]?(\d?)[-+]?(?:[ \t]+#.*)?\s*$/.exec(
        line,
      ) ?? [];
    if (mark !== undefined) {
      const columns = digit === undefined || digit === '' ? undefined : Number(digit);
      return {
        mark,
        column: lead.length,
        columns,
        least: lead.length + (columns ?? 1),
        isFirst: index === 0,
      };
    }
    if (line.search(/\S/) <= indent) return undefined;
  }
  return undefined;
}
