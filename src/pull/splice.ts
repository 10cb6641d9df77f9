import {
  type Document,
  isAlias,
  isMap as isMapNode,
  isScalar,
  isSeq,
  type Pair,
  parseAllDocuments,
  visit,
  YAMLMap,
} from 'yaml';
import { isMap, type Json, same } from '../base/values.js';
import { SourceFile } from '../source/file.js';
import { resolve } from '../source/resolve.js';
import { parseYaml } from '../source/yaml.js';
import { faithful, nodeOf, pairOf, textOf } from './yaml.js';

/** One field of one document of a file that is to say something else. */
export interface FieldEdit {
  /** Which of the file's documents, counted without empty ones. */
  readonly document: number;
  readonly field: string;
  readonly next: Json;
}

/** A text after its edits, and those that could not be made in place. */
export interface Edited {
  readonly text: string;
  readonly refused: readonly { readonly edit: FieldEdit; readonly reason: string }[];
}

/** The documents of a text as they are written, without their variables being filled in; undefined where it isn't right. */
export function writtenDocuments(text: string): Json[] | undefined {
  const file = new SourceFile({ file: '' }, text);
  const { documents, problems } = parseYaml(file);
  if (problems.some(({ severity }) => severity === 'error')) return undefined;
  return documents.map(({ root }) => resolve(root, file, null).value);
}

/**
 * Writes fields of documents anew and leaves every other character of the text as it is: where maps and lists keep their
 * members, those alone that differ are written; else the whole field, with its comments and order. An edit after which the text would say something else than that is refused.
 */
export function editFields(text: string, edits: readonly FieldEdit[]): Edited {
  for (const isFine of [true, false]) {
    const held: { edit: FieldEdit; reason: string }[] = [];
    const all = tryEdits(text, edits, held, isFine);
    if (all !== undefined) return { text: all, refused: held };
  }
  // One by one, so that those that can be made are made.
  const refused: { edit: FieldEdit; reason: string }[] = [];
  tryEdits(text, edits, refused, false);
  let made = text;
  for (const edit of edits.filter((one) => !refused.some((other) => other.edit === one))) {
    const next = tryEdits(made, [edit], [], true) ?? tryEdits(made, [edit], [], false);
    if (next === undefined)
      refused.push({ edit, reason: "it is written in a way that can't be changed in place" });
    else made = next;
  }
  return { text: made, refused };
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function tryEdits(
  text: string,
  edits: readonly FieldEdit[],
  refused: { edit: FieldEdit; reason: string }[],
  isFine: boolean,
): string | undefined {
  const before = writtenDocuments(text);
  if (before === undefined) return undefined;
  const documents = parseAllDocuments(text, faithful as never) as unknown as Document[];
  const filled = documents.filter(({ contents }) => isMapNode(contents));
  if (filled.length !== before.length) return undefined;
  const expected: Json[] = [...before];
  const splices: Splice[] = [];
  for (const edit of edits) {
    const { document, field, next } = edit;
    const contents = filled[document]?.contents;
    const pair = isMapNode(contents)
      ? contents.items.find(({ key }) => isScalar(key) && key.value === field)
      : undefined;
    const old = expected[document];
    if (pair === undefined || !isMapNode(contents) || !isMap(old)) return undefined;
    if (holdsAnchors(pair)) {
      refused.push({ edit, reason: 'it is, or has in it, an anchor or an alias' });
      continue;
    }
    const whole: Target = {
      isFlow: contents.flow === true,
      pair,
      old: (old[field] ?? null) as Json,
      next,
    };
    for (const target of (isFine ? targetsIn(text, whole) : undefined) ?? [whole]) {
      const splice = spliceOf(text, target);
      if (splice === undefined) return undefined;
      splices.push(splice);
    }
    expected[document] = Object.fromEntries(
      Object.entries(old).map(([key, member]) => [key, key === field ? next : (member as Json)]),
    );
  }
  const made = splices
    .toSorted((a, b) => b.start - a.start)
    .reduce((whole, { start, end, text: part }) => whole.slice(0, start) + part + whole.slice(end), text);
  const after = writtenDocuments(made);
  return after !== undefined && same(after, expected) ? made : undefined;
}

function holdsAnchors(pair: Pair): boolean {
  let found = false;
  visit(pair.value as never, {
    Alias: () => {
      found = true;
    },
    Node: (_, node) => {
      if (!isAlias(node) && node.anchor !== undefined) found = true;
    },
  });
  return found;
}

/** A member of a map that is to say something else. */
interface Target {
  readonly isFlow: boolean;
  readonly pair: Pair;
  readonly old: Json;
  readonly next: Json;
}

/** The innermost members that differ; undefined where what is around them isn't the same any more. */
function targetsIn(text: string, target: Target): Target[] | undefined {
  const { isFlow, pair, old, next } = target;
  const inner = targetsOf(text, pair.value, old, next);
  if (inner !== undefined) return inner;
  const start = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  if (start === undefined) return undefined;
  const isFirstInLine = text.slice(text.lastIndexOf('\n', start - 1) + 1, start).trim() === '';
  return isFlow || isFirstInLine ? [target] : undefined;
}

function targetsOf(text: string, node: unknown, old: Json, next: Json): Target[] | undefined {
  const found: Target[] = [];
  const add = (targets: Target[] | undefined): boolean => {
    found.push(...(targets ?? []));
    return targets !== undefined;
  };
  if (isMapNode(node) && isMap(old) && isMap(next)) {
    const keys = Object.keys(old);
    const isSame = keys.length === Object.keys(next).length && keys.every((key) => Object.hasOwn(next, key));
    if (!isSame || keys.length !== node.items.length) return undefined;
    const isFound = node.items.every((pair) => {
      if (!isScalar(pair.key) || !Object.hasOwn(old, String(pair.key.value))) return false;
      const key = String(pair.key.value);
      const [was, now] = [(old[key] ?? null) as Json, (next[key] ?? null) as Json];
      return (
        same(was, now) || add(targetsIn(text, { isFlow: node.flow === true, pair, old: was, next: now }))
      );
    });
    return isFound ? found : undefined;
  }
  if (isSeq(node) && Array.isArray(old) && Array.isArray(next)) {
    if (old.length !== next.length || old.length !== node.items.length) return undefined;
    const isFound = node.items.every((item, index) => {
      const [was, now] = [(old[index] ?? null) as Json, (next[index] ?? null) as Json];
      return same(was, now) || (isAlike(was, now) && add(targetsOf(text, item, was, now)));
    });
    return isFound ? found : undefined;
  }
  return undefined;
}

/** The new text of a key and its value, and where the old one stands. */
function spliceOf(text: string, { isFlow, pair, old, next }: Target): Splice | undefined {
  const { key, value } = pair;
  if (!isScalar(key) || !key.range) return undefined;
  const [start] = key.range;
  const range = rangeOf(value);
  const end = range === undefined ? text.indexOf(':', key.range[1]) + 1 : range[1];
  if (end <= start) return undefined;
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const indent = text.slice(line, start);
  if (!isFlow && indent.trim() !== '') return undefined;
  const made = new YAMLMap();
  made.flow = isFlow;
  const style = styleOf(text, value, start - line);
  key.commentBefore = undefined as never;
  key.spaceBefore = false;
  pair.value = reshaped(value, old, next);
  withoutComment(pair.value);
  made.items = [pair];
  const whole = textOf(made as never, style);
  let written = isFlow
    ? whole
        .trim()
        .replace(/^\{|\}$/g, '')
        .trim()
    : whole.replace(/\n$/, '');
  if (!isFlow) written = written.split('\n').join(`\n${indent}`);
  // What a block ends with is its own line's end.
  const ending = /\r?\n$/.exec(text.slice(start, end))?.[0] ?? '';
  if (text.includes('\r\n')) written = written.replaceAll('\n', '\r\n');
  return { start, end, text: written + ending };
}

function rangeOf(node: unknown): readonly [number, number] | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return undefined;
  const [start, end] = node.range as readonly unknown[];
  return typeof start === 'number' && typeof end === 'number' ? [start, end] : undefined;
}

