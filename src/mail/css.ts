import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import type { Span } from '../base/span.js';
import { tokensOf } from './styles.js';
import { attribute, type Element, spotOf, type Tree } from './tree.js';

/** A declaration of a style, its name in lower case; the value without white space at its ends. */
export interface Declaration {
  readonly name: string;
  readonly value: readonly CSSToken[];
  readonly at: Span | undefined;
}

/** A rule of a style sheet; `selector` is null in an at-rule that has none, and in a rule within another. */
export interface Rule {
  readonly selector: readonly CSSToken[] | null;
  /** The at-rules that it stands in. */
  readonly inside: readonly AtRule[];
  readonly declarations: readonly Declaration[];
  readonly at: Span | undefined;
}

/** `@media (…)` and the like, its name in lower case and without the sign. */
export interface AtRule {
  readonly name: string;
  readonly prelude: readonly CSSToken[];
  readonly at: Span | undefined;
}

/** All styles of a body. */
export interface Styles {
  readonly rules: readonly Rule[];
  readonly atRules: readonly AtRule[];
  /** By the element that has them in its `style`. */
  readonly inline: ReadonlyMap<Element, readonly Declaration[]>;
}

/** Reads the style sheets and the `style` attributes of a body, in time in proportion. */
export function stylesOf({ elements }: Tree, body: string): Styles {
  const rules: Rule[] = [];
  const atRules: AtRule[] = [];
  const inline = new Map<Element, readonly Declaration[]>();
  for (const element of elements) {
    const style = attribute(element, 'style');
    if (style !== undefined) {
      const at = spotOf(element, 'style');
      inline.set(element, new Reader(style, () => at).declarations());
    }
    if (element.tagName !== 'style') continue;
    for (const { sourceCodeLocation: where } of element.childNodes) {
      if (where === undefined || where === null) continue;
      const { startOffset, endOffset } = where;
      const reader = new Reader(body.slice(startOffset, endOffset), (start, end) => ({
        start: startOffset + start,
        end: startOffset + end,
      }));
      reader.sheet(rules, atRules);
    }
  }
  return { rules, atRules, inline };
}

const nesting = new Set<TokenType>([TokenType.Function, TokenType.OpenParen, TokenType.OpenSquare]);
const closing = new Set<TokenType>([TokenType.CloseParen, TokenType.CloseSquare]);
const blank = new Set<TokenType>([TokenType.Whitespace, TokenType.Comment]);
/** At-rules with rules in them; others have declarations. */
const groups = /^(?:media|supports|layer|container|scope|document|(?:-\w+-)?keyframes)$/;

interface Block {
  /** The rule whose declarations stand here; null where rules do. */
  readonly rule: { readonly declarations: Declaration[] } | null;
  readonly inside: readonly AtRule[];
}

class Reader {
  readonly #tokens: readonly CSSToken[];
  readonly #place: (start: number, end: number) => Span | undefined;
  #at = 0;

  constructor(css: string, place: (start: number, end: number) => Span | undefined) {
    this.#tokens = tokensOf(css);
    this.#place = place;
  }

  declarations(): Declaration[] {
    const found: Declaration[] = [];
    while (this.#type() !== TokenType.EOF) {
      const one = this.#declaration(this.#until(TokenType.Semicolon));
      if (one !== undefined) found.push(one);
      this.#at += 1;
    }
    return found;
  }

  sheet(rules: Rule[], atRules: AtRule[]): void {
    const blocks: Block[] = [{ rule: null, inside: [] }];
    for (;;) {
      const block = blocks.at(-1);
      const token = this.#tokens[this.#at];
      if (block === undefined || token === undefined || token[0] === TokenType.EOF) return;
      if (token[0] === TokenType.CloseCurly) {
        if (blocks.length > 1) blocks.pop();
        this.#at += 1;
      } else if (
        blank.has(token[0]) ||
        [TokenType.CDO, TokenType.CDC, TokenType.Semicolon].includes(token[0])
      ) {
        this.#at += 1;
      } else if (token[0] === TokenType.AtKeyword) {
        this.#at += 1;
        const prelude = trimmed(this.#until(TokenType.Semicolon, TokenType.OpenCurly, TokenType.CloseCurly));
        const end = prelude.at(-1)?.[3] ?? token[3];
        const rule = { name: token[4].value.toLowerCase(), prelude, at: this.#place(token[2], end + 1) };
        atRules.push(rule);
        if (this.#type() !== TokenType.OpenCurly) continue;
        // Beyond what anybody writes, what stands where says nothing any more.
        const inside = block.inside.length < 8 ? [...block.inside, rule] : block.inside;
        blocks.push(groups.test(rule.name) ? { rule: null, inside } : this.#rule(null, inside, rules));
        this.#at += 1;
      } else if (block.rule === null) {
        const selector = trimmed(this.#until(TokenType.OpenCurly, TokenType.CloseCurly));
        if (this.#type() !== TokenType.OpenCurly) continue;
        blocks.push(this.#rule(selector, block.inside, rules));
        this.#at += 1;
      } else {
        const tokens = this.#until(TokenType.Semicolon, TokenType.OpenCurly, TokenType.CloseCurly);
        if (this.#type() === TokenType.OpenCurly) {
          blocks.push(this.#rule(null, block.inside, rules));
          this.#at += 1;
          continue;
        }
        const one = this.#declaration(tokens);
        if (one !== undefined) block.rule.declarations.push(one);
      }
    }
  }

  #rule(selector: Rule['selector'], inside: readonly AtRule[], rules: Rule[]): Block {
    const [first, last] = [selector?.[0], selector?.at(-1)];
    const at = first === undefined || last === undefined ? undefined : this.#place(first[2], last[3] + 1);
    const rule = { selector, inside, declarations: [], at };
    rules.push(rule);
    return { rule, inside };
  }

  #declaration(tokens: readonly CSSToken[]): Declaration | undefined {
    const all = trimmed(tokens);
    const [name] = all;
    const colon = all.findIndex(([type]) => type === TokenType.Colon);
    if (name?.[0] !== TokenType.Ident || colon < 1 || trimmed(all.slice(1, colon)).length > 0)
      return undefined;
    const value = trimmed(all.slice(colon + 1));
    const end = value.at(-1)?.[3] ?? name[3];
    return { name: name[4].value.toLowerCase(), value, at: this.#place(name[2], end + 1) };
  }

  #type(): TokenType {
    return this.#tokens[this.#at]?.[0] ?? TokenType.EOF;
  }

  /** The tokens before the first of `ends` that stands in no bracket. */
  #until(...ends: readonly TokenType[]): readonly CSSToken[] {
    const start = this.#at;
    let open = 0;
    for (; this.#type() !== TokenType.EOF; this.#at += 1) {
      const type = this.#type();
      if (open === 0 && ends.includes(type)) break;
      if (nesting.has(type)) open += 1;
      else if (closing.has(type)) open = Math.max(0, open - 1);
    }
    return this.#tokens.slice(start, this.#at);
  }
}

/** Tokens without white space and remarks at their ends. */
function trimmed(tokens: readonly CSSToken[]): readonly CSSToken[] {
  let from = 0;
  let to = tokens.length;
  while (from < to && blank.has(tokens[from]?.[0] ?? TokenType.EOF)) from += 1;
  while (to > from && blank.has(tokens[to - 1]?.[0] ?? TokenType.EOF)) to -= 1;
  return tokens.slice(from, to);
}
