import { copyJson, type JsonObject } from '../json.js';
import { hasNul, isBlank, isTooLong } from './texts.js';

/** Why a value is refused, in words of the server. */
export class Invalid {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** A field of a resource. */
export interface Field {
  /** The value in a new object if none is sent. */
  initial: unknown;
  /** What the server does with null: stores it, crashes, or refuses it with this message. */
  onNull: 'store' | 'crash' | Invalid;
  /** Whether an empty text is null. It is the initial value otherwise. */
  blankIsNull?: boolean;
  /** Whether a new object needs it. */
  required?: boolean;
  /** Whether a text of any length fits. */
  wide?: boolean;
  /** Whether it is in no answer. */
  writeOnly?: boolean;
  /** The value to store for what was sent, which isn't null; undefined if it is invalid. */
  read(sent: unknown): unknown;
}

export type Fields = Readonly<Record<string, Field>>;

/** Messages by field. */
export type Errors = Record<string, unknown[]>;

/** What a request's values become. */
export interface Reading {
  values: JsonObject;
  errors: Errors;
  /** What the database does with the values: refuses a NUL, or crashes with this reason. */
  broken: 'nul' | { crash: string } | undefined;
}

const blank = new Invalid("can't be blank");

/** A text; white space alone is null. */
export const text: Field = { initial: null, onNull: 'store', read: readText };

/** A text without which there is no object. */
export const requiredText: Field = { ...text, onNull: blank, required: true };

/** A required text with a check, which may also change it. */
export function checkedText(check: (sent: string) => string | Invalid): Field {
  return {
    ...requiredText,
    read(sent) {
      const read = readText(sent);
      return typeof read === 'string' ? check(read) : read;
    },
  };
}

/** A boolean, also as text. */
export function flag(initial: boolean | null, onNull: Field['onNull'] = 'crash'): Field {
  return { initial, onNull, read: readFlag };
}

/** An integer, also as text. */
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

/** A boolean, also as text; an empty text is null, and anything else undefined. */
export function readFlag(sent: unknown): boolean | null | undefined {
  return flags.get(sent) ?? (typeof sent === 'string' && isBlank(sent) ? null : undefined);
}

/** Reads the values that were sent, and for a new object the initial values of all others. */
export function readFields(fields: Fields, sent: JsonObject, isNew: boolean): Reading {
  const reading: Reading = { values: {}, errors: {}, broken: undefined };
  for (const [name, field] of Object.entries(fields)) {
    if (sent[name] !== undefined) readField(reading, name, field, sent[name]);
    else if (isNew && field.required === true) reading.errors[name] = [blank.message];
    else if (isNew) reading.values[name] = copyJson(field.initial);
  }
  return reading;
}

function readField(reading: Reading, name: string, field: Field, sent: unknown): void {
  const read = sent === null ? null : field.read(sent);
  const isInitial = sent !== null && read === null && field.blankIsNull !== true;
  const value = isInitial ? copyJson(field.initial) : read;
  const refused = value === null ? field.onNull : value;
  if (value === undefined) reading.errors[name] = ['is invalid'];
  else if (refused instanceof Invalid) reading.errors[name] = [refused.message];
  else if (value === null && refused === 'crash') reading.broken ??= { crash: notNull(name) };
  else if (hasNul(value)) reading.broken ??= 'nul';
  else if (typeof value === 'number' && value !== (value | 0)) reading.broken ??= { crash: outOfRange };
  else if (field.wide !== true && [value].flat().some((one) => typeof one === 'string' && isTooLong(one)))
    reading.broken ??= { crash: tooWide };
  reading.values[name] = value;
}

const notNull = (name: string): string =>
  `(Postgrex.Error) ERROR 23502 (not_null_violation) null value in column "${name}"`;
const outOfRange = '(DBConnection.EncodeError) expected an integer in -2147483648..2147483647';
const tooWide = '(Postgrex.Error) ERROR 22001 value too long for type character varying(255)';
