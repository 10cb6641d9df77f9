import * as z from 'zod';
import { error, ProblemsError } from '../../base/problems.js';
import { fateOf } from '../../base/process.js';
import { describeHolder, holderFields } from '../holder.js';

const holderSchema = z.object({ ...holderFields, expires: z.iso.datetime(), nonce: z.string() });

/** Who holds a lock, and until when; ISO 8601, UTC. */
export type Holder = z.infer<typeof holderSchema>;

/** What a message says of a lock that names nobody. */
export const NOBODY = 'something that left no name';

/** Milliseconds for which a lock is held without being renewed. */
export const LEASE = 10 * 60_000;
/** Milliseconds by which clocks of machines may differ. */
const SKEW = 5 * 60_000;

/** Who the message of a lock's commit names; null where it names nobody. */
export function holderOf(message: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(message));
  } catch {
    return null;
  }
}

/** Whether a lock binds nobody any more: its process is surely gone, or it was not renewed for long enough. */
export function isOver(holder: Holder | null): holder is Holder {
  return holder !== null && (fateOf(holder) === 'gone' || Date.now() > endOf(holder));
}

/** When a lock that nobody renews may be taken over; a time of `Date.now()`. */
function endOf({ expires }: Holder): number {
  return Date.parse(expires) + SKEW;
}

/** When that is, in words. */
export function endInWords(holder: Holder): string {
  return new Date(endOf(holder)).toISOString();
}

/** A holder in words. */
export function describe(holder: Holder | null): string {
  return holder === null ? NOBODY : describeHolder(holder);
}

/** The refusal of a lock that somebody else has. */
export function locked(place: string, holder: Holder | null): ProblemsError {
  const until =
    holder === null
      ? ''
      : `; the lock of a run that was killed ends by itself at ${endInWords(holder)}, and one that goes on renews it`;
  return new ProblemsError([
    error(
      'locked',
      `the state is locked: ${describe(holder)} (${place})`,
      [],
      `wait until it has ended${until}; where it surely has, idops runs unlock removes the lock`,
    ),
  ]);
}

/** The refusal of a branch that somebody made for something else. */
export function notOwn(place: string): ProblemsError {
  return new ProblemsError([
    error(
      'state-unreadable',
      `the state ${place} can't be used: that branch was not made by idops, whose README.md it lacks`,
      [],
      'name a branch with state.git.branch that is not there yet, or was made by idops; put README.md back, if somebody removed it',
    ),
  ]);
}

/** The refusal of everything to a run whose lock is somebody else's by now, or nobody's. */
export function lostTo(place: string, now: Holder | null | undefined): ProblemsError {
  const who = now === undefined ? 'it was removed' : `somebody else has it: ${describe(now)}`;
  return new ProblemsError([
    error(
      'locked',
      `the lock of the state was lost: ${who} (${place})`,
      [],
      'find out who removes locks, and run it again once no other run is under way',
    ),
  ]);
}
