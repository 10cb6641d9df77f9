import { escapeText } from '../base/escape.js';
import type { Place } from '../base/problems.js';
import type { Fields, Value } from '../base/values.js';
import { jsonOf, placeJson } from './json.js';
import { placeText } from './review.js';
import { inline } from './values.js';

export interface Contribution {
  /** The `kind` in the manifest. */
  readonly kind: string;
  /** The place of the document. */
  readonly at: Place;
  /** The `match` and `except` of a document that doesn't name this object; null if it names it. Only the server can evaluate it. */
  readonly condition: Fields | null;
  readonly declares: readonly { readonly path: string; readonly at: Place; readonly value: Value }[];
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
    const lines = declares.map(({ path, at, value }) => `    ${path}: ${inline(value)} (${placeText(at)})`);
    return [`  ${kind} at ${placeText(at)}${when}`, ...lines].map(escapeText).join('\n');
  });
  const note = unresolved.count === 0 ? [] : ['', unresolvedNote(unresolved)];
  return `${[escapeText(address), ...blocks, ...note].join('\n')}\n`;
}

export function contributionsJson({ address, documents, unresolved }: ShownContributions): object {
  return {
    format_version: 1,
    address,
    documents: documents.map(({ kind, at, condition, declares }) => ({
      kind,
      at: placeJson(at),
      condition: condition && jsonOf(condition),
      declares: declares.map((one) => ({ path: one.path, at: placeJson(one.at), value: jsonOf(one.value) })),
    })),
    named_otherwise: unresolved.count,
  };
}
