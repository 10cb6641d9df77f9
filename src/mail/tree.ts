import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5';
import type { Span } from '../base/problems.js';
import { limits, shown } from './limits.js';

export type Element = DefaultTreeAdapterTypes.Element;

/** Why a body is not made a tree, in words that go on after "it is" or "it has". */
export interface RefusedBody {
  readonly refused: string;
}

/** All elements that a browser makes of a body, in the order in which they are made. */
interface Tree {
  readonly elements: readonly Element[];
}

/** Attributes that have an address of something that is led to or loaded. */
export const addressAttributes: ReadonlySet<string> = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'data',
  'background',
  'poster',
]);

class TooMuch extends Error {}

/**
 * Reads a body as a browser without scripts does: what is in `noscript` counts. Stops where the tree grows beyond
 * the limits, since a few tags can make a browser nest or repeat elements without end. With `located` each element
 * knows where its tag stands.
 */
export function parseBody(
  body: string,
  { located = false }: { readonly located?: boolean } = {},
): Tree | RefusedBody {
  if (body.length > limits.bodyCharacters) {
    return { refused: `longer than ${shown(limits.bodyCharacters)} characters` };
  }
  const elements: Element[] = [];
  let depth = 0;
  try {
    parse(body, {
      scriptingEnabled: false,
      sourceCodeLocationInfo: located,
      treeAdapter: {
        ...defaultTreeAdapter,
        createElement: (...parts) => {
          if (elements.length === limits.elements) {
            throw new TooMuch(`made of more than ${shown(limits.elements)} elements`);
          }
          const element = defaultTreeAdapter.createElement(...parts);
          elements.push(element);
          return element;
        },
        onItemPush: () => {
          depth += 1;
          if (depth > limits.elementDepth) {
            throw new TooMuch(`nested more than ${shown(limits.elementDepth)} elements deep`);
          }
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

/** The value of an attribute; undefined where there is none. */
export function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((one) => one.name === name)?.value;
}

/** Where the tag of an element stands, or one of its attributes; undefined for one that nobody wrote. */
export function spotOf({ sourceCodeLocation: whole }: Element, name?: string): Span | undefined {
  if (whole === undefined || whole === null) return undefined;
  const { startOffset, endOffset } =
    (name === undefined ? undefined : whole.attrs?.[name]) ?? whole.startTag ?? whole;
  return { start: startOffset, end: endOffset };
}
