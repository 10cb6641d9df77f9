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

/** How the lines of a text end. */
export function eolOf(text: string): '\r\n' | '\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
