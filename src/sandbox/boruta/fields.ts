import type { Refused } from '../http.js';
import { copyJson, isObject, type JsonObject } from '../json.js';
import { Crash, nulRefused, tooLong } from './answers.js';

/** A refusal of a value, with the server's message. */
export class Invalid {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** How the server reads a field. */
export interface Field {
  /** The value in a new object if the request has none. */
  initial: unknown;
  /** What the server does with null: stores it, crashes, or refuses it. */
  onNull: 'store' | 'crash' | Invalid;
  /** Whether a blank text is read as null, and not as the initial value. */
  blankIsNull?: boolean;
  /** Whether a new object needs a value. */
  required?: boolean;
  /** Whether its column has no limit of length. */
  unlimited?: boolean;
  /** Whether answers omit it. */
  writeOnly?: boolean;
  /** Converts a value that isn't null to the one to store; undefined if it is invalid. */
  read(sent: unknown): unknown;
}

export type Fields = Readonly<Record<string, Field>>;

/** Messages by field. */
export type Errors = Record<string, unknown[]>;

/** The result of reading a request's fields. */
export interface ReadResult {
  values: JsonObject;
  errors: Errors;
  /** The failure of the database at a value that passed validation. */
  databaseFailure: Crash | Refused | undefined;
}

const blank = new Invalid("can't be blank");

/** A text; only white space becomes null. */
export const text: Field = { initial: null, onNull: 'store', read: readText };

/** A text that every object needs. */
export const requiredText: Field = { ...text, onNull: blank, required: true };

/** A required text; `check` returns the text to store, or a refusal. */
export function checkedText(check: (sent: string) => string | Invalid): Field {
  return {
    ...requiredText,
    read(sent) {
      const read = readText(sent);
      return typeof read === 'string' ? check(read) : read;
    },
  };
}

/** A boolean, or its text. */
export function flag(initial: boolean | null, onNull: Field['onNull'] = 'crash'): Field {
  return { initial, onNull, read: readFlag };
}

/** An integer, or its text. */
export function integer(initial: number | null, least = -Infinity, most = Infinity): Field {
  return {
    initial,
    onNull: 'store',
    read(sent) {
      if (typeof sent === 'string' && isBlank(sent)) return null;
      const digits = typeof sent === 'string' || typeof sent === 'number' ? String(sent) : '';
      const number = /^[-+]?\d+$/.test(digits) ? Number(digits) : Number.NaN;
      return number >= least && number <= most ? number : undefined;
    },
  };
}

/** One of these texts. */
export function oneOf(values: readonly string[], initial: string | null, onNull: Field['onNull']): Field {
  return {
    initial,
    onNull,
    read(sent) {
      if (typeof sent === 'string' && isBlank(sent)) return null;
      return values.some((value) => value === sent) ? sent : undefined;
    },
  };
}

function readText(sent: unknown): string | null | undefined {
  if (typeof sent !== 'string') return undefined;
  return isBlank(sent) ? null : sent;
}

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  ['1', true],
  [false, false],
  ['false', false],
  ['0', false],
]);

/** Reads a boolean or its text; a blank text becomes null, anything else undefined. */
export function readFlag(sent: unknown): boolean | null | undefined {
  return flags.get(sent) ?? (typeof sent === 'string' && isBlank(sent) ? null : undefined);
}

/** Reads the fields of a request; a new object gets the initial values of all others. */
export function readFields(fields: Fields, sent: JsonObject, isNew: boolean): ReadResult {
  const result: ReadResult = { values: {}, errors: {}, databaseFailure: undefined };
  for (const [name, field] of Object.entries(fields)) {
    if (sent[name] !== undefined) readField(result, name, field, sent[name]);
    else if (isNew && field.required === true) result.errors[name] = [blank.message];
    else if (isNew) result.values[name] = copyJson(field.initial);
  }
  return result;
}

function readField(result: ReadResult, name: string, field: Field, sent: unknown): void {
  const read = sent === null ? null : field.read(sent);
  const isInitial = sent !== null && read === null && field.blankIsNull !== true;
  const value = isInitial ? copyJson(field.initial) : read;
  const refused = value === null ? field.onNull : value;
  if (value === undefined) result.errors[name] = ['is invalid'];
  else if (refused instanceof Invalid) result.errors[name] = [refused.message];
  else result.databaseFailure ??= databaseFailure(name, field, value);
  result.values[name] = value;
}

function databaseFailure(name: string, field: Field, value: unknown): ReadResult['databaseFailure'] {
  if (value === null && field.onNull === 'crash')
    return new Crash(`(Postgrex.Error) ERROR 23502 (not_null_violation) null value in column "${name}"`);
  if (hasNul(value)) return nulRefused();
  if (typeof value === 'number' && value !== (value | 0))
    return new Crash('(DBConnection.EncodeError) expected an integer in -2147483648..2147483647');
  const texts = field.unlimited === true ? [] : [value].flat();
  return texts.some((one) => typeof one === 'string' && isTooLong(one)) ? tooLong() : undefined;
}

/** The length of the database's text columns, in characters. */
const maxLength = 255;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is empty or only white space, as Unicode defines it. */
export function isBlank(text: string): boolean {
  return /^\p{White_Space}*$/u.test(text);
}

/** Whether a text is too long for its column. */
export function isTooLong(text: string): boolean {
  return text.length > maxLength && [...text].length > maxLength;
}

/** Whether a value, or the name of a member, contains a NUL character. */
export function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (Array.isArray(value)) return value.some(hasNul);
  return isObject(value) && Object.entries(value).some(([name, member]) => hasNul(name) || hasNul(member));
}

/** A UUID in lower case, as the server compares it; null if the value isn't one. */
export function readUuid(value: unknown): string | null {
  return typeof value === 'string' && uuid.test(value) ? value.toLowerCase() : null;
}
