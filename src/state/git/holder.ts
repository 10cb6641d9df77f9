import * as z from 'zod';
import { fateOf } from '../../base/process.js';
import type { Holding } from '../backend.js';
import { GONE, holdingOf as heldBy, holderFields } from '../holder.js';

const holderSchema = z.object({ ...holderFields, expires: z.iso.datetime(), nonce: z.string() });

/** Who holds a lock, and until when; ISO 8601, UTC. */
export type Holder = z.infer<typeof holderSchema>;

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

/** Milliseconds for which a lock is still held without being renewed. */
export function restOf({ expires }: Holder): number {
  return Date.parse(expires) - Date.now();
}

/** When a lock that nobody renews may be taken over; a time of `Date.now()`. */
function endOf({ expires }: Holder): number {
  return Date.parse(expires) + SKEW;
}

/** A lock of a branch as it stands, and when it ends by itself. */
export function holdingOf(holder: Holder | null): Holding {
  // Nobody here knows whether a process elsewhere still runs.
  const end =
    holder === null || fateOf(holder) === 'gone'
      ? GONE
      : `whose lease ran out at ${holder.expires} and was not renewed`;
  const holding = heldBy(holder, isOver(holder) ? 'gone' : undefined, end);
  if (holder === null || holding.elsewhere === null) return holding;
  const last = `its lock ends by itself at ${new Date(endOf(holder)).toISOString()} where nothing renews it`;
  return { ...holding, elsewhere: `${holding.elsewhere}, and ${last}` };
}
