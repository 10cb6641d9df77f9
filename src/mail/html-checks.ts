import type { Span } from '../base/span.js';
import { inspectHtml, type Spotted } from './html.js';
import { limits } from './limits.js';
import type { CheckCode } from './settings.js';
import { parseBody, type Tree } from './tree.js';
import { short, some } from './words.js';

/** Gmail clips what is longer, and others follow it. */
const clippedBytes = 102 * 1024;

/** Something about a body's HTML. */
export interface HtmlFinding {
  readonly code: CheckCode;
  readonly message: string;
  /** Everything that it is about. */
  readonly at: readonly Span[];
}

/** Everything that is questionable about a body's HTML. */
export function htmlFindings(body: string): HtmlFinding[] {
  const tree = parseBody(body, { located: true });
  const size = clipped(body);
  if (!('refused' in tree)) {
    const [active, ...others] = treeFindings(tree);
    return [...(active ?? []), ...size, ...others.flat()];
  }
  // That a body has too many characters is told of each, whatever is in it.
  if (body.length > limits.bodyCharacters) return size;
  const message = `the html body is ${tree.refused}, so nothing else is said about it`;
  return [{ code: 'html-nesting', message, at: [] }, ...size];
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

function treeFindings(tree: Tree): HtmlFinding[][] {
  const { active, charsets, imagesWithoutAlt, insecure, head } = inspectHtml(tree);
  return [
    told('html-script', active, (what) => `the html body has ${what}, which mail clients remove or distrust`),
    charset(charsets, head),
    withoutAlt(imagesWithoutAlt),
    told('insecure-link', insecure, (what) => `the html body leads to ${what} without https`),
  ];
}

function told(code: CheckCode, found: readonly Spotted[], message: (what: string) => string): HtmlFinding[] {
  if (found.length === 0) return [];
  const texts = new Set(found.map(({ text }) => text));
  return [{ code, message: message(some([...texts].map(short))), at: spotsOf(found) }];
}

function spotsOf(found: readonly Spotted[]): Span[] {
  return found.flatMap(({ at }) => at ?? []);
}

function charset(charsets: readonly Spotted[], head: Span | undefined): HtmlFinding[] {
  if (charsets.length === 0) {
    const message = 'the html body declares no character set: <meta charset="utf-8"> is missing';
    return [{ code: 'html-charset', message, at: head === undefined ? [] : [head] }];
  }
  const foreign = charsets.filter(({ text }) => !['utf-8', 'utf8'].includes(text));
  return told(
    'html-charset',
    foreign,
    (what) => `the html body says that it is ${what}, and it is sent as UTF-8`,
  );
}

function withoutAlt(images: readonly Spotted[]): HtmlFinding[] {
  if (images.length === 0) return [];
  const many = images.length === 1 ? '1 image without alt text' : `${images.length} images without alt text`;
  const sources = [...new Set(images.map(({ text }) => text))].filter((source) => source !== '').map(short);
  const message = `the html body has ${many}${sources.length > 0 ? `: ${some(sources)}` : ''}`;
  return [{ code: 'image-without-alt', message, at: spotsOf(images) }];
}
