import { escapeText } from 'entities/escape';
import { type DefaultTreeAdapterTypes, html } from 'parse5';
import {
  allowedAttributes,
  allowedElements,
  embeddedPicture,
  formElements,
  removedWithContent,
  replacedByNote,
} from './allowed.js';
import { limits } from './limits.js';
import { cleanDeclarations, cleanMedia, cleanSheet } from './styles.js';
import { attribute, type Element, parseBody, type RejectedBody } from './tree.js';

/** An email's HTML that can be shown. */
export interface CleanHtml {
  /** The `<html>` element. It runs nothing, loads nothing, and its links have no address. */
  readonly html: string;
  /** The removed parts that a reader of the email would see, each once. */
  readonly removed: readonly string[];
}

/**
 * A harmless copy of a body for reports, written from the tree that a browser parses: only allowed elements, attributes and styles. Links
 * only show their address on hover. Text replaces remote pictures.
 */
export function cleanHtml(
  body: string,
  { page: isPage = false }: { readonly page?: boolean } = {},
): CleanHtml | RejectedBody {
  const tree = parseBody(body);
  if ('rejection' in tree) return tree;
  const cleaner = new Cleaner(isPage);
  const root = tree.elements.find(({ tagName }) => tagName === 'html');
  const page = root?.childNodes.find((node): node is Element => node.nodeName === 'body');
  const head = root?.childNodes.find((node): node is Element => node.nodeName === 'head');
  const styles = head === undefined ? '' : cleaner.styles(head);
  const inner = page === undefined ? cleaner.frames(root) : cleaner.children(page, 0);
  return {
    html: `<html${root === undefined ? '' : cleaner.attributes(root)}><head>${styles}</head><body${
      page === undefined ? '' : cleaner.attributes(page)
    }>${inner}</body></html>`,
    removed: cleaner.removed,
  };
}

const voidElements = new Set(['br', 'col', 'hr', 'wbr']);

class Cleaner {
  readonly #isPage: boolean;
  readonly #removed = new Set<string>();

  constructor(isPage: boolean) {
    this.#isPage = isPage;
  }

