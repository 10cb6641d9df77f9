import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5';
import type { Span } from '../base/problems.js';
import { splitWords } from '../base/words.js';
import { formatNumber, limits } from './limits.js';

export type Element = DefaultTreeAdapterTypes.Element;

/** A body that isn't parsed. */
export interface RejectedBody {
  /** Why, as an adjective: `longer than 1,048,576 characters`. */
  readonly rejection: string;
}

/** Attributes with the address of a link or a resource. */
export const addressAttributes: ReadonlySet<string> = new Set(
  splitWords('href src action formaction data background poster'),
);

class LimitExceeded extends Error {}

/**
 * Parses a body as a browser with disabled scripts does. Rejects a body beyond the limits, since a few tags can make a browser create very
 * many elements. Returns all elements in order of creation; with `located`, elements have the place of their tag.
 */
export function parseBody(
  body: string,
  { located = false }: { readonly located?: boolean } = {},
): { readonly elements: readonly Element[] } | RejectedBody {
  if (body.length > limits.bodyCharacters)
    return { rejection: `longer than ${formatNumber(limits.bodyCharacters)} characters` };
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
            throw new LimitExceeded(`made of more than ${formatNumber(limits.elements)} elements`);
          const element = defaultTreeAdapter.createElement(...parts);
          elements.push(element);
          return element;
        },
        onItemPush: () => {
          depth += 1;
          if (depth > limits.elementDepth)
            throw new LimitExceeded(`nested more than ${formatNumber(limits.elementDepth)} elements deep`);
        },
        onItemPop: () => {
          depth -= 1;
        },
      },
    });
    return { elements };
  } catch (failure) {
    if (failure instanceof LimitExceeded) return { rejection: failure.message };
    throw failure;
  }
}

/** The value of an attribute; undefined if there is none. */
export function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((one) => one.name === name)?.value;
}

/** The place of an element's tag, or of one of its attributes; undefined for an element that the parser added. */
export function placeOf({ sourceCodeLocation: whole }: Element, name?: string): Span | undefined {
  if (whole === undefined || whole === null) return undefined;
  const { startOffset, endOffset } =
    (name === undefined ? undefined : whole.attrs?.[name]) ?? whole.startTag ?? whole;
  return { start: startOffset, end: endOffset };
}
