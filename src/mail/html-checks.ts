import type { Span } from '../base/problems.js';
import { firstFew, shorten } from '../base/words.js';
import { limits } from './limits.js';
import type { CheckCode } from './settings.js';
import { addressAttributes, attribute, type Element, parseBody, spotOf } from './tree.js';

/** Gmail clips longer HTML, and other clients do the same. */
const clippedBytes = 102 * 1024;

/** Something about a body's HTML. */
export interface HtmlFinding {
  readonly code: CheckCode;
  readonly message: string;
  readonly at: readonly Span[];
}

interface Spotted {
  readonly text: string;
  readonly at: Span | undefined;
}

/** Checks a body's HTML, parsed as browsers do. */
export function htmlFindings(body: string): HtmlFinding[] {
  const tree = parseBody(body, { located: true });
  const size = clipped(body);
  if (!('refused' in tree)) {
    const { elements } = tree;
    return [
      ...told('html-script', elements.flatMap(activeParts), 'has', ', which mail clients remove or distrust'),
      ...size,
      ...charset(elements),
      ...withoutAlt(elements),
      ...told('insecure-link', elements.flatMap(insecureParts), 'leads to', ' without https'),
    ];
  }
  // Both bodies report too many characters elsewhere.
  if (body.length > limits.bodyCharacters) return size;
  const message = `the html body is ${tree.refused}, so it isn't checked further`;
  return [{ code: 'html-nesting', message, at: [] }, ...size];
}

const token = /\{\{[{&]?\s*_csrf_token\s*\}\}/;

/** Forms of a page that the server refuses. Scripts and the like are usual in pages. */
export function formFindings(page: string): HtmlFinding[] {
  const tree = parseBody(page, { located: true });
  if ('refused' in tree) return [];
  const forms = tree.elements.filter(
    (element) => element.tagName === 'form' && attribute(element, 'method')?.trim().toLowerCase() === 'post',
  );
  const tokens = tree.elements.filter(({ attrs }) => attrs.some(({ value }) => token.test(value)));
  // The parser takes some fields out of their forms.
  if (tokens.length >= forms.length) return [];
  const at = forms
    .filter((form) => !tokens.some((one) => isIn(one, form)))
    .flatMap((form) => spotOf(form) ?? []);
  const message = 'the content has a form without {{ _csrf_token }}, which the server refuses';
  return [{ code: 'missing-token', message, at }];
}

function isIn(element: Element, form: Element): boolean {
  for (let at: Element['parentNode'] = element; at !== null && 'parentNode' in at; at = at.parentNode)
    if (at === form) return true;
  return false;
}

function clipped(body: string): HtmlFinding[] {
  const bytes = Buffer.byteLength(body);
  if (bytes <= clippedBytes) return [];
  const size = (bytes / 1024).toFixed(1);
  const message = `the html body has ${size} KB, and mail clients clip what is longer than 102 KB`;
  const start = Buffer.from(body)
    .subarray(0, clippedBytes)
    .toString()
    .replace(/\uFFFD$/, '').length;
  return [{ code: 'html-too-large', message, at: [{ start, end: start + 1 }] }];
}

/** A finding about parts of a body, named between a verb and the end of the sentence. */
function told(code: CheckCode, found: readonly Spotted[], verb: string, end: string): HtmlFinding[] {
  if (found.length === 0) return [];
  const texts = new Set(found.map(({ text }) => text));
  const message = `the html body ${verb} ${firstFew([...texts].map(shorten), 5)}${end}`;
  return [{ code, message, at: spotsOf(found) }];
}

function spotsOf(found: readonly Spotted[]): Span[] {
  return found.flatMap(({ at }) => at ?? []);
}

function charset(elements: readonly Element[]): HtmlFinding[] {
  const charsets = elements.flatMap((element) => {
    const text = charsetOf(element);
    return text === undefined ? [] : [{ text, at: spotOf(element) }];
  });
  if (charsets.length === 0) {
    const message = 'the html body declares no character set: <meta charset="utf-8"> is missing';
    const heads = elements.flatMap((element) => (element.tagName === 'head' ? (spotOf(element) ?? []) : []));
    return [{ code: 'html-charset', message, at: heads.slice(0, 1) }];
  }
  const foreign = charsets.filter(({ text }) => !['utf-8', 'utf8'].includes(text));
  return told('html-charset', foreign, 'says that it is', ', and it is sent as UTF-8');
}

function withoutAlt(elements: readonly Element[]): HtmlFinding[] {
  const images = elements
    .filter((element) => isImage(element) && attribute(element, 'alt') === undefined)
    .map((element) => ({ text: attribute(element, 'src') ?? '', at: spotOf(element) }));
  if (images.length === 0) return [];
  const many = images.length === 1 ? '1 image without alt text' : `${images.length} images without alt text`;
  const sources = [...new Set(images.map(({ text }) => text))].filter((source) => source !== '').map(shorten);
  const message = `the html body has ${many}${sources.length > 0 ? `: ${firstFew(sources, 5)}` : ''}`;
  return [{ code: 'image-without-alt', message, at: spotsOf(images) }];
}

function isImage(element: Element): boolean {
  const { tagName: tag } = element;
  return tag === 'img' || (tag === 'input' && attribute(element, 'type')?.trim().toLowerCase() === 'image');
}

const embedding = new Set(['iframe', 'object', 'embed', 'applet', 'frame', 'portal']);
/** The `type` of scripts that only carry data, such as the markup for inbox actions. */
const dataBlock = /^application\/(ld\+)?json$/i;

function activeParts(element: Element): Spotted[] {
  const found: Spotted[] = [];
  const add = (text: string, name?: string) => found.push({ text, at: spotOf(element, name) });
  const tag = element.tagName;
  if (tag === 'script' && !dataBlock.test(attribute(element, 'type')?.trim() ?? '')) add('<script>');
  if (embedding.has(tag)) add(`<${tag}>`);
  for (const { name, value } of element.attrs) {
    if (/^on[a-z]+$/.test(name)) add(`${name}=`, name);
    if (addressAttributes.has(name) && /^(javascript|vbscript|data:text\/html)/i.test(address(value)))
      add(`${name}="${address(value).split(':', 1)[0]}:…"`, name);
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

/** An address as browsers read it, without white space and control characters. */
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
