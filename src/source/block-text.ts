import { keyOf, lineAt } from './lines.js';
import type { Range } from './tree.js';

/** How far above a line the key of its text is looked for: empty lines alone stand between them. */
const REACH = 2_000;

/** The line of an offset, where it begins the text that "|" or ">" announces above and isn't indented below that key. */
export function unindentedText(
  text: string,
  at: number,
): { readonly mark: string; readonly range: Range } | undefined {
  const line = lineAt(text, at);
  const written = text.slice(line.start, line.end);
  const indent = written.search(/\S/);
  if (indent < 0 || keyOf(written) !== undefined || /^\s*\t|^(?:---|\.\.\.)/.test(written)) return undefined;
  const above = text.slice(Math.max(0, line.start - REACH), line.start).trimEnd();
  const [, before = '', mark] =
    /^(\s*(?:- +)*)["']?[A-Za-z_][\w -]{0,60}["']?:[ \t]+([|>])[-+\d]{0,2}(?:[ \t]+#.*)?$/.exec(
      above.slice(above.lastIndexOf('\n') + 1),
    ) ?? [];
  if (mark === undefined || indent > before.length) return undefined;
  // The next item of the list that the key stands in.
  if (/^-(?:\s|$)/.test(written.slice(indent)) && indent < before.length) return undefined;
  return { mark, range: { start: line.start + indent, end: line.end } };
}
