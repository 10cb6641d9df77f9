import { type DefaultTreeAdapterTypes, parse } from 'parse5';

export interface FoundElement {
  readonly tag: string;
  readonly attributes: { readonly [name: string]: string };
}

export interface Tree {
  readonly elements: readonly FoundElement[];
  /** The text outside code, in which Markdown recognizes mentions and links. */
  readonly prose: string;
  readonly comments: number;
}

/** The emails in the frames of a page, in order. Throws if a frame may run scripts. */
export function emailsIn(html: string): string[] {
  return treeOf(html)
    .elements.filter(({ tag }) => tag === 'iframe')
    .map(({ attributes: { sandbox, srcdoc = '' } }) => {
      if (sandbox !== '') throw new Error(`a frame has the sandbox "${sandbox}"`);
      return srcdoc;
    });
}

/** Parses a document as a browser does. */
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
