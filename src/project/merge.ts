import { type MapNode, type Member, mapNode, type Node } from '../source/tree.js';

/** Lays one map over another: maps merge, everything else replaces. Places stay those of what was taken. */
export function merge(base: MapNode, over: MapNode, exclusive: ReadonlySet<string>): MapNode {
  const entries = new Map<string, Member>(base.entries);
  for (const [name, entry] of over.entries) {
    const below = entries.get(name);
    const both =
      below !== undefined && below.value.type === 'map' && entry.value.type === 'map' && !exclusive.has(name);
    entries.set(
      name,
      both ? { key: entry.key, value: mergeMaps(below.value, entry.value, exclusive) } : entry,
    );
  }
  return mapNode(base.range, entries);
}

function mergeMaps(below: Node, above: Node, exclusive: ReadonlySet<string>): Node {
  return below.type === 'map' && above.type === 'map' ? merge(below, above, exclusive) : above;
}

/** A map without some of its members. */
export function without(node: MapNode, drop: (name: string, value: Node) => boolean): MapNode {
  return mapNode(node.range, new Map([...node.entries].filter(([name, { value }]) => !drop(name, value))));
}
