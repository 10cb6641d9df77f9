import type { SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import type { JsonObject } from '../json.js';

/** The input of an operation. */
export interface Operation {
  data: SandboxData;
  pageSize: number;
  /** The path parameters, decoded, in the order of the path. */
  params: string[];
  query: URLSearchParams;
  /** The content of the body's wrapper; empty for operations without a body. */
  resource: JsonObject;
}

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
