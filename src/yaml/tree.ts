import type { Span } from '../base/problems.js';
import type { ExactNumber } from '../base/values.js';

interface Base {
  readonly range: Span;
  /** The number of nodes, with aliases expanded. */
  readonly size: number;
  /** The number of levels below it. */
  readonly height: number;
}

export interface ScalarNode extends Base {
  readonly type: 'scalar';
  readonly value: null | boolean | number | ExactNumber | string;
  /** Whether it is neither quoted nor a block. */
  readonly plain: boolean;
  /** The source of a plain scalar. */
  readonly source: string;
  /** Whether the value is unknown because of a reported problem. */
  readonly unknown?: true;
}

export interface ListNode extends Base {
  readonly type: 'list';
  readonly items: readonly Node[];
}

export interface MapNode extends Base {
  readonly type: 'map';
  readonly entries: ReadonlyMap<string, Member>;
}

export interface Member {
  readonly key: Span;
  readonly value: Node;
}

/** A YAML value with its place. An alias becomes its value, at the place of the alias. */
export type Node = ScalarNode | ListNode | MapNode;

export type Path = readonly (string | number)[];

/** The result of `find`. */
export interface Found {
  readonly node: Node;
  /** The node's key; undefined for an element of a list and for the root. */
  readonly key: Span | undefined;
  /** Whether the whole path exists. */
  readonly complete: boolean;
}

/** Follows a path until a step doesn't exist. */
export function find(root: Node, path: Path): Found {
  let found: Found = { node: root, key: undefined, complete: true };
  for (const step of path) {
    const { node } = found;
    if (node.type === 'map') {
      const entry = node.entries.get(String(step));
      if (entry === undefined) return { ...found, complete: false };
      found = { node: entry.value, key: entry.key, complete: true };
    } else if (node.type === 'list') {
      const item = node.items[Number(step)];
      if (item === undefined) return { ...found, complete: false };
      found = { node: item, key: undefined, complete: true };
    } else {
      return { ...found, complete: false };
    }
  }
  return found;
}

export function mapNode(range: Span, entries: ReadonlyMap<string, Member>): MapNode {
  return { type: 'map', range, entries, ...measure([...entries.values()].map(({ value }) => value)) };
}

export function listNode(range: Span, items: readonly Node[]): ListNode {
  return { type: 'list', range, items, ...measure(items) };
}

function measure(children: readonly Node[]): { size: number; height: number } {
  let size = 1;
  let height = 0;
  for (const child of children) {
    size += child.size;
    height = Math.max(height, child.height + 1);
  }
  return { size, height };
}

/** The first key of a map, or the range of any other node. */
export function startOf(node: Node): Span {
  if (node.type !== 'map') return node.range;
  const [first] = node.entries.values();
  return first?.key ?? node.range;
}

/** A decimal number of YAML 1.2 in JSON's notation, with all digits; undefined if the text isn't one. */
export function decimalText(text: string): string | undefined {
  const parts = /^([-+]?)(?=\.?\d)(\d*)(?:\.(\d*))?([eE][-+]?\d+)?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = ''] = parts;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
}
