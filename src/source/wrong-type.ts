import * as z from 'zod';
import { plainNumber } from '../base/json.js';
import { nearest } from '../base/nearest.js';
import { looksLikeCredential } from '../base/secret-names.js';
import { ExactNumber } from '../base/values.js';
import type { SourceFile } from './file.js';
import { decimalText } from './number.js';
import { knownFields, schemasAt } from './schema-at.js';
import type { Node, Path, ScalarNode } from './tree.js';

/** A value of another type than its schema takes. */
export interface Mistyped {
  /** What zod expected; undefined where it was one of several. */
  readonly expected: string | undefined;
  readonly node: Node;
  readonly path: Path;
  readonly schema: unknown;
  readonly file: SourceFile;
}

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

/** A type as a message names it. */
export function typeName(expected: string | undefined): string {
  return typeNames[expected ?? ''] ?? expected ?? 'another value';
}

/** The type of what stands there, never the value. */
export function typeOf(node: Node): string {
  if (node.type === 'list') return 'a list';
  if (node.type === 'map') return 'a map';
  if (node.value === null) return node.source === '' ? 'nothing' : 'null';
  if (node.value instanceof ExactNumber)
    return plainNumber(node.value.text) === undefined ? 'a number that would be rounded' : 'a number';
  return typeof node.value === 'boolean' ? 'a boolean' : `a ${typeof node.value}`;
}

/** More of a text isn't repeated. */
const MOST = 40;

/** What stands there, as it is written, unless it is hidden or comes from a variable. */
export function gotOf(node: Node, file: SourceFile): string {
  const type = typeOf(node);
  const written = writtenOf(node, file);
  if (written === undefined || node.type !== 'scalar' || node.value === null) return type;
  if (typeof node.value === 'string') return `the string ${JSON.stringify(written)}`;
  return `${type.replace(/^a /, 'the ')}${type === 'a number' || type === 'a boolean' ? ` ${written}` : ''}`;
}

function writtenOf(node: Node, file: SourceFile): string | undefined {
  if (node.type !== 'scalar' || file.hides(node.range)) return undefined;
  const text = typeof node.value === 'string' ? node.value : node.source;
  const unfit = text.length > MOST || text.includes('$') || /\p{C}/u.test(text) || looksLikeCredential(text);
  return unfit ? undefined : text;
}

/** Where `key:value` was meant for a key with its value; the key is told where it is a known one, or nothing is hidden. */
export function gluedHint(node: Node, file: SourceFile, known: readonly string[]): string | undefined {
  if (node.type !== 'scalar' || typeof node.value !== 'string' || !node.plain) return undefined;
  const glued = /^([A-Za-z_][\w-]{0,60}):(?=[^\s/])/;
  const [first = '', ...more] = file.text.slice(node.range.start, node.range.end).split('\n');
  const key = glued.exec(first)?.[1];
  if (key === undefined) return undefined;
  const where = more.some((line) => glued.test(line.trim())) ? 'each colon' : 'the colon';
  const tells = known.includes(key) || !file.hides(node.range);
  return `a space is missing behind ${where}${tells ? `: write "${key}: …"` : ''}`;
}

/** What to write in the place of what has the wrong type. */
export function typeHint(mistyped: Mistyped): string | undefined {
  const { node, expected } = mistyped;
  if (node.type === 'scalar' && node.value === null) return 'write a value, or remove the key';
  if (expected === 'boolean') return node.type === 'scalar' ? booleanHint(node) : undefined;
  if (expected === 'number' || expected === 'int') return numberHint(node, expected);
  if (expected === 'array') return listHint(mistyped);
  if (expected === 'object' || expected === 'record') return mapHint(mistyped);
  return textHint(mistyped);
}

const yes: readonly string[] = ['yes', 'y', 'on', '1'];
const no: readonly string[] = ['no', 'n', 'off', '0'];

function booleanHint(node: ScalarNode): string {
  const text = (typeof node.value === 'string' ? node.value : node.source).toLowerCase();
  if (typeof node.value === 'string' && !node.plain && fromText('boolean', node.value) !== undefined)
    return 'write it without quotes';
  const meant = yes.includes(text) ? 'true' : no.includes(text) ? 'false' : undefined;
  if (meant === undefined) {
    const near = nearest(text, ['true', 'false']);
    return near === undefined ? 'write true or false' : `did you mean ${near}?`;
  }
  const number = typeof node.value === 'string' ? 'text' : 'number';
  return `in YAML 1.2 ${text} is a ${number}: write ${meant}`;
}

