import { type CSSToken, type TokenDimension, TokenType, tokenize } from '@csstools/css-tokenizer';
import {
  cssProperties,
  imageFunctions,
  imageProperties,
  selectorFunctions,
  valueFunctions,
} from './allowed.js';
import { limits } from './limits.js';

/** Returns the address of a picture in a style, or undefined to remove the picture. */
export type PictureFilter = (address: string) => string | undefined;

/** A style sheet, rewritten so that it contains only what is allowed. */
export function cleanSheet(source: string, pictures: PictureFilter): string {
  const tokens = tokenize({ css: source });
  return isNestedTooDeep(tokens) ? '' : new Sheet(tokens, pictures).rules(false);
}

/** The declarations of a `style` attribute, rewritten in the same way. */
export function cleanDeclarations(source: string, pictures: PictureFilter): string {
  const tokens = tokenize({ css: source });
  return isNestedTooDeep(tokens) ? '' : declarations(tokens, pictures);
}

/** The addresses of pictures, fonts and imports in a style or a style sheet. */
export function addressesIn(source: string): string[] {
  return tokenize({ css: source }).flatMap((token) => {
    if (token[0] === TokenType.URL) return [token[4].value];
    // Strings in url(), image-set() and @import; names of fonts have no slash.
    return token[0] === TokenType.String && /[/\ue001]/.test(token[4].value) ? [token[4].value] : [];
  });
}

/** A `media` attribute, rewritten; undefined if something in it isn't allowed. */
export function cleanMedia(source: string): string | undefined {
  return prelude(tokenize({ css: source }).filter(([type]) => type !== TokenType.EOF));
}

const closing: { readonly [type: string]: TokenType } = {
  [TokenType.Function]: TokenType.CloseParen,
  [TokenType.OpenParen]: TokenType.CloseParen,
  [TokenType.OpenSquare]: TokenType.CloseSquare,
  [TokenType.OpenCurly]: TokenType.CloseCurly,
};
const closers = new Set<TokenType>(Object.values(closing));

function isNestedTooDeep(tokens: readonly CSSToken[]): boolean {
  let depth = 0;
  for (const [type] of tokens) {
    if (closing[type] !== undefined) depth += 1;
    else if (closers.has(type)) depth = Math.max(0, depth - 1);
    if (depth > limits.styleDepth) return true;
  }
  return false;
}

class Sheet {
  readonly #tokens: readonly CSSToken[];
  readonly #pictures: PictureFilter;
  #at = 0;

  constructor(tokens: readonly CSSToken[], pictures: PictureFilter) {
    this.#tokens = tokens;
    this.#pictures = pictures;
  }

  /** The rules up to the end of the sheet, or of the surrounding block. */
  rules(inBlock: boolean): string {
    let written = '';
    for (;;) {
      const token = this.#tokens[this.#at];
      if (token === undefined || token[0] === TokenType.EOF) return written;
      if (inBlock && token[0] === TokenType.CloseCurly) {
        this.#at += 1;
        return written;
      }
      if (separators.has(token[0])) this.#at += 1;
      else if (token[0] === TokenType.AtKeyword) written += this.#atRule(token[4].value, inBlock);
      else written += this.#rule(inBlock);
    }
  }

  /** Only `@media` is allowed: other rules load something, or aren't useful in emails. */
  #atRule(name: string, inBlock: boolean): string {
    this.#at += 1;
    const head = this.#until([TokenType.Semicolon, TokenType.OpenCurly], inBlock);
    const end = this.#tokens[this.#at]?.[0];
    if (end === TokenType.Semicolon) this.#at += 1;
    if (end !== TokenType.OpenCurly) return '';
    this.#at += 1;
    if (name.toLowerCase() !== 'media') {
      this.#until([TokenType.CloseCurly], false);
      this.#at += 1;
      return '';
    }
    const inner = this.rules(true);
    const media = prelude(head);
    return media === undefined || inner === '' ? '' : `@media ${media} {\n${inner}}\n`;
  }

  #rule(inBlock: boolean): string {
    const head = this.#until([TokenType.OpenCurly], inBlock);
    if (this.#tokens[this.#at]?.[0] !== TokenType.OpenCurly) return '';
    this.#at += 1;
    const inside = this.#until([TokenType.CloseCurly], false);
    this.#at += 1;
    const selector = prelude(head);
    const inner = declarations(inside, this.#pictures);
    return selector === undefined || selector === '' || inner === '' ? '' : `${selector} { ${inner} }\n`;
  }

  /** The tokens before the first of `ends` outside brackets; in a block, at most up to its end. */
  #until(ends: readonly TokenType[], inBlock: boolean): readonly CSSToken[] {
    const start = this.#at;
    const open: TokenType[] = [];
    for (; this.#at < this.#tokens.length; this.#at += 1) {
      const type = this.#tokens[this.#at]?.[0] ?? TokenType.EOF;
      if (open.length === 0 && (ends.includes(type) || (inBlock && type === TokenType.CloseCurly))) break;
      if (type === TokenType.EOF) break;
      const end = closing[type];
      if (end !== undefined) open.push(end);
      else if (open.at(-1) === type) open.pop();
    }
    return this.#tokens.slice(start, this.#at);
  }
}

