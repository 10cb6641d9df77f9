import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { link, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { hasProblem, type Problem, ProblemsError, problemError, warning } from '../../base/problems.js';
import { processStatus } from '../../base/process.js';
import { NotRegularFile, withFile } from '../../base/read-file.js';
import { parseShardName, type Shard, shardName } from '../../base/shard.js';
import { systemErrorText } from '../../base/system-errors.js';
import { makeFolder, removeTemporaryFiles, temporaryFileName } from '../../base/write-file.js';
import type { FoundLock, Lock, LockStore } from '../backend.js';
import {
  holderSchema,
  lockedError,
  lockLostError,
  lockStatus,
  ownHolder,
  parseHolder,
  takeoverNote,
} from '../holder.js';
import { withWriteErrors } from '../write-errors.js';

const schema = holderSchema.extend({ nonce: z.string() });

type Holder = z.infer<typeof schema>;

/** Milliseconds between attempts while another process takes over a lock. */
const RETRY_PAUSE = 20;

/** How many attempts to make. */
const MAX_TRIES = 250;

export function lockPath(statePath: string): string {
  return `${statePath}.lock`;
}

/**
 * Takes the lock of a file, also from a dead process of this host. Throws a ProblemsError (`locked`) that names the holder, or
 * `not-writable`.
 */
export async function acquireLock(statePath: string, command: string, now: Date): Promise<Lock> {
  const path = lockPath(statePath);
  const holder = holderOf(command, now);
  const text = lockText(holder);
  const takenOver = await take(path, holder);
  await removeTemporaryFiles(dirname(path));
  await removeDeadTakeovers(path);
  return {
    takenOver,
    fenced: false,
    lease: 0,
    async confirm() {
      // Parsing it would cost more than reading it.
      if (readLock(path) === text) return;
      const now = await readHolder(path);
      if (now?.nonce !== holder.nonce) throw lockLostError(now, relativePath(path));
    },
    release: () => release(path, holder),
  };
}

function holderOf(command: string, now: Date): Holder {
  return { ...ownHolder(command, now), nonce: randomUUID() };
}

/** The lock with this name is held during a merge into a state file. */
const mergeLockName = (statePath: string): string => `${statePath}.merge`;

const shardPath = (statePath: string, shard: Shard | undefined): string =>
  shard === undefined ? statePath : `${statePath}.${shardName(shard)}`;

/** The locks of a state file: its own, and those of shards. */
export function fileLocks(statePath: string): LockStore {
  return {
    take: (command, now, shard) => acquireLock(shardPath(statePath, shard), command, now),
    async list() {
      const folder = dirname(statePath);
      const names = await readdir(folder).catch((failure: NodeJS.ErrnoException) => {
        if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return [];
        throw unreadableError(`the folder of the state ${relativePath(folder)}`, failure);
      });
      const [prefix, suffix] = [`${basename(statePath)}.`, lockPath('')];
      const shards = names.flatMap((name) => {
        if (!name.startsWith(prefix) || !name.endsWith(suffix)) return [];
        return parseShardName(name.slice(prefix.length, -suffix.length)) ?? [];
      });
      // A merge lock that another machine or an earlier boot left would block every shard.
      const merging = await foundLock(lockPath(mergeLockName(statePath)));
      const locks = await Promise.all(
        [undefined, ...shards].map((shard) => foundLock(lockPath(shardPath(statePath, shard)), shard)),
      );
      return [...locks, merging?.fate === 'unknown' ? merging : null].filter((lock) => lock !== null);
    },
  };
}

/** Null if there is none. */
async function foundLock(path: string, shard?: Shard): Promise<FoundLock | null> {
  const holder = await readHolder(path);
  if (holder === undefined) return null;
  const nonce = holder?.nonce ?? null;
  const remove = async (): Promise<boolean> => {
    const now = await readHolder(path);
    if (now === undefined || (now?.nonce ?? null) !== nonce) return false;
    await withWriteErrors(`the lock ${relativePath(path)} can't be removed`, () => rm(path, { force: true }));
    return true;
  };
  const status = lockStatus(holder);
  return {
    ...status,
    ...(shard === undefined ? {} : { shard }),
    nonce,
    place: relativePath(path),
    async removeIfUnchanged() {
      if (holder === null || status.fate !== 'gone') return await remove();
      const isRemoved = await takeOverOnce(path, holder, holderOf('unlock', new Date()), remove);
      if (!isRemoved) await wait(RETRY_PAUSE);
      return isRemoved;
    },
  };
}

/** Milliseconds to wait for the merges of other processes. */
const MERGE_TIMEOUT = 30_000;

/** Works on a state file under its merge lock. Throws a ProblemsError (`locked`). */
export async function exclusively<T>(statePath: string, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + MERGE_TIMEOUT;
  for (;;) {
    let lock: Lock;
    try {
      lock = await acquireLock(mergeLockName(statePath), 'merge', new Date());
    } catch (failure) {
      if (!hasProblem(failure, 'locked') || performance.now() > until) throw failure;
      await wait(Math.random() * RETRY_PAUSE);
      continue;
    }
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }
}

/** Takes a lock that is free or has a dead holder. Returns a note about the former holder, or null. */
async function take(path: string, holder: Holder): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    if (await create(path, holder, link)) return null;
    const other = await readHolder(path);
    if (other === undefined) continue;
    if (other === null || processStatus(other) !== 'gone' || tries > MAX_TRIES)
      throw lockedError(lockStatus(other), relativePath(path));
    if (await takeOverOnce(path, other, holder, () => create(path, holder, rename)))
      return takeoverNote(lockStatus(other));
    await wait(RETRY_PAUSE);
  }
}

