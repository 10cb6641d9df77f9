import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, relative } from 'node:path';
import { z } from 'zod';
import { error, ProblemsError } from '../problems.js';
import { userName } from './user-name.js';

const holderSchema = z.object({
  user: z.string(),
  host: z.string(),
  pid: z.int(),
  command: z.string(),
  at: z.string(),
  /** When the process started, where the system tells: a process number is used again. */
  started: z.string().nullable(),
  nonce: z.string(),
});

type Holder = z.infer<typeof holderSchema>;

/** The right to write a state and its journals, held by one process at a time. */
export interface Lock {
  /** Says that a lock was taken over from a process that is gone; null where it was free. */
  readonly takenOver: string | null;
  release(): Promise<void>;
}

/** The lock file of a state file. */
export function lockPath(statePath: string): string {
  return `${statePath}.lock`;
}

/**
 * Takes the lock of a state, and takes it over from a process of this host that is gone.
 * Throws a ProblemsError (`locked`) that names the holder, or `not-writable`.
 */
export async function acquireLock(statePath: string, command: string, now: Date): Promise<Lock> {
  const path = lockPath(statePath);
  const holder: Holder = {
    user: userName(),
    host: hostname(),
    pid: process.pid,
    command,
    at: now.toISOString(),
    started: processStart(process.pid),
    nonce: randomUUID(),
  };
  let takenOver: string | null = null;
  for (;;) {
    try {
      await create(path, holder);
      break;
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritable(path, failure);
    }
    const other = await readHolder(path);
    if (other === undefined) continue;
    if (other === null || !isGone(other)) throw locked(path, other);
    if (await removeDead(path, other)) takenOver = `took over the lock of ${describe(other)}, which is gone`;
  }
  return {
    takenOver,
    async release() {
      if ((await readHolder(path))?.nonce === holder.nonce) await rm(path, { force: true });
    },
  };
}

/** Who holds the lock of a state: a live holder, in words; null where it is free or its holder is gone. */
export async function lockHolder(statePath: string): Promise<string | null> {
  const holder = await readHolder(lockPath(statePath));
  if (holder === undefined) return null;
  if (holder === null) return 'an unreadable lock file';
  return isGone(holder) ? null : describe(holder);
}

/** Removes the lock of a state whoever holds it, and says who did; null where there was none. */
export async function breakLock(statePath: string): Promise<string | null> {
  const path = lockPath(statePath);
  const holder = await readHolder(path);
  if (holder === undefined) return null;
  await rm(path, { force: true });
  return holder === null ? 'an unreadable lock file' : describe(holder);
}

async function create(path: string, holder: Holder): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Written beside it and linked: a lock is there with its holder's name, or not at all.
  const temporary = `${path}.${holder.nonce}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(holder, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The holder; null where the file can't be read as one, undefined where there is none. */
async function readHolder(path: string): Promise<Holder | null | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null;
  }
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Moves a dead lock away; puts it back where another process was quicker and the lock is alive again. */
async function removeDead(path: string, dead: Holder): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return false;
  }
  const moved = await readHolder(aside);
  const right = moved !== undefined && moved !== null && moved.nonce === dead.nonce;
  if (!right) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return right;
}

function isGone({ host, pid, started }: Holder): boolean {
  if (host !== hostname()) return false;
  // A lock under this very number was left by an earlier process, since this one holds none yet.
  if (pid === process.pid) return started !== processStart(pid);
  try {
    process.kill(pid, 0);
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const now = processStart(pid);
  return started !== null && now !== null && started !== now;
}

/** The boot and the tick at which a process started, where the system has /proc. */
function processStart(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in brackets, which may hold spaces; the start is the 22nd.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined ? null : `${boot} ${start}`;
  } catch {
    return null;
  }
}

function describe({ user, host, pid, command, at }: Holder): string {
  return `${command} by ${user} on ${host}, process ${pid}, since ${at}`;
}

function locked(path: string, holder: Holder | null): ProblemsError {
  const who = holder === null ? 'by something that left no name' : describe(holder);
  return new ProblemsError([
    error(
      'locked',
      `the state is locked: ${who} (${relative(process.cwd(), path)})`,
      [],
      'wait until it has ended; if that process is surely gone, use idops runs unlock',
    ),
  ]);
}

function notWritable(path: string, failure: unknown): ProblemsError {
  const message = failure instanceof Error ? failure.message : String(failure);
  return new ProblemsError(
    [
      error(
        'not-writable',
        `the lock ${relative(process.cwd(), path)} can't be written: ${message}`,
        [],
        'nothing was sent; make room or mend the permissions of the folder of the state',
      ),
    ],
    { cause: failure },
  );
}
