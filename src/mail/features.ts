import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import type { Span } from '../base/span.js';
import type { Declaration, Styles } from './css.js';
import { OptionalFonts } from './fonts.js';
import type { MailSupport, Unsupported } from './support.js';
import { attribute, type Element, spotOf, type Tree } from './tree.js';

/** Something that a body uses and that some programs don't understand. */
export interface UsedFeature extends Unsupported {
  readonly times: number;
  /** Where it is used, each time. */
  readonly at: readonly Span[];
}

/** The features that a body uses of those that some programs don't understand, in the order of their first use. */
export function unsupportedIn(tree: Tree, styles: Styles, support: MailSupport): UsedFeature[] {
  const found = new Map<Unsupported, { times: number; readonly at: Span[] }>();
  const use = (sign: string, at: Span | undefined): void => {
    const unsupported = support.get(sign);
    if (unsupported === undefined) return;
    const used = found.get(unsupported) ?? { times: 0, at: [] };
    found.set(unsupported, used);
    used.times += 1;
    if (at !== undefined) used.at.push(at);
  };
  const fonts = new OptionalFonts(tree, styles);
  for (const element of tree.elements) {
    // What nobody wrote is there for the browser's sake.
    if (spotOf(element) !== undefined && !fonts.loads(element)) inElement(element, use);
  }
  for (const rule of styles.atRules) {
    if (fonts.imports(rule)) continue;
    const { name, prelude, at } = rule;
    use(`@${name}`, at);
    for (const token of prelude)
      if (token[0] === TokenType.Ident) use(`m${token[4].value.toLowerCase()}`, at);
  }
  for (const { selector, declarations, at } of styles.rules) {
    inSelector(selector ?? [], at, use);
    for (const one of declarations) inDeclaration(one, use);
  }
  for (const declarations of styles.inline.values()) for (const one of declarations) inDeclaration(one, use);
  return [...found]
    .map(([unsupported, used]) => ({ ...unsupported, ...used }))
    .sort((a, b) => (a.at[0]?.start ?? 0) - (b.at[0]?.start ?? 0));
}

type Use = (sign: string, at: Span | undefined) => void;

function inElement(element: Element, use: Use): void {
  const { tagName: tag, attrs } = element;
  use(`e${tag}`, spotOf(element));
  const type = attribute(element, 'type')?.toLowerCase();
  if (type !== undefined) use(`e${tag}[${type}]`, spotOf(element));
  for (const { name, value } of attrs) {
    use(`a${name}`, spotOf(element, name));
    if (name === 'href' && /^#./.test(value)) use('l#', spotOf(element, name));
    if (name === 'href' && /^mailto:/i.test(value)) use('lmailto', spotOf(element, name));
    if (name === 'src' && tag === 'img')
      for (const kind of kindsOf(value)) use(`i${kind}`, spotOf(element, name));
  }
}

/** The kind of picture that an address tells by its ending, or by its data. */
function kindsOf(address: string): string[] {
  const data = /^data:image\/([\w+.-]{1,20})/i.exec(address.slice(0, 100))?.[1];
  if (data !== undefined) return [data.toLowerCase(), 'base64'];
  const path = address.length > 2000 ? '' : (address.split(/[?#]/, 1)[0] ?? '');
  const ending = /\.(\w{2,5})$/.exec(path)?.[1];
  return ending === undefined ? [] : [ending.toLowerCase()];
}

function inDeclaration({ name, value, at }: Declaration, use: Use): void {
  use(`p${name}`, at);
  for (const token of value) {
    switch (token[0]) {
      case TokenType.Function:
        use(`f${token[4].value.toLowerCase()}`, at);
        break;
      case TokenType.Dimension:
        use(`u${token[4].unit.toLowerCase()}`, at);
        break;
      case TokenType.Percentage:
        use('u%', at);
        break;
      case TokenType.Ident: {
        const word = token[4].value.toLowerCase();
        use(`k${word}`, at);
        use(`v${name}:${word}`, at);
        if (word === 'important') use('!important', at);
        break;
      }
      default:
    }
  }
}

const combinators: { readonly [sign: string]: string } = { '>': 's>', '+': 's+', '~': 's~' };
/** They were written with one colon before there were two. */
const olderElements = new Set(['after', 'before', 'first-letter', 'first-line']);

function inSelector(tokens: readonly CSSToken[], at: Span | undefined, use: Use): void {
  let before: CSSToken | undefined;
  let chained = false;
  let inAttribute = false;
  tokens.forEach((token, index) => {
    if (token[0] === TokenType.CloseSquare) inAttribute = false;
    if (inAttribute) return;
    const sign = token[0] === TokenType.Delim ? token[4].value : '';
    switch (token[0]) {
      case TokenType.Comma:
        use('s,', at);
        break;
      case TokenType.Hash:
        use('s#', at);
        break;
      case TokenType.OpenSquare:
        use('s[', at);
        inAttribute = true;
        break;
      case TokenType.Ident:
      case TokenType.Function: {
        const name = token[4].value.toLowerCase();
        const wasDot = before?.[0] === TokenType.Delim && before[4].value === '.';
        if (before?.[0] === TokenType.Colon) {
          const element = tokens[index - 2]?.[0] === TokenType.Colon || olderElements.has(name);
          use(`${element ? '::' : ':'}${name}`, at);
        } else if (wasDot) {
          use('s.', at);
          if (chained) use('s..', at);
          chained = true;
        } else if (token[0] === TokenType.Ident) use('stype', at);
        break;
      }
      case TokenType.Whitespace:
        if (isCompound(before) && isCompound(tokens[index + 1])) use('s ', at);
        break;
      case TokenType.Delim:
        if (sign === '*') use('s*', at);
        else use(combinators[sign] ?? '', at);
        break;
      default:
    }
    if (token[0] === TokenType.Whitespace || token[0] === TokenType.Comma || sign in combinators)
      chained = false;
    before = token;
  });
}

/** Whether a token can be at an end of what names one element. */
function isCompound(token: CSSToken | undefined): boolean {
  if (token === undefined) return false;
  if (token[0] === TokenType.Delim) return '.*'.includes(token[4].value);
  return token[0] !== TokenType.Comma && token[0] !== TokenType.Comment;
}
