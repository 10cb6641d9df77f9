import { attribute, type Element, parseBody, type RefusedBody } from './tree.js';

/** What there is to know about a body's HTML. */
export interface HtmlFacts {
  /** What would run or embed something, in words, each once. */
  readonly active: readonly string[];
  /** The declared character sets, in lower case. */
  readonly charsets: readonly string[];
  /** The addresses of images without an `alt` attribute; an empty `alt` says that there is nothing to tell. */
  readonly imagesWithoutAlt: readonly string[];
}

/** Reads a body as a browser would; says why not, where that would take more than it may. */
export function inspectHtml(body: string): HtmlFacts | RefusedBody {
  const tree = parseBody(body);
  if ('refused' in tree) return tree;
  const { elements } = tree;
  return {
    active: [...new Set(elements.flatMap(activeParts))],
    charsets: elements.flatMap((element) => charsetOf(element) ?? []),
    imagesWithoutAlt: elements
      .filter((element) => element.tagName === 'img' && attribute(element, 'alt') === undefined)
      .map((element) => attribute(element, 'src') ?? ''),
  };
}

const embedding = new Set(['iframe', 'object', 'embed', 'applet', 'frame', 'portal']);
/** What a script's `type` says of a block that only carries data, as the markup for inbox actions does. */
const dataBlock = /^application\/(ld\+)?json$/i;
const addressAttributes = new Set(['href', 'src', 'action', 'formaction', 'data', 'background', 'poster']);

function activeParts(element: Element): string[] {
  const found: string[] = [];
  const tag = element.tagName;
  if (tag === 'script' && !dataBlock.test(attribute(element, 'type')?.trim() ?? '')) found.push('<script>');
  if (embedding.has(tag)) found.push(`<${tag}>`);
  for (const { name, value } of element.attrs) {
    if (/^on[a-z]+$/.test(name)) found.push(`${name}=`);
    if (addressAttributes.has(name) && /^(javascript|vbscript|data:text\/html)/i.test(address(value))) {
      found.push(`${name}="${address(value).split(':', 1)[0]}:…"`);
    }
  }
  return found;
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
