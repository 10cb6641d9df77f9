import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import * as z from 'zod';

/** The fields that identify a process, so that others can tell whether the owner of a lock or file still runs. */
export const processFields = {
  host: z.string().meta({ description: 'The machine that runs it', examples: ['ci-7'] }),
  /** Positive, since 0 and less name process groups. */
  pid: z
    .int()
    .positive()
    .meta({ description: 'The process id', examples: [4711] }),
  /** Null if the system doesn't report it. Pids are reused. */
  started: z
    .string()
    .nullable()
    .meta({ description: 'The boot and the tick at which it started', examples: ['71c9… 4711'] }),
  /** Host names are reused too. */
  boot: z
    .string()
    .nullable()
    .meta({ description: 'The boot of the machine', examples: ['71c9…'] }),
  /** Each container has its own pids. */
  namespace: z
    .string()
    .nullable()
    .meta({ description: 'The pid namespace, such as that of a container', examples: ['pid:[4026531836]'] }),
};

export type ProcessIdentity = z.infer<z.ZodObject<typeof processFields>>;

/** `unknown`: the process belongs to another host, boot or namespace, so its pid means nothing here. */
export type ProcessStatus = 'alive' | 'gone' | 'unknown';

/** The identity of this process. */
export function currentProcess(): ProcessIdentity {
  return {
    host: hostname(),
    pid: process.pid,
    started: processStart(process.pid),
    boot: bootId(),
    namespace: namespaceId(),
  };
}

/** Whether a process still runs: `unknown` if it belongs to another host, boot or process namespace. */
export function processStatus(identity: ProcessIdentity): ProcessStatus {
  const { host, pid, started, boot, namespace } = identity;
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

/** Whether a process, other than this one, certainly still runs, and its pid was not reused. */
export function isSurelyAlive(identity: ProcessIdentity): boolean {
  return identity.pid !== process.pid && identity.started !== null && processStatus(identity) === 'alive';
}

function isZombie(pid: number): boolean {
  const [state] = processStat(pid) ?? [];
  return state === 'Z' || state === 'X';
}

function processStart(pid: number): string | null {
  // The start time is the 22nd field of the line.
  const start = processStat(pid)?.[19];
  const boot = bootId();
  return start === undefined || boot === null ? null : `${boot} ${start}`;
}

/** The fields of /proc/PID/stat from the third on; the second, the command in parentheses, may contain spaces. */
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

/** The name of the user who runs this process. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user id of a container may have no name.
    return 'unknown';
  }
}
