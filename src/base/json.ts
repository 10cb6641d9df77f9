import { compareLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { ExactNumber, exactly } from './values.js';

/**
 * What a text has somewhere, maybe in a string, if any number in it is not as JavaScript writes it. A colon before a number
 * stands behind a quotation mark or a space; the one in a time doesn't.
 */
const suspicious = /(?:^|[\s,[]|["\s]:)(?:-0|-?\d{16}|-?\d+[.eE])/;

/**
 * `JSON.parse` that keeps every number as it is written. Throws a SyntaxError where the text is no JSON, and a
 * RangeError where it is nested too deeply to be kept so.
 */
export function parseJson(text: string): unknown {
  // The platform judges what is JSON; the library, which is slower, comes in where a number may need it.
  const plain: unknown = JSON.parse(text);
  // Most documents with long texts hold no number, and looking for one is quicker than reading the text again.
  if (!holdsNumber(plain) || !suspicious.test(text)) return plain;
  return parse(text, null, {
    parseNumber: exactly,
    // The last one counts, as it does in JSON.parse.
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** Goes as deep as the document is, so it keeps its own stack. */
function holdsNumber(document: unknown): boolean {
  const open: unknown[] = [document];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'number') return true;
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) for (const item of next) open.push(item);
    // A list of all members is as large as the document; what `JSON.parse` makes has nothing but its own.
    else for (const name in next) open.push((next as { readonly [name: string]: unknown })[name]);
  }
  return false;
}

const numberWriter = {
  test: (value: unknown) => value instanceof ExactNumber,
  stringify: String,
};

/** `JSON.stringify` that writes every number to the digit. */
export function stringifyJson(value: unknown, space?: number): string {
  const text = holdsExact(value)
    ? stringify(value, undefined, space, [numberWriter])
    : JSON.stringify(value, null, space);
  if (text === undefined) throw new TypeError('not a value of JSON');
  return text;
}

function holdsExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ExactNumber || Object.values(value).some(holdsExact);
}

/**
 * The plain number for a place that takes no other, such as a port, where 1.0 is 1. Undefined where it would be
 * rounded to an integer that it isn't, or is beyond all plain numbers.
 */
export function plainNumber(text: string): number | undefined {
  const number = Number(text);
  if (!Number.isFinite(number)) return undefined;
  if (!Number.isSafeInteger(number)) return number;
  const whole = new LosslessNumber(String(number));
  // Without a sign where it is -0.
  return compareLosslessNumber(new LosslessNumber(text), whole) === 0 ? Number(whole.value) : undefined;
}
