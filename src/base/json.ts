import { compareLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { ExactNumber, parseNumber } from './values.js';

/** Matches every text with a number that JavaScript would write differently; may also match inside a string. */
const mayBeInexact = /(?:^|[\s,[]|["\s]:)(?:-0|-?\d{16}|-?\d+[.eE])/;

/** `JSON.parse` with exact numbers. Throws a SyntaxError, or a RangeError if the text is nested too deeply. */
export function parseJson(text: string): unknown {
  // The library is slower, so it is used only if a number may need it.
  const plain: unknown = JSON.parse(text);
  // Most documents with long texts have no number, and this check is faster than the regular expression.
  if (!holdsNumber(plain) || !mayBeInexact.test(text)) return plain;
  return parse(text, null, {
    parseNumber: parseNumber,
    // The last value wins, as in JSON.parse.
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** Uses its own stack, since documents may be deeply nested. */
function holdsNumber(document: unknown): boolean {
  const pending: unknown[] = [document];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'number') return true;
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) for (const item of next) pending.push(item);
    // `Object.values` would copy a large document.
    else for (const name in next) pending.push((next as { readonly [name: string]: unknown })[name]);
  }
  return false;
}

const numberWriter = { test: (value: unknown) => value instanceof ExactNumber, stringify: String };

/** `JSON.stringify` with exact numbers. */
export function stringifyJson(value: unknown, space?: number): string {
  const text = holdsExact(value)
    ? stringify(value, undefined, space, [numberWriter])
    : JSON.stringify(value, null, space);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

function holdsExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ExactNumber || Object.values(value).some(holdsExact);
}

/** The plain number for a text, such as 1 for 1.0; undefined if it would be rounded to another integer, or is too large. */
export function plainNumber(text: string): number | undefined {
  const number = Number(text);
  if (!Number.isFinite(number)) return undefined;
  if (!Number.isSafeInteger(number)) return number;
  const whole = new LosslessNumber(String(number));
  // -0 becomes 0.
  return compareLosslessNumber(new LosslessNumber(text), whole) === 0 ? Number(whole.value) : undefined;
}