/** How what stands there is indented. */
function styleOf(text: string, value: unknown, column: number): { indent: number; indentSeq: boolean } {
  const range = rangeOf(value);
  const isBlock = (isMapNode(value) || isSeq(value)) && value.flow !== true;
  if (range === undefined || !isBlock) return { indent: 2, indentSeq: true };
  const line = text.lastIndexOf('\n', range[0] - 1) + 1;
  const inner = range[0] - line - column;
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

/** Whether two elements of a list are one: the same, or of one id, or without ids of one name. */
function isAlike(old: Json, next: Json): boolean {
  if (same(old, next)) return true;
  if (!isMap(old) || !isMap(next)) return false;
  if (old.id !== undefined || next.id !== undefined) return old.id === next.id;
  return old.name !== undefined && old.name === next.name;
}

/** A text with documents behind those that it has; undefined where its own would say something else then. */
export function appendDocuments(text: string, documents: readonly string[]): string | undefined {
  if (documents.length === 0) return text;
  const before = writtenDocuments(text);
  if (before === undefined) return undefined;
  const isCrlf = text.includes('\r\n');
  const ended = text === '' || text.endsWith('\n') ? text : `${text}${isCrlf ? '\r\n' : '\n'}`;
  const isOpen = before.length === 0 && !/^(?:---|\.\.\.)/m.test(text);
  const added = `${isOpen ? '' : '---\n'}${documents.join('---\n')}`;
  const made = ended + (isCrlf ? added.replaceAll('\n', '\r\n') : added);
  const after = writtenDocuments(made);
  const wanted = documents.map((one) => writtenDocuments(one)?.[0] ?? null);
  return after !== undefined && same(after, [...before, ...wanted]) ? made : undefined;
}
