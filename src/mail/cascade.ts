import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import { type Color, colorOf, plainColor } from './colors.js';
import type { Declaration, Rule, Styles } from './css.js';
import { attribute, type Element } from './tree.js';

/** What can't be told exactly; nothing is said of it, nor of what depends on it. */
export const unsure = 'unsure';
export type Unsure = typeof unsure;

/** What an element's own styles say of how its text can be read; what isn't there is inherited. */
export interface Look {
  color?: Color | 'inherit' | Unsure;
  background?: Color | 'none' | Unsure;
  /** In pixels. */
  size?: number | Unsure;
  bold?: boolean | Unsure;
  hidden?: boolean | Unsure;
}

type Property = keyof Look;

/** What the rules with one name say: of each property the last, and its place among all of them. */
interface Ruled {
  readonly look: Look;
  readonly order: { [property in Property]?: number };
  /** What is marked as important, which an element's own style doesn't change. */
  readonly important: Set<Property>;
}

/**
 * The looks that style sheets and `style` attributes give. Only rules for one tag, one class or one id are followed; what
 * others may change, and what is marked as important, is unsure. So each element is looked at in time in proportion.
 */
export class Cascade {
  readonly #ruled = new Map<string, Ruled>();
  readonly #inline: Styles['inline'];

  constructor({ rules, inline }: Styles) {
    this.#inline = inline;
    rules.forEach((rule, index) => void this.#add(rule, index));
  }

  #add({ selector, inside, declarations }: Rule, index: number): void {
    const around = inside.at(-1);
    if (selector === null || around?.name.endsWith('keyframes')) return;
    // Programs that know this show the mail light where nobody asks for dark.
    if (around?.name === 'media' && says(around.prelude, 'dark')) return;
    const { look, important } = lookOf(declarations);
    const said = Object.keys(look) as Property[];
    if (said.length === 0) return;
    for (const { name, exact } of targets(selector)) {
      const ruled = this.#ruled.get(name) ?? { look: {}, order: {}, important: new Set() };
      this.#ruled.set(name, ruled);
      for (const property of said) {
        const sure = exact && inside.length === 0 && !important.has(property);
        put(ruled.look, property, sure && ruled.look[property] !== unsure ? look : vague);
        ruled.order[property] = index;
        if (important.has(property)) ruled.important.add(property);
      }
    }
  }

