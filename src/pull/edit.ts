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
import { faithful, nodeOf, pairOf } from './yaml.js';

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

const CANNOT_EDIT = "it is written in a way that can't be changed in place";
const HAS_ANCHOR = 'it is, or has in it, an anchor or an alias';

/** The documents of a text, with variables unresolved; undefined if the text has errors. */
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
 * Changes fields of documents. A changed document keeps its comments, order and quotes, all others keep every byte. An edit is
 * refused if the result doesn't read back as intended.
 */
export function editFields<E extends FieldEdit>(text: string, edits: readonly E[]): Edited<E> {
  const before = writtenDocuments(text) ?? [];
  const filled = documentsIn(text).filter(({ contents }) => isMapNode(contents));
  const refuseAll: Edited<E> = { text, refused: edits.map((edit) => ({ edit, reason: CANNOT_EDIT })) };
  if (filled.length !== before.length) return refuseAll;
  const refused: { edit: E; reason: string }[] = [];
  const byDocument = groupBy(edits, ({ document }) => document);
  const expected = [...before];
  let made = '';
  let at = 0;
  for (const [number, { range }] of filled.entries()) {
    const [start, , end] = range;
    let part = text.slice(start, end);
    for (const edit of byDocument.get(number) ?? []) {
      const said = { ...(expected[number] as { [key: string]: Json }), [edit.field]: edit.next };
      const changed = changedDocument(part, edit, expected[number] ?? null, said);
      if ('reason' in changed) refused.push({ edit, reason: changed.reason });
      else [part, expected[number]] = [changed.text, said];
    }
    made += text.slice(at, start) + part;
    at = end;
  }
  made += text.slice(at);
  const isIntended = same(writtenDocuments(made) ?? null, expected) && isManifestSize(made);
  return isIntended ? { text: made, refused } : refuseAll;
}

function documentsIn(text: string): Document.Parsed[] {
  return parseAllDocuments(text, faithful as never) as Document.Parsed[];
}

function changedDocument(text: string, { field, next }: FieldEdit, old: Json, said: Json) {
  const lines = text.replaceAll('\r\n', '\n');
  const [document] = documentsIn(lines);
  const { contents } = document ?? {};
  const pair = isMapNode(contents)
    ? (contents.items as Pair[]).find(({ key }) => isScalar(key) && key.value === field)
    : undefined;
  if (document === undefined || pair === undefined || !isMap(old)) return { reason: CANNOT_EDIT };
  attachComments(document);
  const revision = new NodeEditor();
  revision.pair(pair, (old[field] ?? null) as Json, next);
  if (!revision.touchesAnchors && document.errors.length === 0) {
    const written = documentText(document, lines);
    const made = lines === text ? written : written.replaceAll('\n', '\r\n');
    if (same(writtenDocuments(made) ?? null, [said])) return { text: made };
  }
  return { reason: revision.touchesAnchors || holdsAnchors(pair.value) ? HAS_ANCHOR : CANNOT_EDIT };
}

/** Changes nodes to a new value, and keeps as many of them as possible. */
class NodeEditor {
  touchesAnchors = false;

  pair(pair: Pair, old: Json, next: Json): void {
    pair.value = this.#node(pair.value, old, next);
  }

