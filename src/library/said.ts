import { quote } from '../base/escape.js';
import type { Redactor } from '../base/redact.js';

/** What a program gave, as an error names it: on one line, harmless on a terminal, and without a credential. */
export function said(value: unknown, { redactEcho }: Pick<Redactor, 'redactEcho'>): string {
  if (typeof value === 'string') return quote(redactEcho(value));
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'symbol' || typeof value === 'function') return `a ${typeof value}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
