import { type MapNode, type Member, mapNode, type Node } from '../yaml/tree.js';

/** Lays one map over another: maps merge, everything else replaces. Places stay those of what was taken. */
export function merge(base: MapNode, over: MapNode): MapNode {
  const entries = new Map<string, Member>(base.entries);
  for (const [name, entry] of over.entries) {
    const below = entries.get(name)?.value;
    // The ways to authenticate exclude each other: an environment's replaces the one below.
    const both = below?.type === 'map' && entry.value.type === 'map' && name !== 'auth';
    entries.set(name, both ? { key: entry.key, value: merge(below, entry.value) } : entry);
  }
  return mapNode(base.range, entries);
}

/** A map without some of its members. */
export function without(node: MapNode, drop: (name: string, value: Node) => boolean): MapNode {
  return mapNode(node.range, new Map([...node.entries].filter(([name, { value }]) => !drop(name, value))));
}