  get removed(): string[] {
    return [...this.#removed];
  }

  /** The style sheets of a head; the rest of the head is invisible. */
  styles(head: Element): string {
    return head.childNodes
      .map((node) => {
        if (!isElement(node)) return '';
        if (this.#isPage) this.#noteFile(node);
        return node.tagName === 'style' ? this.#sheet(node) : '';
      })
      .join('');
  }

  /** The note that replaces a frameset; empty if there is none. */
  frames(root: Element | undefined): string {
    const frames = root?.childNodes.find((node): node is Element => node.nodeName === 'frameset');
    return frames === undefined ? '' : this.#note(frames, '<frameset>');
  }

  children(parent: Element, depth: number): string {
    // The parser limits the depth, but moves some elements deeper afterwards.
    if (depth > limits.elementDepth) return '';
    return parent.childNodes.map((node) => this.#node(node, depth + 1)).join('');
  }

  #node(node: DefaultTreeAdapterTypes.ChildNode, depth: number): string {
    if (node.nodeName === '#text') return escapeText((node as DefaultTreeAdapterTypes.TextNode).value);
    if (!isElement(node)) return '';
    const tag = node.tagName;
    if (node.namespaceURI !== html.NS.HTML) return this.#note(node, `<${tag}>`);
    if (tag === 'style') return this.#sheet(node);
    if (tag === 'img') return this.#image(node);
    if (this.#isPage && formElements.has(tag)) return this.#field(node, depth);
    if (this.#isPage) this.#noteFile(node);
    if (removedWithContent.has(tag)) return replacedByNote.has(tag) ? this.#note(node, `<${tag}>`) : '';
    const inner = this.children(node, depth);
    if (!allowedElements.has(tag)) return inner;
    const start = `<${tag}${this.attributes(node)}>`;
    if (voidElements.has(tag)) return start;
    // Browsers ignore a first line break in `pre`.
    return `${start}${tag === 'pre' ? '\n' : ''}${inner}</${tag}>`;
  }

  attributes(element: Element): string {
    const target = element.tagName === 'a' ? attribute(element, 'href') : undefined;
    const allowed = element.attrs.flatMap(({ name, value }) => {
      if (name === 'style') {
        const style = cleanDeclarations(value, this.#picture);
        return style === '' ? [] : [attributeText('style', style)];
      }
      if (name === 'background') {
        const picture = this.#picture(value);
        return picture === undefined ? [] : [attributeText(name, picture)];
      }
      if (name === 'title' && target !== undefined) return [];
      return allowedAttributes.has(name) ? [attributeText(name, value)] : [];
    });
    const link = target === undefined ? '' : attributeText('title', target.trim());
    return `${allowed.join('')}${link}`;
  }

  /** An element of a form, which is inert. */
  #field(node: Element, depth: number): string {
    const tag = node.tagName;
    if (tag !== 'input')
      return `<${tag}${this.attributes(node)} inert>${this.children(node, depth)}</${tag}>`;
    const type = attribute(node, 'type')?.trim().toLowerCase();
    if (type === 'hidden') return '';
    if (type === 'image') return this.#note(node, '<input>');
    const hint = attribute(node, 'placeholder');
    const shown = hint === undefined ? '' : attributeText('placeholder', hint);
    const checked = attribute(node, 'checked') === undefined ? '' : ' checked';
    return `<input${this.attributes(node)}${shown}${checked} inert>`;
  }

  /** Notes a removed script or style sheet of a page: the page may look different with it. */
  #noteFile(node: Element): void {
    const tag = node.tagName;
    const isSheet = tag === 'link' && /(?:^|\s)stylesheet(?:\s|$)/i.test(attribute(node, 'rel') ?? '');
    if (tag !== 'script' && !isSheet) return;
    const address = attribute(node, isSheet ? 'href' : 'src')?.trim() ?? '';
    this.#addRemoved(`${isSheet ? 'style sheet' : 'script'} ${shorten(address)}`.trim());
  }

  #sheet(element: Element): string {
    const source = element.childNodes
      .map((node) => (node.nodeName === '#text' ? (node as DefaultTreeAdapterTypes.TextNode).value : ''))
      .join('');
    const sheet = cleanSheet(source, this.#picture);
    const media = attribute(element, 'media');
    const query = media === undefined ? '' : cleanMedia(media);
    if (sheet === '' || query === undefined) return '';
    return `<style${query === '' ? '' : attributeText('media', query)}>\n${sheet}</style>`;
  }

  /** A picture that is inside the email, or a note of the same size that replaces any other picture. */
  #image(element: Element): string {
    const source = (attribute(element, 'src') ?? '').trim();
    const alt = (attribute(element, 'alt') ?? '').trim();
    if (embeddedPicture.test(source))
      return `<img${attributeText('src', source)}${this.attributes(element)}>`;
    const words = [shorten(alt), shorten(source)].filter((text) => text !== '').join(', ');
    this.#addRemoved(`picture ${words === '' ? 'without address' : words}`);
    const size = ['width', 'height'].flatMap((name) => {
      const [, digits, percent] =
        /^(\d{1,4})\s*(?:px)?(%?)$/.exec((attribute(element, name) ?? '').trim()) ?? [];
      return digits === undefined ? [] : [`${name}:${digits}${percent === '%' ? '%' : 'px'}`];
    });
    const ownStyle = cleanDeclarations(attribute(element, 'style') ?? '', this.#picture);
    const styles = [noteStyle, ...size, ...(ownStyle === '' ? [] : [ownStyle])].join(';');
    const names = ['class', 'id'].flatMap((name) => {
      const value = attribute(element, name);
      return value === undefined ? [] : [attributeText(name, value)];
    });
    const text = alt === '' ? (words === '' ? 'picture' : words) : alt;
    return `<span${names.join('')}${attributeText('style', styles)}${attributeText('title', source)}>${escapeText(text)}</span>`;
  }

  #note(element: Element, what: string): string {
    const address = ['src', 'data', 'href', 'code']
      .map((name) => attribute(element, name)?.trim() ?? '')
      .find((text) => text !== '');
    const words = address === undefined ? what : `${what} ${shorten(address)}`;
    this.#addRemoved(words);
    return `<span${attributeText('style', noteStyle)}>${escapeText(words)}</span>`;
  }

  readonly #picture = (address: string): string | undefined => {
    const source = address.trim();
    if (embeddedPicture.test(source)) return source;
    if (source !== '') this.#addRemoved(`background ${shorten(source)}`);
    return undefined;
  };

  #addRemoved(words: string): void {
    if (this.#removed.size < limits.leftOut) this.#removed.add(words);
  }
}

const noteStyle =
  'display:inline-block;box-sizing:border-box;overflow:hidden;border:1px dashed #777777;background-color:#f2f2f2;color:#444444;font:12px sans-serif';

function isElement(node: DefaultTreeAdapterTypes.Node): node is Element {
  return 'tagName' in node;
}

/** Shortens a text for a note. */
function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function attributeText(name: string, value: string): string {
  return ` ${name}="${escapeText(value).replaceAll('"', '&quot;')}"`;
}
