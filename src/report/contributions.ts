import { escapeText } from '../base/escape.js';
import type { Fields, Value } from '../base/values.js';
import { inline } from './values.js';

export interface Contribution {
  /** The `kind` in the manifest. */
  readonly kind: string;
  /** `file:line` of the document. */
  readonly at: string;
  /** The condition of a document about many objects, with its `except`, if it doesn't name this one; only the server knows whether it holds. */
  readonly condition: Fields | null;
  readonly declares: readonly { readonly path: string; readonly at: string; readonly value: Value }[];
}

export interface ShownContributions {
  readonly address: string;
  readonly documents: readonly Contribution[];
  /** How many other documents of the kind name their objects by what the address doesn't have. */
  readonly otherwise: { readonly count: number; readonly by: 'id' | 'name' };
}

/** A sentence about documents that only the server can compare with an address. */
export function namedOtherwise({ count, by }: ShownContributions['otherwise']): string {
  return count === 1
    ? `1 document names an object of this kind by its ${by} and may be about this one: idops plan resolves it.`
    : `${count} documents name objects of this kind by their ${by}s and may be about this one: idops plan resolves them.`;
}

export function contributionsText({ address, documents, otherwise }: ShownContributions): string {
  const blocks = documents.map(({ kind, at, condition, declares }) => {
    const { except, ...shown } = condition ?? {};
    const but = except === undefined ? '' : `, except for ${inline(except)}`;
    const when = condition === null ? '' : `, if the server shows ${inline(shown)}${but}`;
    const lines = declares.map(({ path, at, value }) => `    ${path}: ${inline(value)} (${at})`);
    return [`  ${kind} at ${at}${when}`, ...lines].map(escapeText).join('\n');
  });
  const note = otherwise.count === 0 ? [] : ['', namedOtherwise(otherwise)];
  return `${[escapeText(address), ...blocks, ...note].join('\n')}\n`;
}

export function contributionsJson({ address, documents, otherwise }: ShownContributions): object {
  return { format_version: 1, address, documents, named_otherwise: otherwise.count };
}
