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
 * A body for looking at, without what could reach the network in spite of a policy that forbids it, since browsers
 * connect before they ask: `link`, `base`, `meta http-equiv` and the addresses of embedded documents are left out,
 * and a link leads nowhere but says on hovering where it would.
 * The rest stays as it is, character by character. Undefined where it is nested deeper than browsers go.
 */
export function withoutConnections(body: string): string | undefined {
  const edits = elementsOf(body)
    ?.flatMap(harmlessEdits)
    .toSorted((a, b) => a.start - b.start);
  if (edits === undefined) return undefined;
  let kept = '';
  let at = 0;
  for (const { start, end, text } of edits) {
    if (start < at) continue;
    kept += body.slice(at, start) + text;
    at = end;
  }
  return kept + body.slice(at);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function harmlessEdits(element: DefaultTreeAdapterTypes.Element): Edit[] {
  const { tagName: tag, sourceCodeLocation: place } = element;
  if (!place) return [];
  const whole = place.startTag ?? place;
  if (['link', 'base'].includes(tag) || (tag === 'meta' && attribute(element, 'http-equiv') !== undefined)) {
    return [{ start: whole.startOffset, end: whole.endOffset, text: '' }];
  }
  const link = tag === 'a' || tag === 'area';
  if (!link && !embedding.has(tag)) return [];
  return Object.entries(place.attrs ?? {}).flatMap(([name, { startOffset: start, endOffset: end }]) => {
    if (link && /^(?:xlink:)?href$/.test(name)) {
      const target = attribute(element, 'href') ?? '';
      const title = target.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
      return [{ start, end, text: `href="#" title="${title}"` }];
    }
    const connects = link ? name === 'ping' : ['src', 'srcdoc', 'data'].includes(name);
    return connects ? [{ start, end, text: '' }] : [];
  });
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
