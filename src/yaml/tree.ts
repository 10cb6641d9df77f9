import type { Span } from '../base/problems.js';
import type { ExactNumber } from '../base/values.js';

interface Base {
  readonly range: Span;
  /** How many nodes it is, aliases expanded. */
  readonly size: number;
  /** How many levels are below it. */
  readonly height: number;
}

export interface ScalarNode extends Base {
  readonly type: 'scalar';
  readonly value: null | boolean | number | ExactNumber | string;
  /** Written without quotes and not as a block. */
  readonly plain: boolean;
  /** As it is written, for a plain one. */
  readonly source: string;
  /** Whether what was to stand here can't be known, and was told already. */
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

/** A YAML value with its place. An alias is the value that it stands for, at the alias's place. */
export type Node = ScalarNode | ListNode | MapNode;

export type Path = readonly (string | number)[];

/** What stands at a path, and how far the path led. */
export interface Found {
  readonly node: Node;
  /** The key that the node stands under; undefined for a list's element and for the root. */
  readonly key: Span | undefined;
  /** Whether the whole path led somewhere. */
  readonly complete: boolean;
}

/** Follows a path from a node as far as it goes. */
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

/** Builds a map node, counting what is in it. */
export function mapNode(range: Span, entries: ReadonlyMap<string, Member>): MapNode {
  return { type: 'map', range, entries, ...measure([...entries.values()].map(({ value }) => value)) };
}

/** Builds a list node, counting what is in it. */
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

/** The first key of a map, or the whole of anything else. */
export function startOf(node: Node): Span {
  if (node.type !== 'map') return node.range;
  const [first] = node.entries.values();
  return first?.key ?? node.range;
}

/** A decimal number of YAML 1.2 as JSON writes it, with all its digits; undefined where the text is none. */
export function decimalText(text: string): string | undefined {
  const parts = /^([-+]?)(?=\.?\d)(\d*)(?:\.(\d*))?([eE][-+]?\d+)?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = ''] = parts;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
}
