import { hostname } from 'node:os';
import * as z from 'zod';
import { error, ProblemsError } from '../base/problems.js';
import { type Fate, ownProcess, processMark, processStatus } from '../base/process.js';
import type { LockStatus } from './backend.js';

/** What a lock says of who holds it. */
export const holderFields = {
  user: z.string(),
  ...processMark,
  command: z.string(),
  at: z.string(),
};

const holderSchema = z.object(holderFields);

export type Holder = z.infer<typeof holderSchema>;

/** A holder of a lock in words; null is one that names nobody. */
export function describeHolder(holder: Holder | null): string {
  if (holder === null) return 'something that left no name';
  const { user, host, pid, command, at } = holder;
  return `${command} by ${user} on ${host}, process ${pid}, since ${at}`;
}

/** What is said of a holder whose process is surely gone. */
export const GONE = 'which is gone';

/** A lock by who holds it; `fate` is what becomes of it, where its process alone doesn't say that, and `end` why it is over then. */
export function lockStatus(holder: Holder | null, fate?: Fate, end: string = GONE): LockStatus {
  const ofProcess = holder === null ? 'unknown' : processStatus(holder);
  const became = (holder === null ? undefined : fate) ?? ofProcess;
  const isUnknown = holder !== null && became === 'unknown';
  return {
    holder: describeHolder(holder),
    command: holder?.command ?? null,
    readable: holder !== null,
    fate: became,
    end: became === 'gone' ? end : null,
    elsewhere: isUnknown ? whyUnknown(holder) : null,
    inUse: ofProcess === 'alive' && holder?.pid !== process.pid,
  };
}

/** What is told of a lock that was taken over. */
export function takeoverNote({ holder, end }: Pick<LockStatus, 'holder' | 'end'>): string {
  return `took over the lock of ${holder}${end === null ? '' : `, ${end}`}`;
}

/** Why a holder can't be judged from here. */
function whyUnknown(holder: Holder): string {
  if (holder.host !== hostname()) return 'is on another host';
  return holder.boot === ownProcess().boot
    ? 'is in another process namespace, such as a container'
    : 'is of another machine of the same name, or from before the last restart of this one';
}

/** The refusal of a lock that somebody else has. */
export function lockedError(
  { holder, elsewhere }: Pick<LockStatus, 'holder' | 'elsewhere'>,
  place: string,
  what = 'the state is locked',
): ProblemsError {
  const hint =
    elsewhere === null
      ? 'wait until it has ended; if that process is surely gone, use idops runs unlock'
      : `that process ${elsewhere}, so nobody can tell from here whether it still runs: make sure that it doesn't, then use idops runs unlock`;
  return new ProblemsError([error('locked', `${what}: ${holder} (${place})`, [], hint)]);
}

/** The failure of whoever had a lock that somebody else has by now, or nobody; undefined is nobody. */
export function lockLostError(now: Holder | null | undefined, place: string): ProblemsError {
  const who =
    now === undefined
      ? 'it was removed, or taken over by somebody who has given it back since'
      : `somebody else took it over: ${describeHolder(now)}`;
  return new ProblemsError([
    error(
      'locked',
      `the lock of the state was lost: ${who} (${place})`,
      [],
      'find out who removes locks, and run it again once no other run is under way',
    ),
  ]);
}