  of(element: Element): Look {
    const classes = attribute(element, 'class') ?? '';
    const style = attribute(element, 'style') ?? '';
    // What a placeholder stands for may be anything.
    if (`${classes} ${style}`.includes('{{')) return { ...vague };
    const id = attribute(element, 'id');
    const named = [...new Set(classes.split(/\s+/))].flatMap((one) => this.#ruled.get(`.${one}`) ?? []);
    const others = ['*', element.tagName, ...(id === undefined ? [] : [`#${id}`])];
    const [every, tag, single] = others.map((name) => this.#ruled.get(name));
    const own = lookOf(this.#inline.get(element) ?? []).look;
    const look = ofAttributes(element);
    for (const property of Object.keys(vague) as Property[]) {
      const last = named
        .filter((one) => one.look[property] !== undefined)
        .reduce<Ruled | undefined>(
          (found, one) => ((found?.order[property] ?? -1) > (one.order[property] ?? -1) ? found : one),
          undefined,
        );
      const ruled = [every, tag, last, single, ...named].filter((one) => one !== undefined);
      for (const one of [every, tag, last, single]) if (one !== undefined) put(look, property, one.look);
      // It is one of them, and another may be stronger.
      if (ruled.some((one) => one.look[property] === unsure)) put(look, property, vague);
      put(look, property, own);
      if (ruled.some(({ important }) => important.has(property))) put(look, property, vague);
    }
    return look;
  }
}

const vague: Required<Look> = {
  color: unsure,
  background: unsure,
  size: unsure,
  bold: unsure,
  hidden: unsure,
};

function put<P extends Property>(look: Look, property: P, from: Look): void {
  const value = from[property];
  if (value !== undefined) look[property] = value;
}

function ofAttributes(element: Element): Look {
  const { tagName } = element;
  const look: Look = {};
  const background = attribute(element, 'bgcolor');
  if (background !== undefined) look.background = plainColor(background) ?? unsure;
  if (attribute(element, 'background') !== undefined) look.background = unsure;
  const color = attribute(element, tagName === 'font' ? 'color' : 'text');
  if (color !== undefined && (tagName === 'font' || tagName === 'body'))
    look.color = plainColor(color) ?? unsure;
  if (attribute(element, 'hidden') !== undefined) look.hidden = true;
  return look;
}

/** What some declarations say, and what of it is marked as important. */
function lookOf(declarations: readonly Declaration[]): {
  readonly look: Look;
  readonly important: ReadonlySet<Property>;
} {
  const look: Look = {};
  const important = new Set<Property>();
  for (const { name, value } of declarations) {
    const said = saidBy(name, value);
    Object.assign(look, said);
    if (says(value, 'important')) for (const one of Object.keys(said) as Property[]) important.add(one);
  }
  return { look, important };
}

function saidBy(name: string, marked: readonly CSSToken[]): Look {
  const value = withoutMark(marked);
  const word = wordOf(value);
  switch (name) {
    case 'color':
      return { color: word === 'inherit' ? 'inherit' : (colorOf(value) ?? unsure) };
    case 'background':
    case 'background-color':
      return { background: word === 'none' || word === 'transparent' ? 'none' : (colorOf(value) ?? unsure) };
    case 'background-image':
    case 'filter':
    case 'mix-blend-mode':
      return word === 'none' || word === 'normal' ? {} : { background: unsure };
    case 'position':
      return word === 'absolute' || word === 'fixed' ? { background: unsure } : {};
    case 'opacity':
      return numberOf(value) === 1 ? {} : numberOf(value) === 0 ? { hidden: true } : { color: unsure };
    case 'font-size':
      return { size: sizeOf(value) };
    case 'font':
      return { size: unsure, bold: unsure };
    case 'font-weight': {
      const weight = numberOf(value);
      if (weight !== undefined) return { bold: weight >= 700 };
      return { bold: word === 'bold' ? true : word === 'normal' ? false : unsure };
    }
    case 'display':
      return { hidden: word === 'none' };
    case 'visibility':
      return { hidden: word === 'hidden' };
    case 'max-height':
      return numberOf(value) === 0 ? { hidden: true } : {};
    case 'mso-hide':
      return { hidden: true };
    case 'all':
      return { ...vague };
    default:
      return {};
  }
}

function withoutMark(value: readonly CSSToken[]): readonly CSSToken[] {
  const mark = value.findIndex((token) => token[0] === TokenType.Delim && token[4].value === '!');
  return mark < 0 ? value : value.slice(0, mark);
}

function says(tokens: readonly CSSToken[], word: string): boolean {
  return tokens.some((token) => token[0] === TokenType.Ident && token[4].value.toLowerCase() === word);
}

function filled(value: readonly CSSToken[]): readonly CSSToken[] {
  return value.filter(([type]) => type !== TokenType.Whitespace && type !== TokenType.Comment);
}

function wordOf(value: readonly CSSToken[]): string | undefined {
  const [only, ...more] = filled(value);
  return only?.[0] === TokenType.Ident && more.length === 0 ? only[4].value.toLowerCase() : undefined;
}

function numberOf(value: readonly CSSToken[]): number | undefined {
  const [only, ...more] = filled(value);
  if (more.length > 0) return undefined;
  if (only?.[0] === TokenType.Number) return only[4].value;
  return only?.[0] === TokenType.Dimension && only[4].value === 0 ? 0 : undefined;
}

const pixels: { readonly [unit: string]: number } = { px: 1, pt: 4 / 3 };

function sizeOf(value: readonly CSSToken[]): number | Unsure {
  const [only, ...more] = filled(value);
  if (more.length > 0) return unsure;
  if (only?.[0] === TokenType.Number && only[4].value === 0) return 0;
  const scale = only?.[0] === TokenType.Dimension ? pixels[only[4].unit.toLowerCase()] : undefined;
  return only?.[0] === TokenType.Dimension && scale !== undefined ? only[4].value * scale : unsure;
}

interface Target {
  /** A tag, `.class`, `#id`, or `*`. */
  readonly name: string;
  /** Whether the rule is for all of them, always. */
  readonly exact: boolean;
}

/** What the last part of each selector names; none for what a mail is only while somebody points at it. */
function targets(selector: readonly CSSToken[]): Target[] {
  const found: Target[] = [];
  let part = new Part();
  let exact = true;
  /** What follows is another element. */
  let next = false;
  const end = (): void => {
    if (!part.fleeting) found.push({ name: part.name(), exact: exact && part.exact });
    part = new Part();
    exact = true;
    next = false;
  };
  let open = 0;
  for (const token of selector) {
    const [type] = token;
    if (type === TokenType.Comment) continue;
    if (open > 0) {
      if (brackets.close.includes(type)) open -= 1;
      else if (brackets.open.includes(type)) open += 1;
    } else if (type === TokenType.Comma) end();
    else if (type === TokenType.Whitespace || (type === TokenType.Delim && '>+~|'.includes(token[4].value))) {
      next = !part.empty;
    } else {
      if (next) {
        part = new Part();
        exact = false;
        next = false;
      }
      if (brackets.open.includes(type)) open += 1;
      part.add(token);
    }
  }
  end();
  return found;
}

const brackets: { readonly [side in 'open' | 'close']: readonly TokenType[] } = {
  open: [TokenType.Function, TokenType.OpenParen, TokenType.OpenSquare],
  close: [TokenType.CloseParen, TokenType.CloseSquare],
};

/** What a selector says of one element. */
class Part {
  readonly #names: string[] = [];
  #before: CSSToken | undefined;
  #others = false;
  /** It holds only while somebody points at the element. */
  fleeting = false;

  add(token: CSSToken): void {
    const before = this.#before;
    this.#before = token;
    if (token[0] === TokenType.Hash) this.#names.push(`#${token[4].value}`);
    else if (token[0] === TokenType.Delim) {
      if (token[4].value === '*') this.#names.push('*');
      else if (token[4].value !== '.') this.#others = true;
    } else if (token[0] !== TokenType.Ident) this.#others = true;
    else if (before?.[0] === TokenType.Colon) {
      if (/^(?:hover|active|focus|focus-\w+|target)$/i.test(token[4].value)) this.fleeting = true;
    } else if (before?.[0] === TokenType.Delim) this.#names.push(`.${token[4].value}`);
    else this.#names.push(token[4].value.toLowerCase());
  }

  get empty(): boolean {
    return this.#before === undefined;
  }

  get exact(): boolean {
    return this.#names.length === 1 && !this.#others;
  }

  /** The one by which its elements are found. */
  name(): string {
    const by = (sign: string) => this.#names.find((one) => one.startsWith(sign));
    return by('#') ?? by('.') ?? this.#names[0] ?? '*';
  }
}
