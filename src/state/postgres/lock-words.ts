import { error, ProblemsError } from '../../base/problems.js';
import { describeHolder } from '../holder.js';
import { type Found, UNREADABLE } from './lock-row.js';

/** Who is in the row of a lock. */
export function nameOf({ holder }: Found): string {
  return holder === null ? UNREADABLE : describeHolder(holder);
}

/** What is known of a holder whose session is gone. */
export function cut({ age }: Found): string {
  // The clock of the database may have been set back.
  const heard = Math.max(0, Math.round(age / 1000));
  return `its connection was cut, and nothing was heard of it for ${heard} s`;
}

/** The refusal of a lock that somebody else has; `rest` milliseconds from now it is anybody's, null where its session lives. */
export function refusal(found: Found, rest: number | null, place: string): ProblemsError {
  const message = `the state is locked: ${nameOf(found)} (${place})`;
  const unlock = 'if that process is surely gone, use idops runs unlock';
  if (rest === null)
    return new ProblemsError([error('locked', message, [], `wait until it has ended; ${unlock}`)]);
  const seconds = Math.max(1, Math.ceil(rest / 1000));
  return new ProblemsError([
    error(
      'locked',
      `${message}; ${cut(found)}, and it may come back`,
      [],
      `try again in ${seconds} s, when its lock is taken over if it did not come back; ${unlock}`,
    ),
  ]);
}

/** The failure of whoever had a lock that is somebody else's by now, or nobody's. */
export function lost(found: Found | undefined, place: string): ProblemsError {
  const who = found === undefined ? 'it was removed' : `somebody else has it: ${nameOf(found)}`;
  return new ProblemsError([
    error(
      'locked',
      `the lock of the state was lost: ${who} (${place})`,
      [],
      'find out who removes locks, and run it again once no other run is under way',
    ),
  ]);
}

/** The refusal to remove a lock whose process surely runs. */
export function inUse(found: Found): ProblemsError {
  return new ProblemsError([
    error(
      'locked',
      `the lock is in use: ${nameOf(found)} still runs on this host`,
      [],
      'wait until it has ended, or end it',
    ),
  ]);
}

/** A pooler that hands transactions to sessions as they come leaves no session to hold a lock. */
export function pooled(place: string): ProblemsError {
  return new ProblemsError([
    error(
      'state-unreachable',
      `the database of the state can't be reached: a pooler on the way changes sessions within a run (${place})`,
      [],
      'let the pooler work by sessions (pool_mode = session in PgBouncer), or name the port of PostgreSQL itself',
    ),
  ]);
}
