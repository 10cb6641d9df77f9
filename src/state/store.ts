import type { State } from './state.js';

/** Where a state lies. */
export interface StateStore {
  /** What a message calls it. */
  readonly place: string;
  /** The state, or an empty one where there is none yet. Throws a ProblemsError where it can't be used. */
  load(server: string): Promise<State>;
  /** Replaces the state as a whole: after a crash there is the old one or the new one. */
  save(state: State): Promise<void>;
}
