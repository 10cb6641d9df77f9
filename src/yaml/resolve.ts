import { type Json, UNKNOWN_TEXT } from '../base/values.js';
import type { SourceFile } from './source-file.js';
import type { Node, Path, ScalarNode } from './tree.js';
import type { Variables } from './variables.js';

/** A scalar that contains variables. */
export interface Note {
  readonly path: Path;
  readonly node: ScalarNode;
  /** Whether it comes, even in part, from a process variable. */
  readonly tainted: boolean;
  /** Whether its value and type are unknown. */
  readonly unknown: boolean;
}

export function pathKey(path: readonly PropertyKey[]): string {
  return path.map(String).join('\0');
}

/** The plain value of a node, and notes by `pathKey`. If `variables` is null, scalars with variables are unknown. */
export function resolve(
  root: Node,
  file: SourceFile,
  variables: Variables | null,
  under: Path = [],
): { readonly value: Json; readonly notes: ReadonlyMap<string, Note> } {
  const notes = new Map<string, Note>();
  const path: (string | number)[] = [];
  const walk = (node: Node): Json => {
    if (node.type === 'scalar') {
      const note = (tainted: boolean, unknown: boolean) =>
        notes.set(pathKey(path), { path: [...path], node, tainted, unknown });
      if (node.unknown === true) {
        note(false, true);
        return UNKNOWN_TEXT;
      }
      if (typeof node.value !== 'string' || !node.value.includes('$')) return node.value;
      if (variables === null) {
        if (node.value.includes('${')) note(false, true);
        return node.value;
      }
      const { text, tainted, unknown } = variables.resolve(node.value, node, file, [...under, ...path]);
      note(tainted, unknown);
      return unknown ? UNKNOWN_TEXT : text;
    }
    if (node.type === 'list') {
      return node.items.map((item, index) => {
        path.push(index);
        const value = walk(item);
        path.pop();
        return value;
      });
    }
    const map: { [key: string]: Json } = {};
    for (const [key, entry] of node.entries) {
      path.push(key);
      map[key] = walk(entry.value);
      path.pop();
    }
    return map;
  };
  return { value: walk(root), notes };
}
