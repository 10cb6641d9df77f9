import { type ProblemsError, problemError } from '../base/problems.js';
import type { StateBackend, StateIdentity } from '../state/backend.js';
import type { RunLine } from '../state/journal.js';
import type { State } from '../state/state.js';

/** The backend of a state, and its environment. */
export interface StateLocation {
  readonly backend: StateBackend;
  readonly environment: string | null;
}

/** Whether a run belongs to a state. */
export function belongsTo({ state }: RunLine, known: StateIdentity): boolean {
  return state.lineage === known.lineage;
}

/** Returns a test for runs of other states in the same place. Runs of a lost state that had this place before don't count as such. */
export async function otherStateTest(
  state: StateIdentity | undefined,
  location: StateLocation,
): Promise<(run: RunLine) => boolean> {
  const neighbours = await location.backend.neighbours();
  return (run) =>
    !(state !== undefined && belongsTo(run, state)) &&
    // A run with the name of this state may be of a lost state that had this place before.
    (run.state.file !== location.backend.name || neighbours.some((one) => belongsTo(run, one)));
}

/** A new state that continues a lost one and owns its journals; a saved state is returned unchanged. */
export function adoptLostState(state: State, { state: lost }: RunLine): State {
  return state.serial > 0 ? state : { ...state, lineage: lost.lineage };
}

/** A message about the state that a run belongs to. */
export function describeOwner({ run, state }: RunLine, location: StateLocation): string {
  const here = location.backend.name;
  return state.file === here
    ? `run ${run} belongs to another state than ${here}`
    : `run ${run} belongs to the state ${state.file}, and this is ${here}`;
}

/** The refusal of another state's run, which is about other objects and has another salt. */
export function otherStateError(run: RunLine, location: StateLocation): ProblemsError {
  return problemError(
    'run-other-state',
    describeOwner(run, location),
    'choose the environment that it was run with',
  );
}
