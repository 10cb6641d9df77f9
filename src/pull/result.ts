import type { Problem } from '../base/problems.js';
import type { Seen } from '../plan/plan.js';
import type { LeftOut } from './fresh.js';
import type { ToSet } from './literal.js';
import type { PulledFile } from './pulled-file.js';

/** What a pull comes to; nothing is written yet. */
export interface PullResult {
  /** Manifests and bodies, and what becomes of each. */
  readonly files: readonly PulledFile[];
  /** How many objects get a document. */
  readonly added: number;
  /** How many documents are changed. */
  readonly updated: number;
  /** How many documents say what the server has already. */
  readonly unchanged: number;
  /** The process variables that stand in the place of secrets: what to set before the next plan. */
  readonly toSet: readonly ToSet[];
  /** What of new objects no document can say; it stays unmanaged. */
  readonly leftOut: readonly LeftOut[];
  /** What stays as it is although the server has something else, each with its place. */
  readonly left: readonly Problem[];
  /** What was asked for by its id and isn't there. */
  readonly missing: readonly Problem[];
  /** The objects that the documents say all of, as the server showed them. */
  readonly seen: readonly Seen[];
  /** What could not be looked for, a sentence each. */
  readonly notes: readonly string[];
}
