import * as z from 'zod';
import { isObject, type JsonObject } from '../json.js';

/** A required string. */
export const requiredText = z.string({
  error: ({ input }) => (input === undefined || input === null ? 'is required' : 'must be a string'),
});

/** A string, or null. */
export const text = z.string('must be a string').nullable();

/** A boolean, or null. */
export const flag = z.boolean('must be a boolean').nullable();

/** A 32-bit integer, or null. */
export const int32 = z.int32('must be an int32').nullable();

/** An RFC 3339 date-time, or null. */
export const dateTime = z
  .string('must be a date-time')
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i, 'must be a date-time')
  .refine((value) => !Number.isNaN(Date.parse(value)), 'must be a date-time')
  .nullable();

/** Any object. */
export const object = z.custom<JsonObject>(isObject, 'must be an object');

/** Any object; null becomes an empty one. */
export const map = object.nullable().transform((value) => value ?? {});

/** An array of these values; null becomes an empty one. */
export function list<T extends z.ZodType>(element: T) {
  return z
    .array(element, 'must be an array')
    .nullable()
    .transform((value) => value ?? []);
}

/** An object with these optional members; others are ignored. */
export function members<S extends z.ZodRawShape>(shape: S) {
  return z.object(shape, 'must be an object').partial();
}

/** Messages by field, as the `errors` of an answer have them. */
export function errorsByField({ issues }: z.ZodError): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const {
    path: [field = 'body', ...inner],
    message,
  } of issues) {
    const path = inner.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
    errors[String(field)] = [...(errors[String(field)] ?? []), path === '' ? message : `${path} ${message}`];
  }
  return errors;
}
