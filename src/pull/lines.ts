/** The beginning of the line that a place is in. */
export function lineOf(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** The beginning of the line after the one that a place is in. */
export function lineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at);
  return found < 0 ? text.length : found + 1;
}

/** The space that the line of a place begins with. */
export function indentAt(text: string, at: number): string {
  return /^[ ]*/.exec(text.slice(lineOf(text, at), at))?.[0] ?? '';
}

/** How the line of a place ends, or the one before it where it is the last: documents of one file may differ. */
export function eolOf(text: string, at: number): '\r\n' | '\n' {
  const own = text.indexOf('\n', at);
  const end = own < 0 ? text.lastIndexOf('\n') : own;
  return end > 0 && text[end - 1] === '\r' ? '\r\n' : '\n';
}
