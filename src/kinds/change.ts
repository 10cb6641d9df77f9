import type { Place, ProblemCode } from '../base/problems.js';
import type { Value } from '../base/values.js';
import type { FieldType } from './fields.js';

/**
 * - `create`, `update`, `delete`, `regenerate`: changes the server.
 * - `adopt`: recorded in the state, nothing is sent.
 * - `blocked`: it can't be done as things are.
 * - `unchanged`: nothing to do.
 */
export type Action = 'create' | 'update' | 'delete' | 'regenerate' | 'adopt' | 'blocked' | 'unchanged';

/** A field that changes. */
export interface FieldChange {
  /** The field, or a part of it. */
  readonly path: string;
  /** The type of the field. */
  readonly type: FieldType['type'];
  /** The present value; undefined if unknown. */
  readonly before: Value | undefined;
  /** The declared value. */
  readonly after: Value;
  /** Whether reports hide the values. */
  readonly sensitive: boolean;
  /** Whether only named members of a set are managed, so that `before` and `after` have no others. */
  readonly byMember?: true;
  /** Whether lists of the server confirmed the names in it, so that they need no ids. */
  readonly confirmed?: boolean;
  /** What a deletion leaves: the built-in text, or nothing. `removed` for a key of a map, unlike null. */
  readonly becomes?: 'built-in' | 'gone' | 'removed';
  /** Where it is declared, if several documents declare the object. */
  readonly places?: readonly WarningPlace[];
  /** For a key of a map that didn't exist, unlike null; `new` for a field of a new object. */
  readonly was?: 'absent' | 'new';
  /**
   * The recorded value, if the server shows another one now; `run` wrote it, or null if it was only read. `declared`: the declaration
   * changed as well, or no manifest declares the field, which then stays as it is.
   */
  readonly drift?: {
    readonly recorded: Value;
    readonly run: string | null;
    readonly declared?: 'changed' | 'nowhere';
  };
}

/** A place that a warning is about. */
export type WarningPlace = Pick<Place, 'file' | 'inProject' | 'line'> & { readonly column?: number };

/** Information for a reviewer; it stops nothing. */
export interface PlanWarning {
  /** The stable code. */
  readonly code: ProblemCode;
  /** The message for people. */
  readonly message: string;
  /** If it isn't the declaration of the object. */
  readonly place?: WarningPlace;
  /** All places, `place` first, if there are several. */
  readonly places?: readonly WarningPlace[];
  /** How many further places there are. */
  readonly morePlaces?: number;
}
