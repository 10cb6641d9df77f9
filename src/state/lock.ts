import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
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

/** Milliseconds that another process gets to take over a lock. */
const A_MOMENT = 20;

/** How often that is waited for; a lock is taken over in a moment, or something is wrong. */
const TRIES = 250;

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
  const takenOver = await take(path, holder);
  return {
    takenOver,
    release: () => release(path, holder),
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

/** Takes a lock that is free or whose holder is gone; says from whom it was taken over. */
async function take(path: string, holder: Holder): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    if (await create(path, holder, link)) return null;
    const other = await readHolder(path);
    if (other === undefined) continue;
    if (other === null || !isGone(other) || tries > TRIES) throw locked(path, other);
    if (await replace(path, other, holder)) return `took over the lock of ${describe(other)}, which is gone`;
    await wait(A_MOMENT);
  }
}

/**
 * Puts a holder in the place of a dead one, unless another process is quicker. Of several that find the same dead
 * one, the process that holds the lock of that very replacement does it: a live lock is never moved or removed.
 */
async function replace(path: string, dead: Holder, holder: Holder): Promise<boolean> {
  // A name of fixed length, whatever a lock file says.
  const turn = `${path}.${createHash('sha256').update(dead.nonce).digest('hex').slice(0, 16)}`;
  const mine = { ...holder, nonce: randomUUID() };
  try {
    await take(turn, mine);
  } catch (failure) {
    // Another process is about to do it.
    if (failure instanceof ProblemsError && failure.problems.some(({ code }) => code === 'locked'))
      return false;
    throw failure;
  }
  try {
    if ((await readHolder(path))?.nonce !== dead.nonce) return false;
    return await create(path, holder, rename);
  } finally {
    await release(turn, mine);
  }
}

async function release(path: string, { nonce }: Holder): Promise<void> {
  if ((await readHolder(path))?.nonce === nonce) await rm(path, { force: true });
}

function unlessThere(failure: NodeJS.ErrnoException): false {
  if (failure.code !== 'EEXIST') throw failure;
  return false;
}

/** Written beside it and put into place: a lock is there with its holder's name, or not at all. */
async function create(
  path: string,
  holder: Holder,
  place: (from: string, to: string) => Promise<void>,
): Promise<boolean> {
  const temporary = `${path}.${holder.nonce}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(holder, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    return await place(temporary, path).then(() => true, unlessThere);
  } catch (failure) {
    throw notWritable(path, failure);
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
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

function isGone({ host, pid, started }: Holder): boolean {
  if (host !== hostname()) return false;
  // A lock under this very number was left by an earlier process, since this one holds none yet.
  if (pid === process.pid) return started !== processStart(pid);
  try {
    process.kill(pid, 0);
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === 'ESRCH';
  }
  if (isZombie(pid)) return true;
  const now = processStart(pid);
  return started !== null && now !== null && started !== now;
}

/** Whether a process has ended and its parent has not taken notice yet. */
function isZombie(pid: number): boolean {
  const [state] = processStat(pid) ?? [];
  return state === 'Z' || state === 'X';
}

/** The boot and the tick at which a process started, where the system has /proc. */
function processStart(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The start is the 22nd field.
    const start = processStat(pid)?.[19];
    return start === undefined ? null : `${boot} ${start}`;
  } catch {
    return null;
  }
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
