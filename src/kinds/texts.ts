import { type Json, Sensitive, type Value } from '../base/values.js';

/** Whether a value is a text without a character that is more than white space, as Unicode has it. */
export function isBlank(value: Value | undefined): boolean {
  const text = shown(value);
  return typeof text === 'string' && /^\p{White_Space}*$/u.test(text);
}

/** A value's text; the empty one where it is none. */
export function textOf(value: Value | undefined): string {
  const text = shown(value);
  return typeof text === 'string' ? text : '';
}

function shown(value: Value | undefined): Json | Value | undefined {
  return value instanceof Sensitive ? value.reveal() : value;
}

/** The first that is a text with something in it, and no secret. */
export function firstText(...values: readonly (Value | undefined)[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '');
}

/** How long a text is in code points, as databases count. */
export function characters(text: string): number {
  return [...text].length;
}
