import { type ProblemsError, problemError } from '../base/problems.js';
import type { StateBackend, StateName } from '../state/backend.js';
import type { RunLine } from '../state/journal.js';
import type { State } from '../state/state.js';

/** The backend of a state, and its environment. */
export interface StateLocation {
  readonly backend: StateBackend;
  readonly environment: string | null;
}

/** Whether a run is of a state. */
export function belongsTo({ state }: RunLine, known: StateName): boolean {
  return state.lineage === known.lineage;
}

/**
 * Gives a test for runs of other states in the same place. Runs of a lost state that had this place before are no other's.
 * An undefined state is unknown.
 */
export async function otherStateTest(
  state: StateName | undefined,
  location: StateLocation,
): Promise<(run: RunLine) => boolean> {
  const neighbours = await location.backend.neighbours();
  return (run) =>
    !(state !== undefined && belongsTo(run, state)) &&
    // One of the same name may be of a lost state that had this place before.
    (run.state.file !== location.backend.name || neighbours.some((one) => belongsTo(run, one)));
}

/** A new state that continues a lost one, and owns its journals. */
export function adoptLostState(state: State, { state: lost }: RunLine): State {
  return state.serial > 0 ? state : { ...state, lineage: lost.lineage };
}

/** Which state a run is of, in words. */
export function describeOwner({ run, state }: RunLine, location: StateLocation): string {
  const here = location.backend.name;
  return state.file === here
    ? `run ${run} is of another state than ${here}`
    : `run ${run} is of the state ${state.file}, and this is ${here}`;
}

/** The refusal of another state's run: it says nothing about this state's objects, and has another salt. */
export function otherStateError(run: RunLine, location: StateLocation): ProblemsError {
  return problemError(
    'run-other-state',
    describeOwner(run, location),
    'choose the environment, and with it the state, that it was run with',
  );
}
