import type { Span } from '../base/problems.js';
import { firstFew, shorten } from '../base/words.js';
import { limits } from './limits.js';
import type { CheckCode } from './settings.js';
import { addressAttributes, attribute, type Element, parseBody, placeOf } from './tree.js';

/** Gmail and other clients clip longer HTML. */
const maxUnclippedBytes = 102 * 1024;

/** A finding about the HTML of a body. */
export interface HtmlFinding {
  readonly code: CheckCode;
  readonly message: string;
  readonly at: readonly Span[];
}

interface FoundPart {
  readonly text: string;
  readonly at: Span | undefined;
}

/** Checks a body's HTML, parsed as browsers do. */
export function htmlFindings(body: string): HtmlFinding[] {
  const tree = parseBody(body, { located: true });
  const size = sizeFindings(body);
  if (!('rejection' in tree)) {
    const { elements } = tree;
    return [
      ...partsFinding(
        'html-script',
        elements.flatMap(activeParts),
        'has',
        ', which mail clients remove or distrust',
      ),
      ...size,
      ...charsetFindings(elements),
      ...altFindings(elements),
      ...partsFinding('insecure-link', elements.flatMap(insecureParts), 'leads to', ' without https'),
    ];
  }
  // `checkTemplate` reports too many characters.
  if (body.length > limits.bodyCharacters) return size;
  const message = `the html body is ${tree.rejection}, so it isn't checked further`;
  return [{ code: 'html-nesting', message, at: [] }, ...size];
}

const token = /\{\{[{&]?\s*_csrf_token\s*\}\}/;

/** Findings about forms of a page that the server refuses. Pages may have scripts, so nothing else is checked. */
export function formFindings(page: string): HtmlFinding[] {
  const tree = parseBody(page, { located: true });
  if ('rejection' in tree) return [];
  const forms = tree.elements.filter(
    (element) => element.tagName === 'form' && attribute(element, 'method')?.trim().toLowerCase() === 'post',
  );
  const tokens = tree.elements.filter(({ attrs }) => attrs.some(({ value }) => token.test(value)));
  // The parser moves some fields out of their forms, so the tokens are counted first.
  if (tokens.length >= forms.length) return [];
  const at = forms
    .filter((form) => !tokens.some((field) => isInside(field, form)))
    .flatMap((form) => placeOf(form) ?? []);
  const message = 'the content has a form without {{ _csrf_token }}, which the server refuses';
  return [{ code: 'missing-token', message, at }];
}

function isInside(element: Element, form: Element): boolean {
  for (
    let node: Element['parentNode'] = element;
    node !== null && 'parentNode' in node;
    node = node.parentNode
  )
    if (node === form) return true;
  return false;
}

function sizeFindings(body: string): HtmlFinding[] {
  const bytes = Buffer.byteLength(body);
  if (bytes <= maxUnclippedBytes) return [];
  const size = (bytes / 1024).toFixed(1);
  const message = `the html body has ${size} KB, and mail clients clip what is longer than 102 KB`;
  const start = Buffer.from(body)
    .subarray(0, maxUnclippedBytes)
    .toString()
    .replace(/\uFFFD$/, '').length;
  return [{ code: 'html-too-large', message, at: [{ start, end: start + 1 }] }];
}

/** A finding about parts of a body, which the message names between `verb` and `end`. */
function partsFinding(
  code: CheckCode,
  found: readonly FoundPart[],
  verb: string,
  end: string,
): HtmlFinding[] {
  if (found.length === 0) return [];
  const texts = new Set(found.map(({ text }) => text));
  const message = `the html body ${verb} ${firstFew([...texts].map(shorten), 5)}${end}`;
  return [{ code, message, at: placesOf(found) }];
}

function placesOf(found: readonly FoundPart[]): Span[] {
  return found.flatMap(({ at }) => at ?? []);
}

function charsetFindings(elements: readonly Element[]): HtmlFinding[] {
  const charsets = elements.flatMap((element) => {
    const text = charsetOf(element);
    return text === undefined ? [] : [{ text, at: placeOf(element) }];
  });
  if (charsets.length === 0) {
    const message = 'the html body declares no character set: <meta charset="utf-8"> is missing';
    const heads = elements.flatMap((element) => (element.tagName === 'head' ? (placeOf(element) ?? []) : []));
    return [{ code: 'html-charset', message, at: heads.slice(0, 1) }];
  }
  const foreign = charsets.filter(({ text }) => !['utf-8', 'utf8'].includes(text));
  return partsFinding('html-charset', foreign, 'says that it is', ', and it is sent as UTF-8');
}

function altFindings(elements: readonly Element[]): HtmlFinding[] {
  const images = elements
    .filter((element) => isImage(element) && attribute(element, 'alt') === undefined)
    .map((element) => ({ text: attribute(element, 'src') ?? '', at: placeOf(element) }));
  if (images.length === 0) return [];
  const count = images.length === 1 ? '1 image without alt text' : `${images.length} images without alt text`;
  const sources = [...new Set(images.map(({ text }) => text))].filter((source) => source !== '').map(shorten);
  const message = `the html body has ${count}${sources.length > 0 ? `: ${firstFew(sources, 5)}` : ''}`;
  return [{ code: 'image-without-alt', message, at: placesOf(images) }];
}

function isImage(element: Element): boolean {
  const { tagName: tag } = element;
  return tag === 'img' || (tag === 'input' && attribute(element, 'type')?.trim().toLowerCase() === 'image');
}

const embeddingElements = new Set(['iframe', 'object', 'embed', 'applet', 'frame', 'portal']);
/** The `type` of scripts that only carry data, such as the markup for inbox actions. */
const dataScriptType = /^application\/(ld\+)?json$/i;

function activeParts(element: Element): FoundPart[] {
  const found: FoundPart[] = [];
  const add = (text: string, name?: string) => found.push({ text, at: placeOf(element, name) });
  const tag = element.tagName;
  if (tag === 'script' && !dataScriptType.test(attribute(element, 'type')?.trim() ?? '')) add('<script>');
  if (embeddingElements.has(tag)) add(`<${tag}>`);
  for (const { name, value } of element.attrs) {
    if (/^on[a-z]+$/.test(name)) add(`${name}=`, name);
    if (
      addressAttributes.has(name) &&
      /^(javascript|vbscript|data:text\/html)/i.test(normalizeAddress(value))
    )
      add(`${name}="${normalizeAddress(value).split(':', 1)[0]}:…"`, name);
  }
  return found;
}

function insecureParts(element: Element): FoundPart[] {
  return element.attrs.flatMap(({ name, value }) =>
    addressAttributes.has(name) && /^http:/i.test(normalizeAddress(value))
      ? [{ text: value.trim(), at: placeOf(element, name) }]
      : [],
  );
}

/** An address without white space and control characters, which browsers ignore. */
function normalizeAddress(value: string): string {
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
