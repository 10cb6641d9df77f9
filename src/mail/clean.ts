import { escapeText } from 'entities/escape';
import { type DefaultTreeAdapterTypes, html } from 'parse5';
import { attributes, elements, formElements, missed, ownPicture, withContent } from './allowed.js';
import { limits } from './limits.js';
import { cleanDeclarations, cleanMedia, cleanSheet } from './styles.js';
import { attribute, type Element, parseBody, type RefusedBody } from './tree.js';

/** An email's HTML that can be shown. */
export interface CleanHtml {
  /** A document from `<html>` on. It runs nothing, loads nothing, and its links can't be followed. */
  readonly html: string;
  /** What was left out and a reader of the email would see, each once. */
  readonly left: readonly string[];
}

/**
 * A harmless copy of a body for reports, written from the tree that a browser makes of it: only elements, attributes and styles that are
 * allowed. Links have no address, and show it on hover. Text replaces remote pictures.
 */
export function cleanHtml(
  body: string,
  { page: isPage = false }: { readonly page?: boolean } = {},
): CleanHtml | RefusedBody {
  const tree = parseBody(body);
  if ('refused' in tree) return tree;
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
    left: cleaner.left,
  };
}

const childless = new Set(['br', 'col', 'hr', 'wbr']);

class Cleaner {
  readonly #isPage: boolean;
  readonly #left = new Set<string>();

  constructor(isPage: boolean) {
    this.#isPage = isPage;
  }

  get left(): string[] {
    return [...this.#left];
  }

  /** The style sheets of a head; the rest of it is invisible. */
  styles(head: Element): string {
    return head.childNodes
      .map((node) => {
        if (!isElement(node)) return '';
        if (this.#isPage) this.#missFile(node);
        return node.tagName === 'style' ? this.#sheet(node) : '';
      })
      .join('');
  }

  /** A note in place of a frameset. */
  frames(root: Element | undefined): string {
    const frames = root?.childNodes.find((node): node is Element => node.nodeName === 'frameset');
    return frames === undefined ? '' : this.#note(frames, '<frameset>');
  }

  children(parent: Element, depth: number): string {
    // The parser bounds the open elements, but moves some a little deeper.
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
    if (this.#isPage) this.#missFile(node);
    if (withContent.has(tag)) return missed.has(tag) ? this.#note(node, `<${tag}>`) : '';
    const inner = this.children(node, depth);
    if (!elements.has(tag)) return inner;
    const start = `<${tag}${this.attributes(node)}>`;
    if (childless.has(tag)) return start;
    // Browsers ignore a first line break in `pre`.
    return `${start}${tag === 'pre' ? '\n' : ''}${inner}</${tag}>`;
  }

  attributes(element: Element): string {
    const target = element.tagName === 'a' ? attribute(element, 'href') : undefined;
    const kept = element.attrs.flatMap(({ name, value }) => {
      if (name === 'style') {
        const written = cleanDeclarations(value, this.#picture);
        return written === '' ? [] : [attributeText('style', written)];
      }
      if (name === 'background') {
        const own = this.#picture(value);
        return own === undefined ? [] : [attributeText(name, own)];
      }
      if (name === 'title' && target !== undefined) return [];
      return attributes.has(name) ? [attributeText(name, value)] : [];
    });
    const link = target === undefined ? '' : attributeText('title', target.trim());
    return `${kept.join('')}${link}`;
  }

  /** A part of a form, which nobody can fill in. */
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

  /** Says that a page's script or style sheet is left out: the page may look different with it. */
  #missFile(node: Element): void {
    const tag = node.tagName;
    const isSheet = tag === 'link' && /(?:^|\s)stylesheet(?:\s|$)/i.test(attribute(node, 'rel') ?? '');
    if (tag !== 'script' && !isSheet) return;
    const address = attribute(node, isSheet ? 'href' : 'src')?.trim() ?? '';
    this.#leave(`${isSheet ? 'style sheet' : 'script'} ${shortened(address)}`.trim());
  }

  #sheet(element: Element): string {
    const source = element.childNodes
      .map((node) => (node.nodeName === '#text' ? (node as DefaultTreeAdapterTypes.TextNode).value : ''))
      .join('');
    const sheet = cleanSheet(source, this.#picture);
    const media = attribute(element, 'media');
    const written = media === undefined ? '' : cleanMedia(media);
    if (sheet === '' || written === undefined) return '';
    return `<style${written === '' ? '' : attributeText('media', written)}>\n${sheet}</style>`;
  }

  /** Keeps a picture inside the email. A note of the same size replaces any other. */
  #image(element: Element): string {
    const source = (attribute(element, 'src') ?? '').trim();
    const alt = (attribute(element, 'alt') ?? '').trim();
    if (ownPicture.test(source)) return `<img${attributeText('src', source)}${this.attributes(element)}>`;
    const words = [shortened(alt), shortened(source)].filter((text) => text !== '').join(', ');
    this.#leave(`picture ${words === '' ? 'without address' : words}`);
    const size = ['width', 'height'].flatMap((name) => {
      const [, digits, percent] =
        /^(\d{1,4})\s*(?:px)?(%?)$/.exec((attribute(element, name) ?? '').trim()) ?? [];
      return digits === undefined ? [] : [`${name}:${digits}${percent === '%' ? '%' : 'px'}`];
    });
    const own = cleanDeclarations(attribute(element, 'style') ?? '', this.#picture);
    const styles = [noteStyle, ...size, ...(own === '' ? [] : [own])].join(';');
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
    const words = address === undefined ? what : `${what} ${shortened(address)}`;
    this.#leave(words);
    return `<span${attributeText('style', noteStyle)}>${escapeText(words)}</span>`;
  }

  readonly #picture = (address: string): string | undefined => {
    const source = address.trim();
    if (ownPicture.test(source)) return source;
    if (source !== '') this.#leave(`background ${shortened(source)}`);
    return undefined;
  };

  #leave(words: string): void {
    if (this.#left.size < limits.leftOut) this.#left.add(words);
  }
}

const noteStyle =
  'display:inline-block;box-sizing:border-box;overflow:hidden;border:1px dashed #777777;background-color:#f2f2f2;color:#444444;font:12px sans-serif';

function isElement(node: DefaultTreeAdapterTypes.Node): node is Element {
  return 'tagName' in node;
}

/** Cuts off what is too long for a note. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function attributeText(name: string, value: string): string {
  return ` ${name}="${escapeText(value).replaceAll('"', '&quot;')}"`;
}
