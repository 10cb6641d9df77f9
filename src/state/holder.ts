import { hostname } from 'node:os';
import * as z from 'zod';
import { fateOf, ownMark } from '../base/process.js';
import { processMark } from '../base/process-mark.js';

/** What a lock says of who holds it. */
export const holderFields = {
  user: z.string(),
  ...processMark,
  command: z.string(),
  at: z.string(),
};

const holderSchema = z.object(holderFields);

export type Holder = z.infer<typeof holderSchema>;

/** A holder of a lock in words. */
export function describeHolder({ user, host, pid, command, at }: Holder): string {
  return `${command} by ${user} on ${host}, process ${pid}, since ${at}`;
}

/** Why a holder can't be judged from here; null where it can. */
export function whereElse(holder: Holder): string | null {
  if (fateOf(holder) !== 'unknown') return null;
  if (holder.host !== hostname()) return 'is on another host';
  return holder.boot === ownMark().boot
    ? 'is in another process namespace, such as a container'
    : 'is of another machine of the same name, or from before the last restart of this one';
}
