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

/** What a lock says of its holder. */
export const holderSchema = z.object({
  user: z.string(),
  ...processFields,
  command: z.string(),
  at: z.string(),
});

/** The holder in the text of a lock; null if it names none. */
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

/** A holder in words; null names nobody. */
export function describeHolder(holder: Holder | null): string {
  if (holder === null) return 'something that left no name';
  const { user, host, pid, command, at } = holder;
  return `${command} by ${user} on ${host}, process ${pid}, since ${at}`;
}

/** A clause about a holder whose process is gone. */
export const PROCESS_GONE = 'which is gone';

/** The status of a lock, from its holder. `fate` overrides what the process alone tells, and `end` says why the lock has ended then. */
export function lockStatus(holder: Holder | null, fate?: ProcessStatus, end: string = PROCESS_GONE): LockStatus {
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
    : 'is of another machine of the same name, or from before the last restart of this one';
}

export function lockedError(
  { holder, unknownReason }: Pick<LockStatus, 'holder' | 'unknownReason'>,
  place: string,
  what = 'the state is locked',
): ProblemsError {
  const hint =
    unknownReason === null
      ? 'wait until it has ended; if that process is surely gone, use idops runs unlock'
      : `that process ${unknownReason}, so this machine can't tell whether it still runs: make sure that it doesn't, then use idops runs unlock`;
  return problemError('locked', `${what}: ${holder} (${place})`, hint);
}

/** The failure of a process whose lock was lost: another holder has it, or nobody (undefined). */
export function lockLostError(now: Holder | null | undefined, place: string): ProblemsError {
  const who =
    now === undefined
      ? 'it was removed, or taken over by somebody who has given it back since'
      : `somebody else took it over: ${describeHolder(now)}`;
  return problemError(
    'locked',
    `the lock of the state was lost: ${who} (${place})`,
    'find out who removes locks, and run it again once no other run is under way',
  );
}
