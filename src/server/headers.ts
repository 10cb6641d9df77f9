import type { IncomingHttpHeaders } from 'node:http';

/** The headers of an answer by their names in small letters; one that was sent several times has several values. */
export type AnswerHeaders = ReadonlyMap<string, readonly string[]>;

/** Takes over what undici gives, which is one text or, where a header was repeated, a list of them. */
export function answerHeaders(headers: IncomingHttpHeaders): AnswerHeaders {
  return new Map(
    Object.entries(headers).map(([name, value = []]) => [name, typeof value === 'string' ? [value] : value]),
  );
}

/** A header that says one thing: the first one, where a gateway added another. */
export function firstHeader(headers: AnswerHeaders, name: string): string | undefined {
  return headers.get(name)?.[0];
}
