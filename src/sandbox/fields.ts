import { isObject, type JsonObject } from './json.js';

/** What is wrong with a value, and where inside of it (`.name`, `[0].label`, or nothing for itself). */
interface Problem {
  path: string;
  message: string;
}

/** A value that doesn't fit its field. */
export class Invalid {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    this.problems = problems;
  }

  /** The problems by the field they are in, as an answer's `errors` shows them. */
  byField(): Record<string, string[]> {
    const errors: Record<string, string[]> = {};
    for (const { path, message } of this.problems) {
      const [, field = 'body', rest = ''] = /^\.([^.[]*)(.*)$/s.exec(path) ?? [];
      const messages = errors[field] ?? [];
      messages.push(rest === '' ? message : `${rest} ${message}`);
      errors[field] = messages;
    }
    return errors;
  }
}

/** Reads one value of a body; an absent member is undefined. */
export type Field<T> = (value: unknown) => T | Invalid;

type Shape = Record<string, Field<unknown>>;
type Value<F> = F extends Field<infer T> ? T : never;
type Members<S extends Shape> = { [K in keyof S]: Value<S[K]> };

function invalid(message: string): Invalid {
  return new Invalid([{ path: '', message }]);
}

function plain<T>(message: string, test: (value: unknown) => value is T): Field<T | null> {
  return (value) => (value === null || test(value) ? value : invalid(message));
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** A string, or null. */
export const text = plain('must be a string', isText);

/** A string that has to be there. */
export const requiredText: Field<string> = (value) => {
  if (value === undefined || value === null) return invalid('is required');
  return isText(value) ? value : invalid('must be a string');
};

/** A boolean, or null. */
export const flag = plain('must be a boolean', (value) => typeof value === 'boolean');

/** A 32-bit integer, or null. */
export const int32 = plain(
  'must be an int32',
  (value): value is number =>
    Number.isInteger(value) && value === Number(value) && value === (Number(value) | 0),
);

/** An RFC 3339 date-time, or null. */
export const dateTime = plain(
  'must be a date-time',
  (value): value is string =>
    isText(value) &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value) &&
    !Number.isNaN(Date.parse(value)),
);

/** Any object, taken whole; null clears it. */
export const object: Field<JsonObject> = (value) => {
  if (value === null) return {};
  return isObject(value) ? value : invalid('must be an object');
};

/** An array of such values; null clears it. */
export function list<T>(element: Field<T>): Field<T[]> {
  return (value) => {
    if (value === null) return [];
    if (!Array.isArray(value)) return invalid('must be an array');
    const values: T[] = [];
    const problems: Problem[] = [];
    for (const [index, item] of value.entries()) {
      const read = item === null ? invalid('must not be null') : element(item);
      if (read instanceof Invalid) {
        problems.push(...read.problems.map((p) => ({ ...p, path: `[${index}]${p.path}` })));
      } else values.push(read);
    }
    return problems.length === 0 ? values : new Invalid(problems);
  };
}

/** An object with these members; members it doesn't name are ignored, optional ones may be absent. */
export function record<R extends Shape, O extends Shape>(
  required: R,
  optional: O,
): Field<Members<R> & Partial<Members<O>>> {
  return (value) => {
    if (!isObject(value)) return invalid('must be an object');
    const members: JsonObject = {};
    const problems: Problem[] = [];
    const read = (name: string, field: Field<unknown>): void => {
      const member = field(Object.hasOwn(value, name) ? value[name] : undefined);
      if (member instanceof Invalid) {
        problems.push(...member.problems.map((p) => ({ ...p, path: `.${name}${p.path}` })));
      } else members[name] = member;
    };
    for (const [name, field] of Object.entries(required)) read(name, field);
    for (const [name, field] of Object.entries(optional)) {
      if (Object.hasOwn(value, name)) read(name, field);
    }
    return problems.length === 0 ? (members as Members<R> & Partial<Members<O>>) : new Invalid(problems);
  };
}

/** The same as another field, or null. */
export function nullable<T>(field: Field<T>): Field<T | null> {
  return (value) => (value === null ? null : field(value));
}