const separators = new Set<TokenType>([
  TokenType.Whitespace,
  TokenType.Comment,
  TokenType.CDO,
  TokenType.CDC,
  TokenType.Semicolon,
  TokenType.CloseCurly,
]);

function declarations(tokens: readonly CSSToken[], pictures: PictureFilter): string {
  const written: string[] = [];
  let start = 0;
  let open = 0;
  for (let at = 0; at <= tokens.length; at += 1) {
    const type = tokens[at]?.[0] ?? TokenType.EOF;
    if (type === TokenType.EOF || (type === TokenType.Semicolon && open === 0)) {
      const text = declaration(tokens.slice(start, at), pictures);
      if (text !== undefined) written.push(text);
      start = at + 1;
      if (type === TokenType.EOF) break;
    } else if (closing[type] !== undefined) open += 1;
    else if (closers.has(type)) open = Math.max(0, open - 1);
  }
  return written.join('; ');
}

function declaration(tokens: readonly CSSToken[], pictures: PictureFilter): string | undefined {
  const all = tokens.filter(([type]) => type !== TokenType.Comment);
  const filled = all.flatMap(([type], index) => (type === TokenType.Whitespace ? [] : [index])).slice(0, 2);
  const [first, colon] = filled.map((index) => all[index]);
  if (first?.[0] !== TokenType.Ident || colon?.[0] !== TokenType.Colon) return undefined;
  const rest = all.slice((filled[1] ?? 0) + 1);
  const name = first[4].value.toLowerCase();
  const plain = name.replace(/^-(?:webkit|moz|ms|o)-/, '');
  if (!cssProperties.has(plain)) return undefined;
  const mayBePicture = imageProperties.has(plain);
  // Also called for other properties, so that their pictures are reported as removed.
  const allowed: PictureFilter = (address) => {
    const picture = pictures(address);
    return mayBePicture ? picture : undefined;
  };
  const written = value(rest, allowed)?.trim();
  return written === undefined || written === '' ? undefined : `${name}: ${written}`;
}

/** A value, rewritten; undefined if something in it isn't allowed. */
function value(tokens: readonly CSSToken[], pictures: PictureFilter): string | undefined {
  let written = '';
  let open = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    switch (token[0]) {
      case TokenType.Function: {
        const name = token[4].value.toLowerCase();
        if (name === 'url') {
          let address = '';
          for (at += 1; at < tokens.length && tokens[at]?.[0] !== TokenType.CloseParen; at += 1) {
            const inside = tokens[at];
            if (address === '' && inside?.[0] === TokenType.String) address = inside[4].value;
          }
          written += picture(address, pictures);
          break;
        }
        if (imageFunctions.test(name)) pictures(`${name}()`);
        if (!valueFunctions.has(name)) return undefined;
        written += `${name}(`;
        open += 1;
        break;
      }
      case TokenType.URL:
        written += picture(token[4].value, pictures);
        break;
      case TokenType.OpenParen:
        written += '(';
        open += 1;
        break;
      case TokenType.CloseParen:
        if (open === 0) return undefined;
        written += ')';
        open -= 1;
        break;
      case TokenType.Delim:
        if (!['+', '-', '*', '/', '!'].includes(token[4].value)) return undefined;
        written += ` ${token[4].value} `;
        break;
      default: {
        const text = token[0] === TokenType.Dimension ? length(token) : tokenText(token, anyUnit);
        if (text === undefined) return undefined;
        written += text;
      }
    }
  }
  return open === 0 ? withImportant(written.trimEnd()) : undefined;
}

const anyUnit = /^[a-z]{1,8}$/i;

