import { isMap as isMapNode, isScalar, isSeq, Pair, YAMLMap } from 'yaml';
import { isMap, type Json, same } from '../base/values.js';
import { isAlike } from './align.js';
import { eolOf, lineEnd, lineOf } from './lines.js';
import type { Splice } from './tokens.js';
import { nodeOf, pairOf, textNode, textOf } from './yaml.js';

/** A member of a map that is to say something else. */
export interface Target {
  readonly isFlow: boolean;
  readonly pair: Pair;
  readonly old: Json;
  readonly next: Json;
  /** Whether a text goes into quotes, whatever is in it. */
  readonly isQuoted?: boolean;
}

/** A key and its value written anew, and where the old ones stand; undefined where they can't be. */
export function pairSplice(
  text: string,
  { isFlow, pair, old, next, isQuoted = false }: Target,
): Splice | undefined {
  const { key, value } = pair;
  if (!isScalar(key) || !key.range) return undefined;
  const [start] = key.range;
  const range = rangeOf(value);
  const end = range === undefined ? text.indexOf(':', key.range[1]) + 1 : range[1];
  if (end <= start) return undefined;
  const line = lineOf(text, start);
  const before = text.slice(line, start);
  // Before the first key of an element stands its dash.
  if (!isFlow && !/^[ ]*(?:-[ ]+)*$/.test(before)) return undefined;
  const indent = ' '.repeat(before.length);
  const style = styleAt(text, value, start - line);
  const name = key.clone() as typeof key;
  name.commentBefore = undefined as never;
  name.spaceBefore = false;
  // JSON stays JSON.
  const isInQuotes = isQuoted || (isFlow && key.type === 'QUOTE_DOUBLE');
  const inner =
    isInQuotes && typeof next === 'string' ? textNode(next, 'double') : reshaped(value, old, next);
  withoutComment(inner);
  const made = new YAMLMap();
  made.flow = isFlow;
  made.items = [new Pair(name, inner)];
  const whole = textOf(made as never, style);
  let written = isFlow
    ? whole
        .trim()
        .replace(/^\{|\}$/g, '')
        .trim()
    : whole.replace(/\n$/, '');
  if (!isFlow) written = written.replace(/\n(?=[^\n])/g, `\n${indent}`);
  // What a block ends with is its own line's end.
  const ending = /\r?\n$/.exec(text.slice(start, end))?.[0] ?? '';
  written = written.replaceAll('\n', eolOf(text, start));
  return behindHeader(text, { start, end, text: written + ending }, value, inner);
}

/** The same with the comment on the line of the key, which within a block of text would be a part of it. */
function behindHeader(text: string, splice: Splice, value: unknown, made: unknown): Splice {
  const isBlock = (node: unknown): boolean => isScalar(node) && node.type?.startsWith('BLOCK_') === true;
  const { start, end } = splice;
  const withComment = (comment: string): string => splice.text.replace(/(?=\r?\n|$)/, comment);
  if (isBlock(value)) {
    const from = rangeOf(value)?.[0] ?? start;
    const comment = /^[^\s#]+([ \t]+#[^\r\n]*)/.exec(text.slice(from, lineEnd(text, from)))?.[1] ?? '';
    return { ...splice, text: withComment(comment) };
  }
  if (!isBlock(made)) return splice;
  const comment = /^[ \t]*#[^\r\n]*/.exec(text.slice(end, lineEnd(text, end)))?.[0] ?? '';
  return { start, end: end + comment.length, text: withComment(comment) };
}

function rangeOf(node: unknown): readonly [number, number] | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return undefined;
  const [start, end] = node.range as readonly unknown[];
  return typeof start === 'number' && typeof end === 'number' ? [start, end] : undefined;
}

/** How what stands there is indented. */
function styleAt(text: string, value: unknown, column: number): { indent: number; indentSeq: boolean } {
  const range = rangeOf(value);
  const isBlock = (isMapNode(value) || isSeq(value)) && value.flow !== true;
  if (range === undefined || !isBlock) return { indent: 2, indentSeq: true };
  const inner = range[0] - lineOf(text, range[0]) - column;
  if (isSeq(value)) return { indent: inner > 0 ? inner : 2, indentSeq: inner > 0 };
  return { indent: inner > 0 ? inner : 2, indentSeq: true };
}

/** A comment behind the value stays where it is in the text. */
function withoutComment(node: unknown): void {
  if (isScalar(node) || isMapNode(node) || isSeq(node)) node.comment = undefined as never;
}

/** A node that says `next`, with as much of the one that said `old` as still holds. */
function reshaped(node: unknown, old: Json, next: Json): unknown {
  if (same(old, next)) return node;
  if (isMapNode(node) && isMap(old) && isMap(next)) {
    const kept = node.items.flatMap((pair) => {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      if (!Object.hasOwn(next, key)) return [];
      pair.value = reshaped(pair.value, (old[key] ?? null) as Json, (next[key] ?? null) as Json) as never;
      return [pair];
    });
    const added = Object.entries(next).filter(([key]) => !Object.hasOwn(old, key));
    node.items = [...kept, ...added.map(([key, member]) => pairOf(key, member as Json))] as never;
    return node;
  }
  if (isSeq(node) && Array.isArray(old) && Array.isArray(next)) {
    const items: unknown[] = [];
    let at = 0;
    for (const [index, item] of node.items.entries()) {
      const was = (old[index] ?? null) as Json;
      const found = next.findIndex((one, place) => place >= at && isAlike(was, one));
      if (found < 0) continue;
      for (const added of next.slice(at, found)) items.push(nodeOf(added));
      items.push(reshaped(item, was, (next[found] ?? null) as Json));
      at = found + 1;
    }
    for (const added of next.slice(at)) items.push(nodeOf(added));
    node.items = items as never;
    if (old.length === 0) node.flow = false;
    return node;
  }
  const made = nodeOf(next);
  if (isScalar(node) && node.comment) made.comment = node.comment;
  if ((isScalar(node) || isMapNode(node) || isSeq(node)) && node.commentBefore) {
    made.commentBefore = node.commentBefore;
  }
  return made;
}
