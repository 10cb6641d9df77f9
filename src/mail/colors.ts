import { type CSSToken, TokenType } from '@csstools/css-tokenizer';

/** A colour that nothing shines through. */
export interface Color {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
}

/** The names that every program knows; of others it isn't said what they mean. */
const named: { readonly [name: string]: string } = {
  aqua: '00ffff',
  black: '000000',
  blue: '0000ff',
  fuchsia: 'ff00ff',
  gray: '808080',
  green: '008000',
  grey: '808080',
  lime: '00ff00',
  maroon: '800000',
  navy: '000080',
  olive: '808000',
  orange: 'ffa500',
  purple: '800080',
  red: 'ff0000',
  silver: 'c0c0c0',
  teal: '008080',
  white: 'ffffff',
  yellow: 'ffff00',
};

/** The colour that the value of a style says; undefined where it says another thing, or not exactly which. */
export function colorOf(value: readonly CSSToken[]): Color | undefined {
  const tokens = value.filter(([type]) => type !== TokenType.Whitespace && type !== TokenType.Comment);
  const [first] = tokens;
  if (first === undefined) return undefined;
  if (tokens.length === 1 && first[0] === TokenType.Hash) return hex(first[4].value);
  if (tokens.length === 1 && first[0] === TokenType.Ident) return plainColor(first[4].value);
  return first[0] === TokenType.Function ? rgb(first[4].value.toLowerCase(), tokens.slice(1)) : undefined;
}

/** The colour that an attribute such as `bgcolor` says. */
export function plainColor(text: string): Color | undefined {
  const name = text.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(name)) return hex(name.slice(1));
  return Object.hasOwn(named, name) ? hex(named[name] ?? '') : undefined;
}

function hex(digits: string): Color | undefined {
  if (!/^(?:[0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(digits)) return undefined;
  const size = digits.length < 6 ? 1 : 2;
  const part = (index: number): number => {
    const one = digits.slice(index * size, (index + 1) * size);
    return Number.parseInt(size === 1 ? one + one : one, 16);
  };
  const solid = digits.length % 3 === 0 || part(3) === 255;
  return solid ? { red: part(0), green: part(1), blue: part(2) } : undefined;
}

function rgb(name: string, tokens: readonly CSSToken[]): Color | undefined {
  if (name !== 'rgb' && name !== 'rgba') return undefined;
  if (tokens.at(-1)?.[0] !== TokenType.CloseParen) return undefined;
  const numbers: number[] = [];
  for (const token of tokens.slice(0, -1)) {
    if (token[0] === TokenType.Number) numbers.push(token[4].value);
    else if (token[0] !== TokenType.Comma && !(token[0] === TokenType.Delim && token[4].value === '/')) {
      return undefined;
    }
  }
  const [red, green, blue, alpha = 1] = numbers;
  if (red === undefined || green === undefined || blue === undefined || numbers.length > 4) return undefined;
  const isColor = [red, green, blue].every((one) => one >= 0 && one <= 255);
  return alpha === 1 && isColor ? { red, green, blue } : undefined;
}

/** How far two colours are apart for the eye, from 1 to 21, as the WCAG count it. */
export function contrast(one: Color, other: Color): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance({ red, green, blue }: Color): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** A colour as people write it: `#1f2937`. */
export function shownColor({ red, green, blue }: Color): string {
  return `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}
