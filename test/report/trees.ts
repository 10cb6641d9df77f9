import { type DefaultTreeAdapterTypes, parse } from 'parse5';

export interface FoundElement {
  readonly tag: string;
  readonly attributes: { readonly [name: string]: string };
}

export interface Tree {
  readonly elements: readonly FoundElement[];
  /** The text outside of code, where a reader of Markdown looks for mentions and links. */
  readonly prose: string;
  readonly comments: number;
}

/** What a browser would run of a page. */
export function scriptsIn(html: string): string[] {
  return scripts(html, (type) => type === undefined);
}

/** The emails that a page holds for its frames. */
export function emailsIn(html: string): string[] {
  return scripts(html, (type) => type === 'application/json').map((text) => JSON.parse(text));
}

function scripts(html: string, wanted: (type: string | undefined) => boolean): string[] {
  const found: string[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if (node.nodeName === 'script') {
      const { attrs, childNodes } = node as DefaultTreeAdapterTypes.Element;
      if (wanted(attrs.find(({ name }) => name === 'type')?.value)) {
        found.push(childNodes.map((child) => ('value' in child ? child.value : '')).join(''));
      }
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return found;
}

/** What a browser makes of a document. */
export function treeOf(html: string): Tree {
  const elements: FoundElement[] = [];
  let prose = '';
  let comments = 0;
  const visit = (node: DefaultTreeAdapterTypes.Node, code: boolean): void => {
    if (node.nodeName === '#comment') comments += 1;
    if (node.nodeName === '#text' && !code) prose += ` ${(node as DefaultTreeAdapterTypes.TextNode).value} `;
    if ('tagName' in node) {
      elements.push({
        tag: node.tagName,
        attributes: Object.fromEntries(node.attrs.map(({ name, value }) => [name, value])),
      });
    }
    const inCode = code || ['code', 'pre', 'style'].includes(node.nodeName);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child, inCode);
  };
  visit(parse(html), false);
  return { elements, prose, comments };
}
