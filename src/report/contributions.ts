import { escapeText } from '../base/escape.js';
import type { Fields, Value } from '../base/values.js';
import { inline } from './values.js';

/** What a document contributes to an object. */
export interface Contribution {
  /** The `kind` in the manifest. */
  readonly kind: string;
  /** `file:line` of the document. */
  readonly at: string;
  /** The condition of a document about many objects, if it doesn't name this one; only the server knows whether it holds. */
  readonly condition: Fields | null;
  readonly declares: readonly { readonly path: string; readonly at: string; readonly value: Value }[];
}

/** The documents about an object. */
export interface ShownContributions {
  readonly address: string;
  readonly documents: readonly Contribution[];
}

export function contributionsText({ address, documents }: ShownContributions): string {
  const told = documents.map(({ kind, at, condition, declares }) => {
    const when = condition === null ? '' : `, if the server shows ${inline(condition)}`;
    const lines = declares.map(({ path, at, value }) => `    ${path}: ${inline(value)} (${at})`);
    return [`  ${kind} at ${at}${when}`, ...lines].map(escapeText).join('\n');
  });
  return `${escapeText(address)}\n${told.join('\n')}\n`;
}

export function contributionsJson({ address, documents }: ShownContributions): object {
  return { format_version: 1, address, documents };
}
