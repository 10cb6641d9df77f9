/**
 * Parses an address; undefined if it isn't one. Not by `URL.canParse`: once Node 20 has optimized a call of it, it is false for text with
 * characters such as `ä`.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
