import type { Place, ProblemCode } from '../base/problems.js';
import type { Value } from '../base/values.js';
import type { FieldType } from './fields.js';

/**
 * - `create`, `update`, `delete`, `regenerate`: changes the server.
 * - `adopt`: records the object in the state and sends nothing.
 * - `blocked`: can't be applied; the reason says why.
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
  /** Whether the server's lists confirmed its names, so reports can omit the ids. */
  readonly confirmed?: boolean;
  /** What a deletion leaves: the built-in text or nothing. `removed` means that the key is removed from its map, not set to null. */
  readonly becomes?: 'built-in' | 'gone' | 'removed';
  /** Where it is declared, if several documents declare the object. */
  readonly places?: readonly WarningPlace[];
  /** `absent` if the key wasn't in its map (not null); `new` for a field of a new object. */
  readonly was?: 'absent' | 'new';
  /**
   * The recorded value if the server shows another one now, and the run that wrote it (null if idops only read it). `declared` says
   * whether the manifest changed as well, or no manifest declares the field, which then stays unchanged.
   */
  readonly drift?: {
    readonly recorded: Value;
    readonly run: string | null;
    readonly declared?: 'changed' | 'nowhere';
  };
}

/** A place that a warning is about. */
export type WarningPlace = Pick<Place, 'file' | 'inProject' | 'line'> & { readonly column?: number };

/** Information for a reviewer. It doesn't block anything. */
export interface PlanWarning {
  /** The stable code. */
  readonly code: ProblemCode;
  /** The message for people. */
  readonly message: string;
  /** The place, if it isn't where the object is declared. */
  readonly place?: WarningPlace;
  /** If there are several places: all of them, `place` first. */
  readonly places?: readonly WarningPlace[];
  /** The number of further places. */
  readonly morePlaces?: number;
}
