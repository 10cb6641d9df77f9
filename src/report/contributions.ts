import { escapeText } from '../base/escape.js';
import type { Value } from '../base/values.js';
import { inline } from './values.js';

/** What a document contributes to an object, as `explain` finds it. */
interface Shown {
  readonly kind: string;
  readonly at: string;
  readonly condition: { readonly [key: string]: Value } | null;
  readonly fields: readonly { readonly path: string; readonly at: string; readonly value: Value }[];
}

/** The documents about an object, as text. */
export function contributionsText(contributions: readonly Shown[], address: string): string {
  const documents = contributions.map(({ kind, at, condition, fields }) => {
    const when = condition === null ? '' : `, if the server shows ${inline(condition)}`;
    const lines = fields.map(({ path, at, value }) => `    ${path}: ${inline(value)} (${at})`);
    return [`  ${kind} at ${at}${when}`, ...lines].map(escapeText).join('\n');
  });
  return `${escapeText(address)}\n${documents.join('\n')}\n`;
}
