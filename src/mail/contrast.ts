import type { Span } from '../base/span.js';
import { Cascade, type Look, type Unsure, unsure } from './cascade.js';
import { type Color, contrast, shownColor } from './colors.js';
import type { Styles } from './css.js';
import { attribute, type Element, spotOf, type Tree } from './tree.js';

/** Text in one colour on another that are too near to each other. */
export interface FaintText {
  readonly color: string;
  readonly background: string;
  /** How far they are apart, rounded down. */
  readonly ratio: number;
  /** What the WCAG ask for on level AA. */
  readonly needed: number;
  readonly times: number;
  /** Where it stands, each time. */
  readonly at: readonly Span[];
}

interface Found extends FaintText {
  times: number;
  readonly at: Span[];
}

/** What an element's text looks like, with all that it inherits; undefined where nobody has said. */
interface State {
  readonly color: Color | Unsure | undefined;
  readonly background: Color | Unsure | undefined;
  readonly size: number | Unsure;
  readonly bold: boolean | Unsure;
}

const start: State = { color: undefined, background: undefined, size: 16, bold: false };

/** The text of a body that is hard to read, as far as both colours are known exactly. */
export function faintTextIn({ document }: Tree, styles: Styles): FaintText[] {
  const cascade = new Cascade(styles);
  const found = new Map<string, Found>();
  const walk = (element: Element, around: State): void => {
    if (unseen.has(element.tagName)) return;
    const look = cascade.of(element);
    if (look.hidden === true || look.hidden === unsure) return;
    const state = stateOf(element, look, around);
    // Smaller than anybody reads is the line that a list of mails shows of this one.
    if (typeof state.size === 'number' && state.size < 4) return;
    for (const child of element.childNodes) {
      if ('tagName' in child) walk(child, state);
      else if ('value' in child && hasText(child.value)) judge(element, state, found);
    }
  };
  for (const child of document.childNodes) if ('tagName' in child) walk(child, start);
  return [...found.values()];
}

const unseen = new Set(['head', 'script', 'style', 'title', 'template', 'noscript', 'svg', 'math', 'select']);
const ownColors = new Set(['mark', 'button', 'input', 'textarea']);
const large = new Set(['h1', 'h2']);
const bold = new Set(['b', 'strong', 'th', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

function stateOf(element: Element, look: Look, around: State): State {
  const { tagName: tag } = element;
  const own = ownColors.has(tag);
  // Each program has its own colour for links.
  const isLink = tag === 'a' && attribute(element, 'href') !== undefined;
  const { color = own || isLink ? unsure : 'inherit', background = own ? unsure : 'none' } = look;
  return {
    color: color === 'inherit' ? around.color : color,
    background: background === 'none' ? around.background : background,
    size: look.size ?? (large.has(tag) ? 24 : tag === 'h3' ? 18.72 : around.size),
    bold: look.bold ?? (bold.has(tag) || around.bold),
  };
}

function judge(element: Element, { color, background, size, bold }: State, found: Map<string, Found>): void {
  if (color === undefined || background === undefined || color === unsure || background === unsure) return;
  // 18 points, or 14 points in bold.
  const isLarge = size === unsure || size >= 24 || (size >= 18.66 && bold !== false);
  const needed = isLarge ? 3 : 4.5;
  const ratio = contrast(color, background);
  if (ratio >= needed) return;
  const names = { color: shownColor(color), background: shownColor(background) };
  const key = `${names.color} ${names.background} ${needed}`;
  const one = found.get(key) ?? { ...names, ratio: Math.floor(ratio * 10) / 10, needed, times: 0, at: [] };
  found.set(key, one);
  one.times += 1;
  const spot = spotOf(element);
  if (spot !== undefined) one.at.push(spot);
}

/** Whether there is something to read beside the tags of sections and remarks. */
function hasText(text: string): boolean {
  return /\S/.test(text.replace(/\{\{[#^/!][^{}]*\}\}/g, ''));
}
