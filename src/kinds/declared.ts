import type { KindName } from '../base/kind-names.js';
import type { Place, Span } from '../base/problems.js';
import type { Fields } from '../base/values.js';

/** `id`, `name`, or `backend_id` and `type`. */
export interface Identity {
  readonly [part: string]: string;
}

/** The objects that a document about many is about: the named ones, and those that match. */
export interface Selector {
  readonly named: readonly Identity[];
  /** All keys must hold. */
  readonly match?: Fields;
  /** Those that match and are left out. */
  readonly except?: readonly Identity[];
  /** Fewer objects are an error. */
  readonly atLeast?: number;
}

/** Where a document is written. Computed on demand, since only problems need it. */
export interface Places {
  /** The line of the document, cheaper than its place. */
  readonly line: Pick<Place, 'file' | 'inProject' | 'line'>;
  /** The place of a field, or of the document's first key if the field is unknown or left out. */
  of(...path: readonly (string | number)[]): Place;
  /** The place of a part of a field's text in its body file, or the field's place in the manifest if it has none. */
  within(field: string, part: Span | undefined): Place;
  /** Of several documents about one object: the places that declare a field or a part of it. */
  all?(path: string): readonly Place[];
}

/** A checked manifest document: plain data, with body files read and secrets wrapped. */
export interface Declared {
  readonly kind: KindName;
  readonly identity: Identity;
  /** The managed fields that the document mentions. */
  readonly fields: Fields;
  /** `state: absent` */
  readonly absent: boolean;
  /** Whether the object is created if the server doesn't have it: `create: true`, here or in the configuration. */
  readonly creates?: true;
  /** The id of the deleted object that it replaces. */
  readonly replaces?: string;
  /** `whole: [...]` */
  readonly whole: readonly string[];
  /** `ignored: [...]` */
  readonly ignored: readonly string[];
  /** The number of its regeneration, such as `did_generation`. */
  readonly generation?: number;
  /** It comes from a journal, so its names may be outdated. */
  readonly remembered?: true;
  /** Of a document about many objects: which. */
  readonly selector?: Selector;
  /** Why its names can't be resolved, or documents contradict each other. */
  readonly reason?: string;
  /** The members of sets that it removes because their access has ended, by field. */
  readonly ended?: { readonly [field: string]: readonly string[] };
  /** Conditions under which it was declared for this object; each must still hold before a write. */
  readonly conditions?: readonly Fields[];
  readonly places: Places;
}