/**
 * Changes the lock of a dead holder. Only the process with the takeover lock for that holder does this, so a live lock is never replaced
 * or removed. Returns false if another process was quicker.
 */
async function takeOverOnce(
  path: string,
  dead: Holder,
  holder: Holder,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const takeoverPath = `${path}.${createHash('sha256').update(dead.nonce).digest('hex').slice(0, 16)}`;
  const own = { ...holder, nonce: randomUUID() };
  try {
    await take(takeoverPath, own);
  } catch (failure) {
    // Another process is taking it over.
    if (hasProblem(failure, 'locked')) return false;
    throw failure;
  }
  try {
    if ((await readHolder(path))?.nonce !== dead.nonce) return false;
    return await work();
  } finally {
    await release(takeoverPath, own);
  }
}

/** Removes takeover locks of dead processes. */
async function removeDeadTakeovers(path: string): Promise<void> {
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (!name.startsWith(`${basename(path)}.`) || !/\.[0-9a-f]{16}$/.test(name)) continue;
    const turn = join(dirname(path), name);
    const holder = await readHolder(turn).catch(() => undefined);
    if (holder != null && processStatus(holder) === 'gone') await rm(turn, { force: true }).catch(() => {});
  }
}

/** Releases a lock. Returns a warning if it may still be there. */
async function release(path: string, { nonce }: Holder): Promise<Problem[]> {
  try {
    if ((await readHolder(path))?.nonce === nonce) await rm(path, { force: true });
    return [];
  } catch (failure) {
    const why = systemErrorText(failure instanceof ProblemsError ? failure.cause : failure);
    return [
      warning(
        'not-writable',
        `the lock ${relativePath(path)} can't be released: ${why}`,
        [],
        'the next run on this machine takes it over; on another machine, use idops runs unlock',
      ),
    ];
  }
}

/** Writes a temporary file and moves it to its place, so that a lock always names its holder. Returns false if there is a lock already. */
async function create(
  path: string,
  holder: Holder,
  place: (from: string, to: string) => Promise<void>,
): Promise<boolean> {
  const temporary = join(dirname(path), temporaryFileName());
  try {
    return await withWriteErrors(`the lock ${relativePath(path)} can't be written`, async () => {
      await makeFolder(dirname(path));
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(lockText(holder));
        await file.sync();
      } finally {
        await file.close();
      }
      return await place(temporary, path).then(
        () => true,
        (failure: NodeJS.ErrnoException) => {
          if (failure.code !== 'EEXIST') throw failure;
          return false;
        },
      );
    });
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

function lockText(holder: Holder): string {
  return `${JSON.stringify(holder, null, 2)}\n`;
}

/** The holder of a lock; null if the file names none, undefined if there is no file. Throws a ProblemsError if it is unreadable. */
async function readHolder(path: string): Promise<Holder | null | undefined> {
  // Yields, since callers may loop until a lock changes.
  await setImmediate();
  const text = readLock(path);
  return text === undefined ? undefined : parseHolder(schema, text);
}

/** The text of a lock; undefined if there is no file. Throws a ProblemsError if it is unreadable. */
function readLock(path: string): string | undefined {
  try {
    // A dangling link would be neither free nor held.
    const there = lstatSync(path);
    if (there.isSymbolicLink()) throw new NotRegularFile(there);
    return withFile(path, (file) => readFileSync(file, 'utf8'));
  } catch (failure) {
    if (failure instanceof NotRegularFile) {
      const message = `the lock ${relativePath(path)} can't be read: ${failure.message}`;
      throw problemError('locked', message, 'remove it: idops did not create it', failure);
    }
    // ENOTDIR: the folder is a file, so there is no lock.
    const { code } = failure as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unreadableError(`the lock ${relativePath(path)}`, failure);
  }
}

function unreadableError(what: string, failure: unknown): ProblemsError {
  return problemError(
    'state-unreadable',
    `${what} can't be read: ${systemErrorText(failure)}`,
    'fix the disk or the permissions, so that the holder of the lock can be read',
    failure,
  );
}

function relativePath(path: string): string {
  return relative(process.cwd(), path);
}
