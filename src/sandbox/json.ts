import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** A JSON object of unknown members. */
export type JsonObject = { [member: string]: unknown };

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** Parses JSON; a number that JavaScript would write differently keeps its text. */
export function parseJson(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: (digits) =>
      String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits),
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** The JSON of a value, with exact numbers. */
export function writeJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** A deep copy with exact numbers. */
export function copyJson<T>(value: T): T {
  return mapLeaves(value, (leaf) => leaf) as T;
}

/** A deep copy with each value changed that is neither a list nor an object. */
function mapLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change));
  if (!isObject(value)) return change(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapLeaves(member, change)]));
}

/** Deep equality that compares numbers by value: 10 and 10.0 are equal. */
export function equalByValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equalByValue(item, b[index]));
  if (isObject(a) && isObject(b)) {
    const names = Object.keys(a);
    const isSame = (name: string): boolean => Object.hasOwn(b, name) && equalByValue(a[name], b[name]);
    return names.length === Object.keys(b).length && names.every(isSame);
  }
  const number = (value: unknown): string | undefined =>
    typeof value === 'number' || isLosslessNumber(value) ? String(value).replace(/\.0$/, '') : undefined;
  return number(a) === undefined ? a === b : number(a) === number(b);
}

/** A deep copy with the numbers that Boruta keeps: it reads decimals as doubles and stores them as decimals. */
export function normalizeNumbers<T>(value: T): T {
  // Numbers that JavaScript writes the same way become plain again.
  return parseJson(writeJson(mapLeaves(value, normalizeLeaf))) as T;
}

function normalizeLeaf(value: unknown): unknown {
  const isInexact = typeof value === 'number' && !Number.isInteger(value);
  return isInexact || isLosslessNumber(value) ? normalizeNumber(String(value)) : value;
}

/** Keeps an integer. Boruta stores the shorter notation of a double: `1000.0` as 1.0e3, which it returns as 1000. */
function normalizeNumber(text: string): unknown {
  if (/^-?\d+$/.test(text)) return new LosslessNumber(text === '-0' ? '0' : text);
  const double = Number(text);
  if (!Number.isFinite(double)) return new LosslessNumber(text);
  if (double === 0) return new LosslessNumber('0.0');
  const [mantissa = '', exponent = '0'] = double.toExponential().split('e');
  const short = `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}e${Number(exponent)}`;
  const long = plainDecimal(mantissa, Number(exponent));
  // From 2^53 on, Boruta always uses an exponent.
  if (long.length <= short.length && Math.abs(double) < 2 ** 53) return new LosslessNumber(long);
  return new LosslessNumber(Number(exponent) < 0 ? short : long.replace(/\.0$/, ''));
}

function plainDecimal(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}
