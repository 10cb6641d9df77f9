import type { KindName } from '../base/kind-names.js';
import type { Place, Span } from '../base/problems.js';
import type { Fields } from '../base/values.js';

/** `id`, `name`, or `backend_id` and `type`. */
export interface Identity {
  readonly [part: string]: string;
}

/** The objects that a bulk document selects: those that it names and those that match. */
export interface Selector {
  readonly named: readonly Identity[];
  /** An object must meet all of these conditions. */
  readonly match?: Fields;
  /** Objects to leave out although they match. */
  readonly except?: readonly Identity[];
  /** The least number of objects; fewer are an error. */
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
  /** If several documents declare the object: every place that declares a field or a part of it. */
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
  /** The id of the deleted object that this one replaces. */
  readonly replaces?: string;
  /** `whole: [...]` */
  readonly whole: readonly string[];
  /** `ignored: [...]` */
  readonly ignored: readonly string[];
  /** The number of its regeneration, such as `did_generation`. */
  readonly generation?: number;
  /** True if it was made from a journal, so its names may be outdated. */
  readonly remembered?: true;
  /** Which objects a bulk document selects. */
  readonly selector?: Selector;
  /** Why the document is blocked: a name can't be resolved, or documents contradict each other. */
  readonly reason?: string;
  /** The members of sets that it removes because their access has ended, by field. */
  readonly ended?: { readonly [field: string]: readonly string[] };
  /** Other members whose end has passed, by id or name, by field: whoever had one before keeps it. */
  readonly kept?: { readonly [field: string]: readonly string[] };
  /** The conditions by which the object was selected. Each is checked again before a write. */
  readonly conditions?: readonly Fields[];
  readonly places: Places;
}
