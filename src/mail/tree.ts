import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5';
import type { Span } from '../base/problems.js';
import { splitWords } from '../base/words.js';
import { limits, shown } from './limits.js';

export type Element = DefaultTreeAdapterTypes.Element;

/** Why a body isn't parsed, as an adjective. */
export interface RefusedBody {
  readonly refused: string;
}

/** Attributes with the address of a link or a resource. */
export const addressAttributes: ReadonlySet<string> = new Set(
  splitWords('href src action formaction data background poster'),
);

class TooMuch extends Error {}

/**
 * Parses a body as a browser without scripts does, including `noscript`. Refuses a tree beyond the limits: a few tags can make a browser
 * nest or repeat elements endlessly. Returns all elements in order of creation; with `located`, each element knows the place of its tag.
 */
export function parseBody(
  body: string,
  { located = false }: { readonly located?: boolean } = {},
): { readonly elements: readonly Element[] } | RefusedBody {
  if (body.length > limits.bodyCharacters)
    return { refused: `longer than ${shown(limits.bodyCharacters)} characters` };
  const elements: Element[] = [];
  let depth = 0;
  try {
    parse(body, {
      scriptingEnabled: false,
      sourceCodeLocationInfo: located,
      treeAdapter: {
        ...defaultTreeAdapter,
        createElement: (...parts) => {
          if (elements.length === limits.elements)
            throw new TooMuch(`made of more than ${shown(limits.elements)} elements`);
          const element = defaultTreeAdapter.createElement(...parts);
          elements.push(element);
          return element;
        },
        onItemPush: () => {
          depth += 1;
          if (depth > limits.elementDepth)
            throw new TooMuch(`nested more than ${shown(limits.elementDepth)} elements deep`);
        },
        onItemPop: () => {
          depth -= 1;
        },
      },
    });
    return { elements };
  } catch (failure) {
    if (failure instanceof TooMuch) return { refused: failure.message };
    throw failure;
  }
}

/** The value of an attribute; undefined if there is none. */
export function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((one) => one.name === name)?.value;
}

/** The place of an element's tag, or of one of its attributes; undefined for an element that the parser added. */
export function spotOf({ sourceCodeLocation: whole }: Element, name?: string): Span | undefined {
  if (whole === undefined || whole === null) return undefined;
  const { startOffset, endOffset } =
    (name === undefined ? undefined : whole.attrs?.[name]) ?? whole.startTag ?? whole;
  return { start: startOffset, end: endOffset };
}
