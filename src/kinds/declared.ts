import type { KindName } from '../base/kind-names.js';
import type { Place, Span } from '../base/problems.js';
import type { Fields } from '../base/values.js';

/** What names an object: `id`, `name`, or `backend_id` and `type`. */
export interface Identity {
  readonly [part: string]: string;
}

/**
 * One manifest document after checking: plain data, with body files read and secrets wrapped. It is declared as a class
 * since a copy by `...` would lose its places, which the compiler then tells: `altered` makes one that has them.
 */
export declare abstract class Declared {
  readonly kind: KindName;
  readonly identity: Identity;
  /** The managed fields: what the document mentions, beside identity and directives. */
  readonly fields: Fields;
  /** `state: absent`. */
  readonly absent: boolean;
  /** `whole: [...]`: the maps that are declared whole. */
  readonly whole: readonly string[];
  /** `ignored: [...]`: the fields that may be declared although the profile's server ignores them. */
  readonly ignored: readonly string[];
  /** `did_generation` of a client. */
  readonly generation?: number;
  /** It comes from a journal and not from a manifest, so that names in it may be old ones. */
  readonly remembered?: true;
  /** The document's first key. */
  get place(): Place;
  /** The line of it, which costs next to nothing. */
  get declaredAt(): Pick<Place, 'file' | 'inProject' | 'line'>;
  /** Where a field stands, for warnings; the document's own place where it isn't known. */
  placeOf(...path: (string | number)[]): Place;
  /**
   * Where a part of a field's text stands in its own file, which is its file as a whole without a part; the field's place in the
   * manifest if it has no file.
   */
  placeWithin(field: string, part: Span | undefined): Place;
}

/** The same document with something else in it. */
export function altered(
  declared: Declared,
  changes: Partial<Pick<Declared, 'fields' | 'absent' | 'whole' | 'remembered'>>,
): Declared {
  return {
    ...declared,
    ...changes,
    get place() {
      return declared.place;
    },
    get declaredAt() {
      return declared.declaredAt;
    },
    placeOf: (...path) => declared.placeOf(...path),
    placeWithin: (field, part) => declared.placeWithin(field, part),
  };
}
