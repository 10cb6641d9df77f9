import {
  type Document,
  isAlias,
  isCollection,
  isMap as isMapNode,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { canonical, groupBy, isMap, type Json, same } from '../base/values.js';
import { parseYaml } from '../yaml/parse.js';
import { resolve } from '../yaml/resolve.js';
import { MAX_BYTES, SourceFile } from '../yaml/source-file.js';
import { createNode, createPair, losslessParseOptions } from './yaml.js';

/** A new value for a field of a document. */
export interface FieldEdit {
  /** Index among the file's non-empty documents. */
  readonly document: number;
  readonly field: string;
  readonly next: Json;
}

export interface Edited<E> {
  readonly text: string;
  readonly refused: readonly { readonly edit: E; readonly reason: string }[];
}

const CANNOT_EDIT = "it is written in a way that can't be edited in place";
const HAS_ANCHOR = 'it contains an anchor or an alias';

/** The documents of a text, with unresolved variables; undefined if the text has errors. */
export function writtenDocuments(text: string): Json[] | undefined {
  const file = new SourceFile({ file: '' }, text);
  const { documents, problems } = parseYaml(file);
  if (problems.some(({ severity }) => severity === 'error')) return undefined;
  return documents.map(({ root }) => resolve(root, file, null).value);
}

export function isManifestSize(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BYTES;
}

/**
 * Changes fields of documents. A changed document keeps its comments, order and quotes; the other documents keep every byte. An
 * edit is refused if the result doesn't read back as intended.
 */
export function editFields<E extends FieldEdit>(text: string, edits: readonly E[]): Edited<E> {
  const before = writtenDocuments(text) ?? [];
  const filled = documentsIn(text).filter(({ contents }) => isMapNode(contents));
  const refuseAll: Edited<E> = { text, refused: edits.map((edit) => ({ edit, reason: CANNOT_EDIT })) };
  if (filled.length !== before.length) return refuseAll;
  const refused: { edit: E; reason: string }[] = [];
  const byDocument = groupBy(edits, ({ document }) => document);
  const expected = [...before];
  let newText = '';
  let at = 0;
  for (const [number, { range }] of filled.entries()) {
    const [start, , end] = range;
    let part = text.slice(start, end);
    for (const edit of byDocument.get(number) ?? []) {
      const expectedDocument = { ...(expected[number] as { [key: string]: Json }), [edit.field]: edit.next };
      const changed = changedDocument(part, edit, expected[number] ?? null, expectedDocument);
      if ('reason' in changed) refused.push({ edit, reason: changed.reason });
      else [part, expected[number]] = [changed.text, expectedDocument];
    }
    newText += text.slice(at, start) + part;
    at = end;
  }
  newText += text.slice(at);
  const isIntended = same(writtenDocuments(newText) ?? null, expected) && isManifestSize(newText);
  return isIntended ? { text: newText, refused } : refuseAll;
}

function documentsIn(text: string): Document.Parsed[] {
  return parseAllDocuments(text, losslessParseOptions as never) as Document.Parsed[];
}

function changedDocument(text: string, { field, next }: FieldEdit, old: Json, expected: Json) {
  const lines = text.replaceAll('\r\n', '\n');
  const [document] = documentsIn(lines);
  const { contents } = document ?? {};
  const pair = isMapNode(contents)
    ? (contents.items as Pair[]).find(({ key }) => isScalar(key) && key.value === field)
    : undefined;
  if (document === undefined || pair === undefined || !isMap(old)) return { reason: CANNOT_EDIT };
  attachComments(document);
  const editor = new NodeEditor();
  editor.updatePair(pair, (old[field] ?? null) as Json, next);
  if (!editor.touchesAnchors && document.errors.length === 0) {
    const written = documentText(document, lines);
    const newText = lines === text ? written : written.replaceAll('\n', '\r\n');
    if (same(writtenDocuments(newText) ?? null, [expected])) return { text: newText };
  }
  return { reason: editor.touchesAnchors || holdsAnchors(pair.value) ? HAS_ANCHOR : CANNOT_EDIT };
}

/** Gives nodes a new value, and keeps as many of them as possible. */
class NodeEditor {
  touchesAnchors = false;

  updatePair(pair: Pair, old: Json, next: Json): void {
    pair.value = this.#updateNode(pair.value, old, next);
  }

  #updateNode(node: unknown, old: Json, next: Json): unknown {
    if (same(old, next)) return node;
    const isSame =
      (isMapNode(node) && isMap(old) && isMap(next)) ||
      (isSeq(node) && Array.isArray(old) && Array.isArray(next));
    if (isSame && node.anchor === undefined) {
      if (node.items.length === 0) node.flow = false;
      if (isSeq(node)) this.#updateList(node, old as readonly Json[], next as readonly Json[]);
      else this.#updateMap(node, old as { [key: string]: Json }, next as { [key: string]: Json });
      if (node.items.length === 0) node.flow = true;
      return node;
    }
    this.touchesAnchors ||= holdsAnchors(node);
    const created = createNode(next);
    if (!isNode(node)) return created;
    const comments = [node.commentBefore, node.comment].filter((comment) => comment);
    if (isScalar(created))
      Object.assign(created, { commentBefore: node.commentBefore, comment: node.comment });
    else created.commentBefore = comments.join('\n') || null;
    return created;
  }

  #updateMap(node: YAMLMap, old: { [key: string]: Json }, next: { [key: string]: Json }): void {
    const pairs = node.items as Pair[];
    const keptPairs = new Set<unknown>();
    for (const pair of pairs) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      if (!Object.hasOwn(next, key)) continue;
      this.updatePair(pair, old[key] ?? null, next[key] ?? null);
      keptPairs.add(pair);
    }
    const added = Object.keys(next).filter((key) => !Object.hasOwn(old, key));
    const values = pairs.map(({ value }) => value);
    const newPairs = added.map((key) => createPair(key, newNode(next[key] ?? null, values)));
    this.#removeOthers(node, keptPairs);
    node.items = [...pairs.filter((pair) => keptPairs.has(pair)), ...newPairs];
  }

  #updateList(node: YAMLSeq, old: readonly Json[], next: readonly Json[]): void {
    const unmatched = node.items.map((item, index) => {
      const previous = old[index] ?? null;
      return { item, previous, key: elementKey(previous) };
    });
    const found = next.map((one) => {
      const nextKey = elementKey(one);
      const index = unmatched.findIndex(({ key }) => key === nextKey);
      return index < 0 ? undefined : unmatched.splice(index, 1)[0];
    });
    const items = next.map((one, index) => {
      const existing = found[index];
      return existing === undefined
        ? newNode(one, node.items)
        : this.#updateNode(existing.item, existing.previous, one);
    });
    this.#removeOthers(node, new Set(found.map((one) => one?.item)));
    node.items = items;
  }

  /** Removes all members but some; keeps a comment that a blank line separates from its member. */
  #removeOthers(node: YAMLMap | YAMLSeq, kept: ReadonlySet<unknown>): void {
    let detachedLines: string[] = [];
    for (const item of node.items as readonly unknown[]) {
      const head = commentOwner(item);
      const lines = linesOf(head?.commentBefore);
      if (!kept.has(item)) {
        this.touchesAnchors ||= holdsAnchors(item, 'no aliases');
        detachedLines.push(...lines.slice(0, detachedLineCount(lines)));
      } else if (head !== undefined && detachedLines.length > 0) {
        head.commentBefore = [...detachedLines, ...lines].join('\n');
        detachedLines = [];
      }
    }
    if (detachedLines.length > 0) node.comment = [...detachedLines, ...linesOf(node.comment)].join('\n');
  }
}

