import type { Place } from '../base/problems.js';
import type { Declared, Kind } from '../kinds/kind.js';
import type { MapNode } from '../source/tree.js';

/** Which object a document is about, whatever is wrong with the rest of it. */
export type Meant = Pick<Declared, 'kind' | 'identity' | 'place'>;

/** What stands in the document in plain words to name its object; nothing where that isn't all that is needed. */
export function meantBy(kind: Kind, root: MapNode, placed: () => Place): { readonly meant?: Meant } {
  const identity: { [part: string]: string } = {};
  for (const part of kind.identity) {
    const node = root.entries.get(part)?.value;
    if (node === undefined) continue;
    // What a variable gives isn't kept for a document that isn't right.
    if (node.type !== 'scalar' || typeof node.value !== 'string' || node.value.includes('$')) return {};
    identity[part] = node.value;
  }
  const names = kind.identity.filter((part) => part !== 'id');
  const tells = identity.id !== undefined || (names.length > 0 && names.every((part) => part in identity));
  if (!tells) return {};
  let place: Place | undefined;
  return {
    meant: {
      kind: kind.name,
      identity,
      get place() {
        place ??= placed();
        return place;
      },
    },
  };
}
