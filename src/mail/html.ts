import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5';

/** As deep as browsers build a tree; parsing deeper ones takes time that grows with the square. */
const maxDepth = 512;

/** What there is to know about a body's HTML. */
export interface HtmlFacts {
  /** What would run or embed something, in words, each once. */
  readonly active: readonly string[];
  /** The declared character sets, in lower case. */
  readonly charsets: readonly string[];
  /** The addresses of images without an `alt` attribute; an empty `alt` says that there is nothing to tell. */
  readonly imagesWithoutAlt: readonly string[];
}

/** Reads a body as a browser would. Undefined where it is nested deeper than browsers go. */
export function inspectHtml(body: string): HtmlFacts | undefined {
  const elements = elementsOf(body);
  if (elements === undefined) return undefined;
  return {
    active: [...new Set(elements.flatMap(activeParts))],
    charsets: elements.flatMap((element) => charsetOf(element) ?? []),
    imagesWithoutAlt: elements
      .filter((element) => element.tagName === 'img' && attribute(element, 'alt') === undefined)
      .map((element) => attribute(element, 'src') ?? ''),
  };
}

/**
 * A body without what could reach the network where it is only looked at: `link`, `base` and `meta http-equiv`.
 * The rest stays as it is, character by character. Undefined where it is nested deeper than browsers go.
 */
export function withoutConnections(body: string): string | undefined {
  const cuts = elementsOf(body)
    ?.filter(
      (element) =>
        ['link', 'base'].includes(element.tagName) ||
        (element.tagName === 'meta' && attribute(element, 'http-equiv') !== undefined),
    )
    .flatMap(({ sourceCodeLocation: place }) => (place ? [place.startTag ?? place] : []))
    .toSorted((a, b) => a.startOffset - b.startOffset);
  if (cuts === undefined) return undefined;
  let kept = '';
  let at = 0;
  for (const { startOffset, endOffset } of cuts) {
    kept += body.slice(at, Math.max(at, startOffset));
    at = Math.max(at, endOffset);
  }
  return kept + body.slice(at);
}

class TooDeep extends Error {}

function elementsOf(body: string): DefaultTreeAdapterTypes.Element[] | undefined {
  const elements: DefaultTreeAdapterTypes.Element[] = [];
  let depth = 0;
  try {
    parse(body, {
      sourceCodeLocationInfo: true,
      treeAdapter: {
        ...defaultTreeAdapter,
        createElement: (...parts) => {
          const element = defaultTreeAdapter.createElement(...parts);
          elements.push(element);
          return element;
        },
        onItemPush: () => {
          depth += 1;
          if (depth > maxDepth) throw new TooDeep();
        },
        onItemPop: () => {
          depth -= 1;
        },
      },
    });
  } catch (failure) {
    if (failure instanceof TooDeep) return undefined;
    throw failure;
  }
  return elements;
}

function attribute({ attrs }: DefaultTreeAdapterTypes.Element, name: string): string | undefined {
  return attrs.find((one) => one.name === name)?.value;
}

const embedding = new Set(['iframe', 'object', 'embed', 'applet', 'frame', 'portal']);
/** What a script's `type` says of a block that only carries data, as the markup for inbox actions does. */
const dataBlock = /^application\/(ld\+)?json$/i;
const addressAttributes = new Set(['href', 'src', 'action', 'formaction', 'data', 'background', 'poster']);

function activeParts(element: DefaultTreeAdapterTypes.Element): string[] {
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

function charsetOf(element: DefaultTreeAdapterTypes.Element): string | undefined {
  if (element.tagName !== 'meta') return undefined;
  const direct = attribute(element, 'charset');
  if (direct !== undefined) return direct.trim().toLowerCase();
  if (attribute(element, 'http-equiv')?.trim().toLowerCase() !== 'content-type') return undefined;
  return /charset\s*=\s*["']?\s*([^\s;"']+)/i.exec(attribute(element, 'content') ?? '')?.[1]?.toLowerCase();
}
