import { nearest } from '../base/nearest.js';
import { error, type Problem } from '../base/problems.js';
import { kinds } from '../kinds/index.js';
import type { SourceFile } from '../source/file.js';
import { knownFields } from '../source/schema-at.js';
import type { MapNode } from '../source/tree.js';

/** A document whose key "kind" is mistyped, as it was meant, so that the rest of it is checked as well. */
export function withKind(
  root: MapNode,
  file: SourceFile,
): { readonly root: MapNode; readonly problems: readonly Problem[] } {
  if (root.entries.has('kind')) return { root, problems: [] };
  const isField = (key: string): boolean => kinds.some(({ schema }) => knownFields(schema, []).includes(key));
  for (const [key, member] of root.entries) {
    if (nearest(key, ['kind']) === undefined || isField(key)) continue;
    const entries = new Map([...root.entries].map(([name, one]) => [name === key ? 'kind' : name, one]));
    const message = `unknown field "${key}" in a manifest document, did you mean "kind"?`;
    return {
      root: { ...root, entries },
      problems: [error('unknown-field', message, [file.place(member.key)])],
    };
  }
  return { root, problems: [] };
}
