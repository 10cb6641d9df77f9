import { hostname } from 'node:os';
import * as z from 'zod';
import { type ProblemsError, problemError } from '../base/problems.js';
import {
  currentProcess,
  type ProcessStatus,
  processFields,
  processStatus,
  userName,
} from '../base/process.js';
import type { LockStatus } from './backend.js';

/** The holder of a lock, as the lock stores it. */
export const holderSchema = z.object({
  user: z.string(),
  ...processFields,
  command: z.string(),
  at: z.string(),
});

/** Parses the text of a lock; null if it names no holder. */
export function parseHolder<H extends Holder>(schema: z.ZodType<H>, text: string): H | null {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** This process as the holder of a lock. */
export function ownHolder(command: string, now: Date): Holder {
  return { user: userName(), ...currentProcess(), command, at: now.toISOString() };
}

export type Holder = z.infer<typeof holderSchema>;

/** Describes a holder; null is an unknown one. */
export function describeHolder(holder: Holder | null): string {
  if (holder === null) return 'an unknown holder';
  const { user, host, pid, command, at } = holder;
  return `${command} by ${user} on ${host}, process ${pid}, since ${at}`;
}

/** A relative clause about a holder with a dead process. */
export const PROCESS_GONE = 'which is gone';

/** The status of a lock. `fate` overrides the status of the holder's process; `end` is the reason if the lock has ended. */
export function lockStatus(
  holder: Holder | null,
  fate?: ProcessStatus,
  end: string = PROCESS_GONE,
): LockStatus {
  const ofProcess = holder === null ? 'unknown' : processStatus(holder);
  const current = (holder === null ? undefined : fate) ?? ofProcess;
  const isUnknown = holder !== null && current === 'unknown';
  return {
    holder: describeHolder(holder),
    readable: holder !== null,
    fate: current,
    endReason: current === 'gone' ? end : null,
    unknownReason: isUnknown ? whyUnknown(holder) : null,
    inUse: ofProcess === 'alive' && holder?.pid !== process.pid,
  };
}

export function takeoverNote({ holder, endReason }: Pick<LockStatus, 'holder' | 'endReason'>): string {
  return `took over the lock of ${holder}${endReason === null ? '' : `, ${endReason}`}`;
}

/** Why this machine can't tell whether a holder runs. */
function whyUnknown(holder: Holder): string {
  if (holder.host !== hostname()) return 'is on another host';
  return holder.boot === currentProcess().boot
    ? 'is in another process namespace, such as a container'
    : 'is on another machine of the same name, or from before the last restart of this one';
}

export function lockedError(
  { holder, unknownReason }: Pick<LockStatus, 'holder' | 'unknownReason'>,
  place: string,
  what = 'the state is locked',
): ProblemsError {
  const hint =
    unknownReason === null
      ? 'wait until it has ended; if that process is certainly gone, use idops runs unlock'
      : `that process ${unknownReason}, so this machine can't tell whether it still runs: make sure that it doesn't, then use idops runs unlock`;
  return problemError('locked', `${what}: ${holder} (${place})`, hint);
}

/** The failure of a process that lost its lock. `now` is the present holder; undefined if there is none. */
export function lockLostError(now: Holder | null | undefined, place: string): ProblemsError {
  const who =
    now === undefined
      ? 'it was removed, or another process took it over and released it'
      : `another process took it over: ${describeHolder(now)}`;
  return problemError(
    'locked',
    `the lock of the state was lost: ${who} (${place})`,
    'find out who removes locks, and run it again when no other run is in progress',
  );
}
