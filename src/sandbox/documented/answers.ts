import type { Answer } from '../http.js';

/** A success. */
export function ok(data: unknown): Answer {
  return { status: 200, body: { data } };
}

/** A refusal with a code and a message. */
export function refusal(status: number, code: string, message: string): Answer {
  return { status, body: { code, message } };
}

/** The answer to an id that nothing has. */
export function notFound(): Answer {
  return refusal(404, 'NOT_FOUND', 'The requested resource could not be found.');
}

/** A request that can't be understood (400), or whose payload is invalid (422). */
export function errors(status: 400 | 413 | 422, fields: Record<string, string[]>): Answer {
  return { status, body: { errors: fields } };
}
