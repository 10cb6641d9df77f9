import { plainNumber } from '../base/json.js';
import { ExactNumber } from '../base/values.js';
import { looksLikeCredential } from '../secrets/names.js';
import type { SourceFile } from './source-file.js';
import type { Node } from './tree.js';
import { decimalText } from './tree.js';

const typeNames: { readonly [type: string]: string } = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  int: 'an integer',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  null: 'null',
};

/** The name of a type in messages. */
export function typeName(expected: string | undefined): string {
  return typeNames[expected ?? ''] ?? expected ?? 'another value';
}

/** The type of a node in messages, without its value. */
export function typeOf(node: Node): string {
  if (node.type === 'list') return 'a list';
  if (node.type === 'map') return 'a map';
  if (node.value === null) return node.source === '' ? 'nothing' : 'null';
  if (node.value instanceof ExactNumber)
    return plainNumber(node.value.text) === undefined ? 'a number that would be rounded' : 'a number';
  return typeof node.value === 'boolean' ? 'a boolean' : `a ${typeof node.value}`;
}

/** Longer texts aren't shown. */
const MAX_SHOWN = 40;

/** The source of a node, or only its type if it is hidden or contains a variable. */
export function describeNode(node: Node, file: SourceFile): string {
  const type = typeOf(node);
  const written = visibleSource(node, file);
  if (written === undefined || node.type !== 'scalar' || node.value === null) return type;
  if (typeof node.value === 'string') return `the string ${JSON.stringify(written)}`;
  return `${type.replace(/^a /, 'the ')}${type === 'a number' || type === 'a boolean' ? ` ${written}` : ''}`;
}

function visibleSource(node: Node, file: SourceFile): string | undefined {
  if (node.type !== 'scalar' || file.hides(node.range)) return undefined;
  const text = typeof node.value === 'string' ? node.value : node.source;
  const isHidden =
    text.length > MAX_SHOWN || text.includes('$') || /\p{C}/u.test(text) || looksLikeCredential(text);
  return isHidden ? undefined : text;
}

const typeHints: { readonly [type: string]: string } = {
  boolean: 'write true or false, without quotes',
  array: 'write each element on a line that begins with "- ", or put all of them in []',
  object: 'write its fields as "key: value" on lines below, indented further',
  record: 'write it as "key: value" on lines below, indented further',
};

/** A hint for a node of the wrong type; `expected` is zod's name of the expected type. */
export function typeHint(expected: string | undefined, node: Node): string | undefined {
  if (node.type === 'scalar' && node.value === null) return 'write a value, or remove the key';
  if (expected === 'number' || expected === 'int') {
    const isQuoted = node.type === 'scalar' && typeof node.value === 'string' && !node.plain;
    return isQuoted ? 'write it without quotes' : undefined;
  }
  if (expected !== undefined && typeHints[expected] !== undefined) return typeHints[expected];
  return node.type === 'scalar' && typeof node.value !== 'string' ? 'put it in quotes' : undefined;
}

/** Converts a text to another type by the rules of YAML 1.2; undefined if it isn't one. */
export function parseText(expected: string | undefined, text: string): boolean | number | undefined {
  if (expected === 'boolean') {
    return /^(true|True|TRUE)$/.test(text) ? true : /^(false|False|FALSE)$/.test(text) ? false : undefined;
  }
  const number = expected === 'number' || expected === 'int';
  const decimal = number ? decimalText(text) : undefined;
  return decimal === undefined ? undefined : plainNumber(decimal);
}