/** The node of a new member, in flow style if other members are. */
function newNode(value: Json, others: readonly unknown[]): ReturnType<typeof createNode> {
  const created = createNode(value);
  if (isCollection(created)) created.flow ||= others.some((one) => isCollection(one) && one.flow === true);
  return created;
}

function linesOf(comment: string | null | undefined): string[] {
  return comment ? comment.split('\n') : [];
}

/** The number of comment lines up to the last blank one; these belong to no member. */
function detachedLineCount(lines: readonly string[]): number {
  return lines.lastIndexOf('') + 1;
}

/** Attaches each comment to the member next to or below it, so that both are kept or removed together. */
function attachComments(document: Document): void {
  visit(document, {
    Pair(index, { key, value, srcToken }, path) {
      const outer = path.at(-1) as YAMLMap;
      const below = commentOwner(outer.items[Number(index) + 1]);
      // The parser attaches a comment below an unindented list to the list.
      if (below && isSeq(value) && value.comment && isUnindentedList(value, outer)) {
        below.commentBefore = [...linesOf(value.comment), ...linesOf(below.commentBefore)].join('\n');
        value.comment = null;
      }
      if (!isNode(key) || !isNode(value) || !value.commentBefore) return;
      const lines = linesOf(value.commentBefore);
      const firstSeparator = srcToken?.sep?.find(({ type }) => type === 'comment' || type === 'newline');
      if (firstSeparator?.type === 'comment') key.comment = lines.shift() ?? null;
      const head = isCollection(value) && value.flow !== true ? commentOwner(value.items[0]) : undefined;
      const ownLines = head === undefined || head.commentBefore ? [] : lines.splice(detachedLineCount(lines));
      value.commentBefore = lines.join('\n');
      if (head !== undefined && ownLines.length > 0) head.commentBefore = ownLines.join('\n');
    },
  });
}

function isUnindentedList({ srcToken: inner }: YAMLSeq, { srcToken: outer }: YAMLMap): boolean {
  return inner?.type === 'block-seq' && outer?.type === 'block-map' && inner.indent === outer.indent;
}

function commentOwner(item: unknown): Node | undefined {
  const head = isPair(item) ? item.key : item;
  return isNode(head) ? head : undefined;
}

/** A key that identifies an element of a list: its id, its name, or its whole value. */
function elementKey(element: Json): string {
  if (isMap(element) && element.id !== undefined) return `id ${canonical(element.id as Json)}`;
  if (isMap(element) && element.name !== undefined) return `name ${canonical(element.name as Json)}`;
  return `is ${canonical(element)}`;
}

function holdsAnchors(node: unknown, aliases: 'no aliases' | 'aliases' = 'aliases'): boolean {
  let found = false;
  visit(node as never, {
    Node: (_, inner) => {
      found ||= isAlias(inner) ? aliases === 'aliases' : inner.anchor !== undefined;
    },
  });
  return found;
}

/** The text of a document, indented like its source. */
function documentText(document: Document, source: string): string {
  const nested = /^( *)[^\s#-].*:[ \t]*(?:#.*)?\n\1( +)\S/m.exec(source);
  return document.toString({
    lineWidth: 0,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
    verifyAliasOrder: false,
    indent: nested?.[2]?.length ?? 2,
    indentSeq: !/^( *)[^\s#-].*:[ \t]*(?:#.*)?\n(?:\s*#.*\n)*\1- /m.test(source),
    flowCollectionPadding: /[[{] +\S/.test(source),
  });
}
