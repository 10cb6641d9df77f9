/** A part of a text that is shown, and whether it is what goes or what comes; harmless, as all of the text is. */
export interface Span {
  readonly text: string;
  readonly change: '+' | '-' | null;
}

/** The text without what is said of its parts. */
export function textOf(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join('');
}

/** Spans in a row, with something between each two of them. */
export function joinSpans(parts: readonly (readonly Span[])[], between: string): Span[] {
  return parts.flatMap((spans, index) => (index === 0 ? spans : [plain(between), ...spans]));
}

/** A part of which there is nothing to say. */
export function plain(text: string): Span {
  return { text, change: null };
}
