import { escapeText } from '../base/escape.js';
import type { Fields, Value } from '../base/values.js';
import { inline } from './values.js';

export interface Contribution {
  /** The `kind` in the manifest. */
  readonly kind: string;
  /** `file:line` of the document. */
  readonly at: string;
  /** The `match` and `except` of a document that doesn't name this object; null if it names it. Only the server can evaluate it. */
  readonly condition: Fields | null;
  readonly declares: readonly { readonly path: string; readonly at: string; readonly value: Value }[];
}

export interface ShownContributions {
  readonly address: string;
  readonly documents: readonly Contribution[];
  /** How many documents of the kind identify their object by an id or a name that the address lacks. */
  readonly unresolved: { readonly count: number; readonly by: 'id' | 'name' };
}

/** Says how many documents only the server can match with the address. */
export function unresolvedNote({ count, by }: ShownContributions['unresolved']): string {
  return count === 1
    ? `1 document names an object of this kind by its ${by} and may be about this one: idops plan resolves it.`
    : `${count} documents name objects of this kind by their ${by}s and may be about this one: idops plan resolves them.`;
}

export function contributionsText({ address, documents, unresolved }: ShownContributions): string {
  const blocks = documents.map(({ kind, at, condition, declares }) => {
    const { except, ...shown } = condition ?? {};
    const but = except === undefined ? '' : `, except for ${inline(except)}`;
    const when = condition === null ? '' : `, if the server shows ${inline(shown)}${but}`;
    const lines = declares.map(({ path, at, value }) => `    ${path}: ${inline(value)} (${at})`);
    return [`  ${kind} at ${at}${when}`, ...lines].map(escapeText).join('\n');
  });
  const note = unresolved.count === 0 ? [] : ['', unresolvedNote(unresolved)];
  return `${[escapeText(address), ...blocks, ...note].join('\n')}\n`;
}

export function contributionsJson({ address, documents, unresolved }: ShownContributions): object {
  return { format_version: 1, address, documents, named_otherwise: unresolved.count };
}
