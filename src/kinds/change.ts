import type { Place, ProblemCode } from '../base/problems.js';
import type { Value } from '../base/values.js';
import type { FieldType } from './fields.js';

/**
 * - `update`, `delete`, `regenerate`: what will be done to the server.
 * - `adopt`: recorded in the state, nothing is sent.
 * - `blocked`: declared, but it can't be done as things are.
 * - `unchanged`: declared, and already so.
 */
export type Action = 'update' | 'delete' | 'regenerate' | 'adopt' | 'blocked' | 'unchanged';

/** One difference. */
export interface FieldChange {
  /** The field, or the part of it that differs. */
  readonly path: string;
  /** How its values are compared. */
  readonly type: FieldType['type'];
  /** The present value; undefined if it isn't known. */
  readonly before: Value | undefined;
  /** The declared value. */
  readonly after: Value;
  /** Whether every report holds the values back. */
  readonly sensitive: boolean;
  /** Lists of the server confirmed the names in it, which then need no ids beside them. */
  readonly confirmed?: boolean;
  /**
   * Where the object is deleted: whether a text that the server has built in takes the place, or the field is gone. Of a key of
   * a map that it is removed, which null is not.
   */
  readonly becomes?: 'built-in' | 'gone' | 'removed';
  /** Of a key of a map that wasn't there before, which null is not. */
  readonly was?: 'absent';
  /**
   * What the server had when idops last knew it, if it shows something else now. `run` left it so; null if it was only read. `declared`
   * if something else is declared by now too, or if no manifest declares it: then it is shown, and stays as it is.
   */
  readonly drift?: {
    readonly recorded: Value;
    readonly run: string | null;
    readonly declared?: 'changed' | 'nowhere';
  };
}

/** What a warning is about; without a column its message says the place. */
export type WarningPlace = Pick<Place, 'file' | 'inProject' | 'line'> & { readonly column?: number };

/** Something a reviewer should know; it stops nothing. */
export interface PlanWarning {
  /** A stable code; docs/errors.md explains each. */
  readonly code: ProblemCode;
  /** What a reviewer should know, in one sentence. */
  readonly message: string;
  /** What it is about, where that is another place than the declaration of its object. */
  readonly place?: WarningPlace;
  /** All places, that one first, where there are several. */
  readonly places?: readonly WarningPlace[];
  /** How many more places there are, where those are too many. */
  readonly morePlaces?: number;
}
