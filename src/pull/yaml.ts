import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { escapeText, jsonText } from '../base/escape.js';
import { isUuid } from '../base/identifiers.js';
import { type ExactNumber, isMap, type Json } from '../base/values.js';

/** The YAML of a scalar: numbers with all digits, texts in quotes if necessary. */
class ScalarText {
  readonly text: string;

  constructor(value: null | boolean | number | ExactNumber | string) {
    this.text = typeof value === 'string' ? quoted(value) : value === null ? 'null' : String(value);
  }
}

/** Texts that every YAML parser reads as a text. */
const plainText = /^[A-Za-z][A-Za-z0-9_-]*(?:[ .@/:][A-Za-z0-9_-]+)*$/;
/** Words that some YAML parsers read as another type. */
const notText = /^(?:null|true|false|yes|no|on|off|y|n|inf|nan)$/i;

function quoted(text: string): string {
  const isPlain = text.length <= 200 && plainText.test(text) && !notText.test(text);
  return isPlain || isUuid(text) ? text : jsonText(text).trimEnd();
}

const options = {
  // Existing scalars keep their notation, since none is read as a number.
  schema: 'failsafe',
  resolveKnownTags: false,
  customTags: (tags: object[]) => [
    {
      tag: 'tag:yaml.org,2002:str',
      default: true,
      identify: (value: unknown) => value instanceof ScalarText,
      resolve: (text: string) => text,
      stringify: ({ value }: { value: unknown }) => (value instanceof ScalarText ? value.text : ''),
    },
    ...tags,
  ],
} as const;

/** Parser options that keep everything except intended edits. */
export const losslessParseOptions = {
  ...options,
  uniqueKeys: false,
  merge: false,
  strict: true,
  logLevel: 'silent',
  prettyErrors: false,
  keepSourceTokens: true,
} as const;

/** Whether a block scalar keeps a text of several lines unchanged. */
function fitsBlock(text: string): boolean {
  if (!text.includes('\n') || /^\s|\n\n$/.test(text)) return false;
  return text.split('\n').every((line) => {
    const visible = line.replaceAll('\t', ' ');
    return !line.startsWith('\t') && escapeText(visible) === visible;
  });
}

export function createNode(value: Json): Scalar | YAMLMap | YAMLSeq {
  if (typeof value === 'string' && fitsBlock(value)) {
    const block = new Scalar(value);
    block.type = 'BLOCK_LITERAL';
    return block;
  }
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    list.items = value.map(createNode);
    list.flow = value.length === 0;
    return list;
  }
  if (isMap(value)) {
    const map = new YAMLMap();
    const members = Object.entries(value);
    map.items = members.map(([key, member]) => createPair(key, createNode(member ?? null)));
    map.flow = members.length === 0 || (members.length === 1 && members[0]?.[0] === 'file');
    return map;
  }
  return new Scalar(new ScalarText(value as Exclude<Json, Json[] | { [key: string]: Json }>));
}

export function createPair(key: string, value: ReturnType<typeof createNode>): Pair {
  return new Pair(new Scalar(new ScalarText(key)), value);
}

/** The YAML of a document, with a one-line comment. */
export function documentText(members: { readonly [key: string]: Json }, comment: string | null): string {
  const map = createNode({ ...members }) as YAMLMap;
  const [first] = map.items;
  if (comment !== null && first !== undefined) (first.key as Scalar).commentBefore = ` ${comment}`;
  const document = new Document(null, options as never);
  document.contents = map as never;
  return document.toString({
    lineWidth: 0,
    blockQuote: 'literal',
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
    flowCollectionPadding: false,
  });
}
