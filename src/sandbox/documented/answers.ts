import type { Answer } from '../http.js';

/** A success. */
export function ok(data: unknown): Answer {
  return { status: 200, body: { data } };
}

/** A refusal with a code and a message. */
export function refusal(status: number, code: string, message: string): Answer {
  return { status, body: { code, message } };
}

/** The answer to an unknown id. */
export function notFound(): Answer {
  return refusal(404, 'NOT_FOUND', 'The requested resource could not be found.');
}

/** A malformed request (400), one that is too large (413), or an invalid resource (422). */
export function errors(status: 400 | 413 | 422, fields: Record<string, string[]>): Answer {
  return { status, body: { errors: fields } };
}
