import type * as z from 'zod';
import { findById, type SandboxData } from '../data.js';
import { type Answer, Refused } from '../http.js';
import type { JsonObject } from '../json.js';
import { errorsByField } from './fields.js';

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
export function refusal(status: number, code: string, message: string, headers?: Answer['headers']): Refused {
  return new Refused({ status, body: { code, message }, ...(headers === undefined ? {} : { headers }) });
}

/** The refusal of an unknown id. */
export function notFound(): Refused {
  return refusal(404, 'NOT_FOUND', 'The requested resource could not be found.');
}

/** The refusal of a malformed request (400), of one that is too large (413), or of an invalid resource (422). */
export function errors(status: 400 | 413 | 422, fields: Record<string, string[]>): Refused {
  return new Refused({ status, body: { errors: fields } });
}

/** The element of a list that the path names. */
export function named<T extends { id: string }>(list: readonly T[], { params: [id] }: Operation): T {
  const found = findById(list, id);
  if (found === undefined) throw notFound();
  return found;
}

/** The checked fields of a request's resource. */
export function readResource<T extends z.ZodType>(fields: T, { resource }: Operation): z.infer<T> {
  const read = fields.safeParse(resource);
  if (!read.success) throw errors(422, errorsByField(read.error));
  return read.data;
}
