import type { z } from 'zod';
import type { Place, Problem } from '../problems.js';
import type { Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import type { Fields } from '../values.js';
import type { FieldTypes } from './fields.js';

export type KindName = 'Organization' | 'User' | 'KeyPair' | 'EmailTemplate' | 'Client';

/** One manifest document after checking: plain data, with body files read and secrets wrapped. */
export interface Declared {
  readonly kind: KindName;
  /** What identifies the object: `id`, `name`, or `backend_id` and `type`. */
  readonly identity: { readonly [part: string]: string };
  /** The managed fields: what the document mentions, beside identity and directives. */
  readonly fields: Fields;
  /** `state: absent`. */
  readonly absent: boolean;
  /** `whole: [...]`: the maps that are declared whole. */
  readonly whole: readonly string[];
  /** `did_generation` of a client. */
  readonly generation?: number;
  /** The document's first key. */
  readonly place: Place;
  /** Where a field stands, for warnings; the document's own place where it isn't known. */
  placeOf(...path: (string | number)[]): Place;
}

/** All that is peculiar to a kind of object. */
export interface Kind {
  readonly name: KindName;
  /** As a sentence names one of them. */
  readonly noun: string;
  /** A manifest document of this kind, with its `kind`. */
  readonly schema: z.ZodType;
  /** The keys of a document that identify the object; they are not compared, but for those also in `fields`. */
  readonly identity: readonly string[];
  /** The managed fields, and how each is compared. */
  readonly fields: FieldTypes;
  readonly scopes: { readonly read: Scope | null; readonly write: Scope };
  /** Texts that are equal for two documents of the same object, as far as documents alone can tell. */
  identities(declared: Declared): string[];
  /** Rules across documents and about what a profile's server takes; every problem, each with its place. */
  check(declared: readonly Declared[], profile: Profile): Problem[];
}