/** A length. Units of the window's height become pixels, since a frame that grows with its content would grow forever. */
function length(token: TokenDimension): string | undefined {
  const { value, unit } = token[4];
  if (/^[sld]?(?:vh|vb|vmin)$/i.test(unit)) return `${number((value * limits.windowHeight) / 100)}px`;
  // A frame is wider than high, so vmax is vw.
  if (/^[sld]?vmax$/i.test(unit)) return `${number(value)}vw`;
  return tokenText(token, anyUnit);
}

/** A value with its `!important` in a normal form. A pattern that starts with ` *` would take quadratic time. */
function withImportant(written: string): string {
  const [mark] = /! +important$/i.exec(written) ?? [];
  return mark === undefined ? written : `${written.slice(0, -mark.length).trimEnd()} !important`;
}

/** A picture as `url(…)`; `none` if it is removed, so that a color in the same value stays. */
function picture(address: string, pictures: PictureFilter): string {
  const allowed = pictures(address);
  return allowed === undefined ? 'none' : `url(${quoted(allowed)})`;
}

/** A selector or a media query, rewritten; undefined if something in it isn't allowed. */
function prelude(tokens: readonly CSSToken[]): string | undefined {
  let written = '';
  const open: TokenType[] = [];
  let last: TokenType | undefined;
  for (const token of tokens) {
    const [type] = token;
    const previous = last;
    last = type;
    const end = closing[type];
    if (end !== undefined) open.push(end);
    else if (closers.has(type) && open.pop() !== type) return undefined;
    switch (type) {
      case TokenType.Comment:
        break;
      case TokenType.Function:
        if (!selectorFunctions.has(token[4].value.toLowerCase())) return undefined;
        written += `${token[4].value.toLowerCase()}(`;
        break;
      case TokenType.OpenParen:
      case TokenType.CloseParen:
      case TokenType.OpenSquare:
      case TokenType.CloseSquare:
      case TokenType.Colon:
        written += token[1];
        break;
      case TokenType.Delim:
        if (!'.>+~*|^$=-/'.includes(token[4].value)) return undefined;
        written += token[4].value;
        break;
      default: {
        const text = linkSelector(token, previous) ?? tokenText(token, /^[a-z][a-z0-9-]{0,15}$/i);
        if (text === undefined) return undefined;
        written += text;
      }
    }
  }
  return open.length === 0 ? written.trim() : undefined;
}

/** The equivalent of a selector for links: `cleanHtml` replaces `href` with `title`. */
function linkSelector(token: CSSToken, previous: TokenType | undefined): string | undefined {
  if (token[0] !== TokenType.Ident) return undefined;
  const name = token[4].value.toLowerCase();
  if (previous === TokenType.OpenSquare && name === 'href') return 'title';
  return previous === TokenType.Colon && /^(?:any-)?link$/.test(name) ? 'is(a[title])' : undefined;
}

/** The text of a token that is allowed everywhere, without its escapes; undefined for other tokens. */
function tokenText(token: CSSToken, unit: RegExp): string | undefined {
  switch (token[0]) {
    case TokenType.Whitespace:
      return ' ';
    case TokenType.Comma:
      return ',';
    case TokenType.Ident:
      return identifier(token[4].value);
    case TokenType.Hash:
      return `#${name(token[4].value)}`;
    case TokenType.String:
      return quoted(token[4].value);
    case TokenType.Number:
      // The sign distinguishes `2n+1` from `2n1`.
      return `${token[4].signCharacter === '+' ? '+' : ''}${number(token[4].value)}`;
    case TokenType.Percentage:
      return `${number(token[4].value)}%`;
    case TokenType.Dimension:
      return unit.test(token[4].unit) ? `${number(token[4].value)}${token[4].unit}` : undefined;
    default:
      return undefined;
  }
}

function number(value: number): string {
  const finite = Math.min(Math.max(value, -1e9), 1e9);
  return String(Math.abs(finite) < 1e-6 ? 0 : finite);
}

function escaped(character: string): string {
  return `\\${character.codePointAt(0)?.toString(16)} `;
}

function name(text: string): string {
  return text.replace(/[^\p{L}\p{N}_-]/gu, escaped);
}

function identifier(text: string): string {
  return text === '-'
    ? '\\2d '
    : name(text).replace(/^(-?)([0-9])/, (_, dash, digit) => dash + escaped(digit));
}

function quoted(text: string): string {
  return `"${text.replace(/[\p{C}\p{Zl}\p{Zp}"\\<>&]/gu, escaped)}"`;
}
