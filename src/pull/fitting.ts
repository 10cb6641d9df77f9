import {
  type Document,
  isMap as isMapNode,
  isScalar,
  isSeq,
  Pair,
  type Scalar,
  visit,
  YAMLMap,
  YAMLSeq,
} from 'yaml';
import { isMap, type Json } from '../base/values.js';
import { lineOf } from './lines.js';
import { type Extent, membersIn } from './tokens.js';
import { nodeOf, type Quotes, type Style, textNode, textOf } from './yaml.js';

type Collection = YAMLMap | YAMLSeq;
type Sort = 'map' | 'list' | 'text' | 'other';

/** A new member of a collection as its neighbours are written. */
interface Fresh {
  readonly key: string | undefined;
  readonly value: Json;
}

/** A new member of a block map or a block list, line by line. */
export function freshLines(
  text: string,
  collection: Collection,
  members: readonly Extent[],
  fresh: Fresh,
  style: Style,
): readonly string[] {
  const { key, value } = fresh;
  const model = modelIn(collection, value);
  const node = nodeLike(value, model, false, keyQuotes(collection));
  const fitting = { ...style, padding: isPadded(text, model) };
  if (key !== undefined) {
    const map = new YAMLMap();
    map.items = [new Pair(keyLike(key, collection), node)];
    return linesOf(textOf(map, fitting));
  }
  const beside = members[(collection.items as readonly unknown[]).lastIndexOf(model)] ?? members.at(-1);
  const dash = dashAt(text, beside?.start ?? 0);
  const indent = ' '.repeat(dash.length);
  return linesOf(textOf(node, fitting)).map((line, index) =>
    index === 0 ? dash + line : line === '' ? '' : indent + line,
  );
}

/** A new member of a collection within brackets. */
export function freshFlow(text: string, collection: Collection, { key, value }: Fresh): string {
  const model = modelIn(collection, value);
  const node = nodeLike(value, model, true, keyQuotes(collection));
  const style = { padding: isPadded(text, model) };
  if (key === undefined) return textOf(node, style).trim();
  const map = new YAMLMap();
  map.flow = true;
  map.items = [new Pair(keyLike(key, collection), node)];
  return textOf(map, style).trim().slice(1, -1);
}

/** How the block maps and lists of a document are indented, by the first of each. */
export function styleOf(text: string, document: Document): Style {
  let indent: number | undefined;
  let indentSeq: boolean | undefined;
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !key.range || (!isMapNode(value) && !isSeq(value)) || value.flow) return;
      const first = membersIn(value)?.[0];
      if (first === undefined) return;
      const column = (at: number): number => at - lineOf(text, at);
      const inner = column(first.start) - column(key.range[0]);
      if (isSeq(value)) indentSeq ??= inner > 0;
      if (inner > 0) indent ??= inner;
    },
  });
  return { indent: indent ?? 2, indentSeq: indentSeq ?? true };
}

function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** The last member that is of the same sort as a value. */
function modelIn(collection: Collection, value: Json): unknown {
  const sort = sortOf(value);
  const isIt = (one: unknown): boolean => sortOfNode(one) === sort;
  return isMapNode(collection)
    ? collection.items.findLast(({ value: one }) => isIt(one))?.value
    : collection.items.findLast(isIt);
}

function sortOf(value: Json): Sort {
  if (Array.isArray(value)) return 'list';
  if (isMap(value)) return 'map';
  return typeof value === 'string' ? 'text' : 'other';
}

function sortOfNode(node: unknown): Sort {
  if (isSeq(node)) return 'list';
  if (isMapNode(node)) return 'map';
  return isScalar(node) ? 'text' : 'other';
}

/** The node of a value, in the style of one of its sort; `beside` are the quotes of its neighbours where there is none. */
function nodeLike(value: Json, model: unknown, isFlow: boolean, beside: Quotes): Scalar | YAMLMap | YAMLSeq {
  if (typeof value === 'string') {
    const quotes = isScalar(model) ? quotesOf(model) : beside;
    // A block has no place within brackets.
    if (isFlow && value.includes('\n')) return textNode(value, 'double');
    return quotes === 'plain' ? nodeOf(value) : textNode(value, quotes);
  }
  const isInFlow = (node: Collection): boolean => isFlow || node.flow === true;
  if (Array.isArray(value) && value.length > 0) {
    const list = new YAMLSeq();
    list.flow = isSeq(model) ? isInFlow(model) : isFlow;
    list.items = value.map((item) =>
      nodeLike(item, isSeq(model) ? modelIn(model, item) : undefined, list.flow === true, beside),
    );
    return list;
  }
  if (isMap(value) && isMapNode(model)) {
    const map = new YAMLMap();
    const members = Object.entries(value);
    map.flow = isInFlow(model) || members.length === 0;
    map.items = members.map(([key, member]) => {
      const twin = model.items.find((pair) => isScalar(pair.key) && pair.key.value === key)?.value;
      const next = (member ?? null) as Json;
      const like = sortOfNode(twin) === sortOf(next) ? twin : modelIn(model, next);
      return new Pair(keyLike(key, model), nodeLike(next, like, map.flow === true, keyQuotes(model)));
    });
    return map;
  }
  const node = nodeOf(value);
  if (isFlow && (isMapNode(node) || isSeq(node))) node.flow = true;
  return node;
}

/** A key in the quotes that the keys beside it have. */
function keyLike(key: string, collection: Collection): Scalar {
  return textNode(key, keyQuotes(collection));
}

function keyQuotes(collection: Collection): Quotes {
  return quotesOf(isMapNode(collection) ? collection.items.at(-1)?.key : undefined);
}

function quotesOf(node: unknown): Quotes {
  const type = isScalar(node) ? node.type : undefined;
  return type === 'QUOTE_DOUBLE' ? 'double' : type === 'QUOTE_SINGLE' ? 'single' : 'plain';
}

/** Whether a flow collection has space within its brackets. */
function isPadded(text: string, node: unknown): boolean {
  if (!isMapNode(node) && !isSeq(node)) return false;
  const [start] = node.range ?? [];
  return node.flow === true && start !== undefined && /^[{[][ ]+[^\s\]}]/.test(text.slice(start, start + 20));
}

/** The dash of an element with the space behind it, as far as there is any. */
function dashAt(text: string, start: number): string {
  return /^-[ ]+(?=\S)/.exec(text.slice(start, start + 40))?.[0] ?? '- ';
}
