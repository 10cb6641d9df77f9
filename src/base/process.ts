import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ProcessMark } from './process-mark.js';

/** `unknown`: it counts its processes elsewhere, so that its number says nothing here. */
export type Fate = 'alive' | 'gone' | 'unknown';

/** The mark of the process that asks. */
export function ownMark(): ProcessMark {
  return {
    host: hostname(),
    pid: process.pid,
    started: processStart(process.pid),
    boot: bootId(),
    namespace: namespaceId(),
  };
}

/** Whether a process still runs: `unknown` if it belongs to another host, boot or process namespace. */
export function fateOf(mark: ProcessMark): Fate {
  const { host, pid, started, boot, namespace } = mark;
  if (host !== hostname()) return 'unknown';
  if (boot !== bootId() || namespace !== namespaceId()) return 'unknown';
  const now = processStart(pid);
  if (pid === process.pid) return started === now ? 'alive' : 'gone';
  try {
    process.kill(pid, 0);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ESRCH') return 'gone';
  }
  if (isZombie(pid)) return 'gone';
  return started !== null && now !== null && started !== now ? 'gone' : 'alive';
}

/** Whether another process than this one surely runs still: not one that was given its number later. */
export function surelyAlive(mark: ProcessMark): boolean {
  return mark.pid !== process.pid && mark.started !== null && fateOf(mark) === 'alive';
}

/** Whether a process has ended and its parent has not taken notice yet. */
function isZombie(pid: number): boolean {
  const [state] = processStat(pid) ?? [];
  return state === 'Z' || state === 'X';
}

function processStart(pid: number): string | null {
  // The start is the 22nd field.
  const start = processStat(pid)?.[19];
  const boot = bootId();
  return start === undefined || boot === null ? null : `${boot} ${start}`;
}

/** The fields of /proc/PID/stat from the third on; the second is the command in brackets, which may hold spaces. */
function processStat(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

function namespaceId(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}