  #node(node: unknown, old: Json, next: Json): unknown {
    if (same(old, next)) return node;
    const isSame =
      (isMapNode(node) && isMap(old) && isMap(next)) ||
      (isSeq(node) && Array.isArray(old) && Array.isArray(next));
    if (isSame && node.anchor === undefined) {
      if (node.items.length === 0) node.flow = false;
      if (isSeq(node)) this.#list(node, old as readonly Json[], next as readonly Json[]);
      else this.#map(node, old as { [key: string]: Json }, next as { [key: string]: Json });
      if (node.items.length === 0) node.flow = true;
      return node;
    }
    this.touchesAnchors ||= holdsAnchors(node);
    const made = nodeOf(next);
    if (!isNode(node)) return made;
    const comments = [node.commentBefore, node.comment].filter((comment) => comment);
    if (isScalar(made)) Object.assign(made, { commentBefore: node.commentBefore, comment: node.comment });
    else made.commentBefore = comments.join('\n') || null;
    return made;
  }

  #map(node: YAMLMap, old: { [key: string]: Json }, next: { [key: string]: Json }): void {
    const pairs = node.items as Pair[];
    const kept = new Set<unknown>();
    for (const pair of pairs) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      if (!Object.hasOwn(next, key)) continue;
      this.pair(pair, old[key] ?? null, next[key] ?? null);
      kept.add(pair);
    }
    const added = Object.keys(next).filter((key) => !Object.hasOwn(old, key));
    const values = pairs.map(({ value }) => value);
    const fresh = added.map((key) => pairOf(key, newNode(next[key] ?? null, values)));
    this.#drop(node, kept);
    node.items = [...pairs.filter((pair) => kept.has(pair)), ...fresh];
  }

  #list(node: YAMLSeq, old: readonly Json[], next: readonly Json[]): void {
    const left = node.items.map((item, index) => {
      const was = old[index] ?? null;
      return { item, was, key: elementKey(was) };
    });
    const found = next.map((one) => {
      const wanted = elementKey(one);
      const index = left.findIndex(({ key }) => key === wanted);
      return index < 0 ? undefined : left.splice(index, 1)[0];
    });
    const items = next.map((one, index) => {
      const there = found[index];
      return there === undefined ? newNode(one, node.items) : this.#node(there.item, there.was, one);
    });
    this.#drop(node, new Set(found.map((one) => one?.item)));
    node.items = items;
  }

  /** Removes members; a comment above one that a blank line separates stays. */
  #drop(node: YAMLMap | YAMLSeq, kept: ReadonlySet<unknown>): void {
    let free: string[] = [];
    for (const item of node.items as readonly unknown[]) {
      const head = headOf(item);
      const lines = linesOf(head?.commentBefore);
      if (!kept.has(item)) {
        this.touchesAnchors ||= holdsAnchors(item, 'no aliases');
        free.push(...lines.slice(0, freeLines(lines)));
      } else if (head !== undefined && free.length > 0) {
        head.commentBefore = [...free, ...lines].join('\n');
        free = [];
      }
    }
    if (free.length > 0) node.comment = [...free, ...linesOf(node.comment)].join('\n');
  }
}

/** The node of a new member, in flow style if others are. */
function newNode(value: Json, others: readonly unknown[]): ReturnType<typeof nodeOf> {
  const made = nodeOf(value);
  if (isCollection(made)) made.flow ||= others.some((one) => isCollection(one) && one.flow === true);
  return made;
}

function linesOf(comment: string | null | undefined): string[] {
  return comment ? comment.split('\n') : [];
}

/** The lines of a comment up to the last blank one: they belong to no member. */
function freeLines(lines: readonly string[]): number {
  return lines.lastIndexOf('') + 1;
}

/** Attaches each comment of a block to the member beside or below it, so that both stay or go together. */
function attachComments(document: Document): void {
  visit(document, {
    Pair(index, { key, value, srcToken }, path) {
      const outer = path.at(-1) as YAMLMap;
      const below = headOf(outer.items[Number(index) + 1]);
      // Below a list that is not indented.
      if (below && isSeq(value) && value.comment && isFlat(value, outer)) {
        below.commentBefore = [...linesOf(value.comment), ...linesOf(below.commentBefore)].join('\n');
        value.comment = null;
      }
      if (!isNode(key) || !isNode(value) || !value.commentBefore) return;
      const lines = linesOf(value.commentBefore);
      const beside = srcToken?.sep?.find(({ type }) => type === 'comment' || type === 'newline');
      if (beside?.type === 'comment') key.comment = lines.shift() ?? null;
      const head = isCollection(value) && value.flow !== true ? headOf(value.items[0]) : undefined;
      const own = head === undefined || head.commentBefore ? [] : lines.splice(freeLines(lines));
      value.commentBefore = lines.join('\n');
      if (head !== undefined && own.length > 0) head.commentBefore = own.join('\n');
    },
  });
}

function isFlat({ srcToken: inner }: YAMLSeq, { srcToken: outer }: YAMLMap): boolean {
  return inner?.type === 'block-seq' && outer?.type === 'block-map' && inner.indent === outer.indent;
}

function headOf(item: unknown): Node | undefined {
  const head = isPair(item) ? item.key : item;
  return isNode(head) ? head : undefined;
}

/** Identifies an element of a list: by its id, its name, or its whole value. */
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
