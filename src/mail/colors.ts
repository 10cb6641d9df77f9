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
  return first[0] === TokenType.Function ? called(first[4].value.toLowerCase(), tokens.slice(1)) : undefined;
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

/** What a function makes a colour of: three parts and how little shines through. */
const functions: { readonly [name: string]: (parts: readonly Part[]) => Color | undefined } = {
  rgb: ofRgb,
  rgba: ofRgb,
  hsl: ofHsl,
  hsla: ofHsl,
  hwb: ofHwb,
};

interface Part {
  readonly value: number;
  readonly unit: string;
}

function called(name: string, tokens: readonly CSSToken[]): Color | undefined {
  const of = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (of === undefined || tokens.at(-1)?.[0] !== TokenType.CloseParen) return undefined;
  const parts: Part[] = [];
  for (const token of tokens.slice(0, -1)) {
    if (token[0] === TokenType.Number) parts.push({ value: token[4].value, unit: '' });
    else if (token[0] === TokenType.Percentage) parts.push({ value: token[4].value, unit: '%' });
    else if (token[0] === TokenType.Dimension)
      parts.push({ value: token[4].value, unit: token[4].unit.toLowerCase() });
    else if (token[0] !== TokenType.Comma && !(token[0] === TokenType.Delim && token[4].value === '/'))
      return undefined;
  }
  const [alpha = { value: 1, unit: '' }, ...more] = parts.slice(3);
  const isSolid = alpha.value === (alpha.unit === '%' ? 100 : 1);
  return parts.length < 3 || more.length > 0 || !isSolid ? undefined : of(parts);
}

function ofRgb(parts: readonly Part[]): Color | undefined {
  const shares = parts.slice(0, 3).map(({ value, unit }) => share(value, unit === '%' ? 100 : 255));
  const [unit, ...others] = parts.slice(0, 3).map((part) => part.unit);
  // Either all of them are percentages, or none.
  return others.some((other) => other !== unit) || (unit !== '' && unit !== '%')
    ? undefined
    : colorOfShares(shares);
}

function ofHsl([hue, saturation, lightness]: readonly Part[]): Color | undefined {
  const turn = turnOf(hue);
  const [s, l] = [percentage(saturation), percentage(lightness)];
  if (turn === undefined || s === undefined || l === undefined) return undefined;
  return colorOfShares(
    [0, 8, 4].map((n) => {
      const k = (n + turn * 12) % 12;
      return l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    }),
  );
}

function ofHwb([hue, whiteness, blackness]: readonly Part[]): Color | undefined {
  const [w, b] = [percentage(whiteness), percentage(blackness)];
  const pure = ofHsl(
    [hue, { value: 100, unit: '%' }, { value: 50, unit: '%' }].filter((part) => part !== undefined),
  );
  if (pure === undefined || w === undefined || b === undefined) return undefined;
  if (w + b >= 1) return colorOfShares([w, w, w].map((one) => one / (w + b)));
  return colorOfShares([pure.red, pure.green, pure.blue].map((one) => (one / 255) * (1 - w - b) + w));
}

const turns: { readonly [unit: string]: number } = {
  '': 360,
  deg: 360,
  grad: 400,
  rad: 2 * Math.PI,
  turn: 1,
};

/** How much of a turn an angle is, from 0 to 1. */
function turnOf(angle: Part | undefined): number | undefined {
  const whole = angle === undefined ? undefined : turns[angle.unit];
  if (angle === undefined || whole === undefined || !Number.isFinite(angle.value)) return undefined;
  const turn = angle.value / whole;
  return turn - Math.floor(turn);
}

/** A percentage, which may be written without its sign, from 0 to 1. */
function percentage(part: Part | undefined): number | undefined {
  return part === undefined || (part.unit !== '' && part.unit !== '%') ? undefined : share(part.value, 100);
}

/** What is beyond the bounds counts as what is at them. */
function share(value: number, whole: number): number {
  return Math.min(1, Math.max(0, value / whole));
}

function colorOfShares(shares: readonly number[]): Color {
  const [red = 0, green = 0, blue = 0] = shares.map((one) => Math.round(one * 255));
  return { red, green, blue };
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
