import type { Span } from '../base/span.js';
import { attribute, type Element, spotOf, type Tree } from './tree.js';

/** Something in a body, and where. */
export interface Spotted {
  readonly text: string;
  readonly at: Span | undefined;
}

/** What there is to know about a body's HTML. */
export interface HtmlFacts {
  /** What would run or embed something, in words. */
  readonly active: readonly Spotted[];
  /** The declared character sets, in lower case. */
  readonly charsets: readonly Spotted[];
  /** The addresses of images, those of buttons too, without an `alt` attribute; an empty one says that there is nothing to tell. */
  readonly imagesWithoutAlt: readonly Spotted[];
  /** The addresses that are fetched or opened without https. */
  readonly insecure: readonly Spotted[];
  /** Where the head begins, or what else is the first that somebody wrote. */
  readonly head: Span | undefined;
}

/** Looks through a body as a browser would read it. */
export function inspectHtml({ elements }: Tree): HtmlFacts {
  return {
    active: elements.flatMap(activeParts),
    charsets: elements.flatMap((element) => {
      const text = charsetOf(element);
      return text === undefined ? [] : [{ text, at: spotOf(element) }];
    }),
    imagesWithoutAlt: elements
      .filter((element) => isImage(element) && attribute(element, 'alt') === undefined)
      .map((element) => ({ text: attribute(element, 'src') ?? '', at: spotOf(element) })),
    insecure: elements.flatMap(insecureParts),
    head: elements.flatMap((element) => (element.tagName === 'head' ? (spotOf(element) ?? []) : []))[0],
  };
}

function isImage(element: Element): boolean {
  const { tagName: tag } = element;
  return tag === 'img' || (tag === 'input' && attribute(element, 'type')?.trim().toLowerCase() === 'image');
}

const embedding = new Set(['iframe', 'object', 'embed', 'applet', 'frame', 'portal']);
/** What a script's `type` says of a block that only carries data, as the markup for inbox actions does. */
const dataBlock = /^application\/(ld\+)?json$/i;
const addressAttributes = new Set(['href', 'src', 'action', 'formaction', 'data', 'background', 'poster']);

function activeParts(element: Element): Spotted[] {
  const found: Spotted[] = [];
  const add = (text: string, name?: string) => found.push({ text, at: spotOf(element, name) });
  const tag = element.tagName;
  if (tag === 'script' && !dataBlock.test(attribute(element, 'type')?.trim() ?? '')) add('<script>');
  if (embedding.has(tag)) add(`<${tag}>`);
  for (const { name, value } of element.attrs) {
    if (/^on[a-z]+$/.test(name)) add(`${name}=`, name);
    if (addressAttributes.has(name) && /^(javascript|vbscript|data:text\/html)/i.test(address(value))) {
      add(`${name}="${address(value).split(':', 1)[0]}:…"`, name);
    }
  }
  return found;
}

function insecureParts(element: Element): Spotted[] {
  return element.attrs.flatMap(({ name, value }) =>
    addressAttributes.has(name) && /^http:/i.test(address(value))
      ? [{ text: value.trim(), at: spotOf(element, name) }]
      : [],
  );
}

/** An address as browsers read it: without the white space and control characters that hide what it is. */
function address(value: string): string {
  return value.replace(/[\u0000-\u0020]/g, '');
}

function charsetOf(element: Element): string | undefined {
  if (element.tagName !== 'meta') return undefined;
  const direct = attribute(element, 'charset');
  if (direct !== undefined) return direct.trim().toLowerCase();
  if (attribute(element, 'http-equiv')?.trim().toLowerCase() !== 'content-type') return undefined;
  return /charset\s*=\s*(?:["']\s*)?([^\s;"']+)/i
    .exec(attribute(element, 'content') ?? '')?.[1]
    ?.toLowerCase();
}
