import { error, ProblemsError } from '../base/problems.js';
import type { StateBackend, StateName } from '../state/backend.js';
import type { RunLine } from '../state/journal.js';
import type { State } from '../state/state.js';

/** Where a state is kept, and for which environment. */
export interface StateHome {
  readonly backend: StateBackend;
  readonly environment: string | null;
}

/** Whether a run is of a state. */
export function belongs({ state }: RunLine, known: StateName): boolean {
  return state.lineage === known.lineage;
}

/**
 * Tells runs of other states in the same place from those of a state and of one that lay at its place before and was
 * lost. Nothing is known of the state itself where it is undefined.
 */
export async function othersOf(
  state: StateName | undefined,
  home: StateHome,
): Promise<(run: RunLine) => boolean> {
  const beside = await home.backend.neighbours();
  return (run) =>
    !(state !== undefined && belongs(run, state)) &&
    (!isOfLost(run, home) || beside.some((one) => belongs(run, one)));
}

/** Whether a run may be of the state that lay at a place before and was lost. */
function isOfLost({ state }: RunLine, home: StateHome): boolean {
  return state.file === home.backend.name;
}

/** A new state that goes on where a lost one was: the other journals of that one are its own from now on. */
export function heirOf(state: State, { state: lost }: RunLine): State {
  return state.serial > 0 ? state : { ...state, lineage: lost.lineage };
}

/** Which state another one's run is of, in words. */
export function ownerOf({ run, state }: RunLine, home: StateHome): string {
  const here = home.backend.name;
  return state.file === here
    ? `run ${run} is of another state than ${here}`
    : `run ${run} is of the state ${state.file}, and this is ${here}`;
}

/** What one state's run found there says nothing of another's objects, and its salt is another one. */
export function refuseOther(run: RunLine, home: StateHome): ProblemsError {
  return new ProblemsError([
    error(
      'run-other-state',
      ownerOf(run, home),
      [],
      'choose the environment, and with it the state, that it was run with',
    ),
  ]);
}