function numberHint(node: Node, expected: string): string | undefined {
  if (node.type !== 'scalar') return undefined;
  if (typeof node.value === 'string')
    return node.plain || fromText(expected, node.value) === undefined ? undefined : 'write it without quotes';
  return expected === 'int' && typeof node.value === 'number' ? 'write it without a fraction' : undefined;
}

function textHint({ node, file, path, schema }: Mistyped): string | undefined {
  if (node.type === 'map') {
    const known = knownFields(schema, path);
    for (const key of node.entries.keys()) {
      const similar = known.includes(key) ? undefined : nearest(key, known);
      if (similar !== undefined) return `did you mean "${similar}" for "${key}"?`;
    }
    return undefined;
  }
  if (node.type === 'list')
    return node.items.length === 1 ? 'write it without the [] or the "- "' : undefined;
  if (typeof node.value === 'string') return undefined;
  const written = writtenOf(node, file);
  return `put it in quotes${written === undefined ? '' : `: "${written}"`}`;
}

/** `-acme` on a line of its own, which is a text. */
function isDashed(node: Node, file: SourceFile): boolean {
  if (node.type !== 'scalar' || typeof node.value !== 'string' || !node.plain) return false;
  const { start } = node.range;
  const before = file.text.slice(file.text.lastIndexOf('\n', start - 1) + 1, start);
  return before.trim() === '' && /^-[^\s-]/.test(file.text.slice(start, start + 2));
}

/** A text where a list is due: the list with it, or with the map that says the same. */
function listHint({ node, file, path, schema }: Mistyped): string {
  if (isDashed(node, file)) return 'a space is missing behind the dash: begin each element with "- "';
  const element = [...path, 0];
  const written = writtenOf(node, file);
  const takesText = schemasAt(schema, element).some((one) => one instanceof z.ZodString);
  if (node.type === 'scalar' && written !== undefined && takesText) {
    const parts = written.split(/,\s*|\s+/).filter(Boolean);
    return `write it as a list: [${parts.map(flowText).join(', ')}]`;
  }
  const map = node.type === 'scalar' ? mapOf(written, knownFields(schema, element)) : undefined;
  if (map !== undefined) return `write it as a list: [${map}]`;
  return node.type === 'map'
    ? 'begin it with "- ", or put it in []'
    : 'write each element on a line that begins with "- "';
}

function mapHint({ node, file, path, schema }: Mistyped): string | undefined {
  const [only, ...more] = node.type === 'list' ? node.items : [];
  if (only?.type === 'map' && more.length === 0) return 'write it without the [] or the "- "';
  const fields = knownFields(schema, path);
  const glued = gluedHint(node, file, fields);
  if (glued !== undefined) return glued;
  const map = mapOf(writtenOf(node, file), fields);
  if (map !== undefined) return `write it as ${map}`;
  return fields.length === 0
    ? 'write it as {key: value}, or as "key: value" on lines below, indented further'
    : `write its fields on lines below, indented further: ${fields.join(', ')}`;
}

/** What a text says as a map with a name. */
function mapOf(written: string | undefined, fields: readonly string[]): string | undefined {
  if (!fields.includes('name')) return undefined;
  const name = written === undefined ? '…' : flowText(written);
  return `{name: ${name}${fields.includes('label') ? ', label: …' : ''}}`;
}

/** A text inside brackets. */
function flowText(text: string): string {
  return /^[A-Za-z_][\w.@/-]*$/.test(text) ? text : JSON.stringify(text);
}

/** What a text means where another type is expected, by the rules of YAML 1.2. */
export function fromText(expected: string | undefined, text: string): boolean | number | undefined {
  if (expected === 'boolean') {
    return /^(true|True|TRUE)$/.test(text) ? true : /^(false|False|FALSE)$/.test(text) ? false : undefined;
  }
  const number = expected === 'number' || expected === 'int';
  const written = number ? decimalText(text) : undefined;
  return written === undefined ? undefined : plainNumber(written);
}
