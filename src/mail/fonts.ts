import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import type { Span } from '../base/span.js';
import type { AtRule, Declaration, Styles } from './css.js';
import { attribute, type Element, spotOf, type Tree } from './tree.js';

/**
 * The parts of a body that load fonts for those programs alone that can: between `<!--[if !mso]><!-->` and `<!--<![endif]-->`, as what
 * MJML writes does. Nobody misses them where each list of fonts names another one besides; else there are none.
 */
export class OptionalFonts {
  readonly #parts: readonly Span[];

  constructor(tree: Tree, styles: Styles) {
    const parts = conditionalParts(tree);
    this.#parts = parts.length > 0 && eachFallsBack(styles) ? parts : [];
  }

  /** Whether an element only loads a font that may be missed. */
  loads(element: Element): boolean {
    return (
      element.tagName === 'link' && isFont(attribute(element, 'href') ?? '') && this.#holds(spotOf(element))
    );
  }

  /** Whether an at-rule only loads a font that may be missed. */
  imports({ name, prelude, at }: AtRule): boolean {
    return (name === 'font-face' || (name === 'import' && isFont(addressIn(prelude)))) && this.#holds(at);
  }

  #holds(at: Span | undefined): boolean {
    return at !== undefined && this.#parts.some(({ start, end }) => start <= at.start && at.end <= end);
  }
}

/** More parts than anybody writes say nothing. */
const partsAtMost = 20;

/** What stands in comments that hide their ends from all programs but one, in the order in which it stands. */
function conditionalParts({ document }: Tree): Span[] {
  const parts: Span[] = [];
  let start: number | undefined;
  const walk = (parent: { readonly childNodes: Element['childNodes'] }): void => {
    for (const node of parent.childNodes) {
      if ('childNodes' in node) walk(node);
      if (node.nodeName !== '#comment' || !('data' in node)) continue;
      const where = node.sourceCodeLocation;
      if (where === undefined || where === null) continue;
      if (/^\[if\s[^\]]{0,100}\]><!/i.test(node.data)) start = where.endOffset;
      else if (/^<!\[endif\]/i.test(node.data) && start !== undefined) {
        if (parts.length < partsAtMost) parts.push({ start, end: where.startOffset });
        start = undefined;
      }
    }
  };
  walk(document);
  return parts;
}

function isFont(address: string): boolean {
  return address.length < 2000 && /font|typekit/i.test(address);
}

function addressIn(prelude: readonly CSSToken[]): string {
  for (const token of prelude) {
    if (token[0] === TokenType.URL || token[0] === TokenType.String) return token[4].value;
  }
  return '';
}

/** Families that every program has something for. */
const everywhere = new Set([
  'serif',
  'sans-serif',
  'monospace',
  'cursive',
  'fantasy',
  'system-ui',
  'inherit',
  'initial',
]);

function eachFallsBack({ rules, inline }: Styles): boolean {
  return [...rules.map(({ declarations }) => declarations), ...inline.values()].every((declarations) =>
    declarations.every(fallsBack),
  );
}

function fallsBack({ name, value }: Declaration): boolean {
  if (name !== 'font-family' && name !== 'font') return true;
  return value.some(
    (token) =>
      token[0] === TokenType.Comma ||
      (token[0] === TokenType.Ident && everywhere.has(token[4].value.toLowerCase())),
  );
}
