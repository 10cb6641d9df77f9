import { kinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { knownFields } from '../source/schema-at.js';
import type { Path } from '../source/tree.js';

/** What to say about a field that the kind doesn't have, where it is known from elsewhere. */
export function fieldHint(kind: Kind, field: string, path: Path): string | undefined {
  if (path.length > 0) return undefined;
  if (kind.onlyAnswered?.has(field) === true) {
    return `the server answers with "${field}", but no operation changes it`;
  }
  const others = kinds.filter((other) => other !== kind && fieldsOf(other).has(field));
  if (others.length === 0) return undefined;
  return `"${field}" is a field of ${others.map(({ name }) => name).join(' and ')}`;
}

const fields = new Map<Kind, ReadonlySet<string>>();

function fieldsOf(kind: Kind): ReadonlySet<string> {
  const known = fields.get(kind) ?? new Set(knownFields(kind.schema, []));
  fields.set(kind, known);
  return known;
}
