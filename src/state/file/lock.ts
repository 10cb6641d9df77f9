import { createHash, randomUUID } from 'node:crypto';
import { link, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { whyRefused } from '../../base/errno.js';
import { error, ProblemsError } from '../../base/problems.js';
import { fateOf, ownMark } from '../../base/process.js';
import { NoRegularFile, readRegular } from '../../base/regular.js';
import { type Shard, shardName, shardNamed } from '../../base/shard.js';
import { sweepTemporaries, temporaryName } from '../../base/temporary.js';
import { userName } from '../../base/user-name.js';
import { makeFolder } from '../../base/whole-file.js';
import type { Holding, Lock, Locks, Removable } from '../backend.js';
import { describeHolder, holderFields, whereElse } from '../holder.js';
import { cureOf } from '../refused.js';

const holderSchema = z.object({ ...holderFields, nonce: z.string() });

type Holder = z.infer<typeof holderSchema>;

/** What a lock is called that names nobody. */
const UNREADABLE = 'an unreadable lock file';

/** Milliseconds that another process gets to take over a lock. */
const A_MOMENT = 20;

/** How often that is waited for; a lock is taken over in a moment, or something is wrong. */
const TRIES = 250;

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
  const holder = holderOf(command, now);
  const takenOver = await take(path, holder);
  await sweepTemporaries(dirname(path));
  await sweepTurns(path);
  return {
    takenOver,
    fenced: false,
    confirm: () => confirm(path, holder),
    release: () => release(path, holder),
  };
}

/** This process as a holder. */
function holderOf(command: string, now: Date): Holder {
  return { user: userName(), ...ownMark(), command, at: now.toISOString(), nonce: randomUUID() };
}

/** What is locked while a part of a state file is merged into it. */
function mergedPath(statePath: string): string {
  return `${statePath}.merge`;
}

/** What is locked of a state file: it, or a part of it. */
export function lockedPath(statePath: string, shard: Shard | undefined): string {
  return shard === undefined ? statePath : `${statePath}.${shardName(shard)}`;
}

/** The locks of a state file: its own, and beside it those of shards. */
export function fileLocks(statePath: string): Locks {
  const of = (shard: Shard | undefined): string => lockedPath(statePath, shard);
  return {
    async shards() {
      const names = await readdir(dirname(statePath)).catch(() => []);
      const [begin, end] = [`${basename(statePath)}.`, lockPath('')];
      return names.flatMap((name) => {
        if (!name.startsWith(begin) || !name.endsWith(end)) return [];
        return shardNamed(name.slice(begin.length, -end.length)) ?? [];
      });
    },
    take: (command, now, shard) => acquireLock(of(shard), command, now),
    holder: (shard) => lockHolder(of(shard)),
    async holding(shard) {
      const holding = await lockHolding(of(shard));
      if (holding !== null || shard !== undefined) return holding;
      // What a merge of another machine or an earlier boot left keeps every shard from merging.
      const merging = await lockHolding(mergedPath(statePath));
      return merging?.fate === 'unknown' ? merging : null;
    },
    async clear(shard) {
      const path = lockPath(of(shard));
      for (let tries = 1; ; tries += 1) {
        const holding = await this.holding(shard);
        if (holding?.fate !== 'gone') return holding;
        const dead = await readHolder(path);
        if (dead == null || fateOf(dead) !== 'gone') continue;
        // Nobody sees a lock that is taken only to be removed.
        const isRemoved = await inTurn(path, dead, holderOf('unlock', new Date()), async () => {
          await rm(path, { force: true });
          return true;
        });
        if (isRemoved) return holding;
        if (tries > TRIES) throw locked(path, dead);
        await wait(A_MOMENT);
      }
    },
    async removable(shard) {
      const removable = await removableLock(of(shard));
      if (removable !== null || shard !== undefined) return removable;
      return await removableLock(mergedPath(statePath));
    },
  };
}

/** Milliseconds that are waited for those who change the same file. */
const PATIENCE = 30_000;

/** Does something to a state file that no other process does at the same time. Throws a ProblemsError (`locked`). */
export async function alone<T>(statePath: string, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE;
  for (;;) {
    let lock: Lock;
    try {
      lock = await acquireLock(mergedPath(statePath), 'merge', new Date());
    } catch (failure) {
      const isHeld =
        failure instanceof ProblemsError && failure.problems.some(({ code }) => code === 'locked');
      if (!isHeld || performance.now() > until) throw failure;
      await wait(Math.random() * A_MOMENT);
      continue;
    }
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }
}

/** Who holds the lock of a state: a holder that isn't known to be gone, in words; null where it is free or its holder is gone. */
export async function lockHolder(statePath: string): Promise<string | null> {
  const holding = await lockHolding(statePath);
  if (holding === null || holding.fate === 'gone') return null;
  const unsure = holding.readable && holding.fate === 'unknown';
  return unsure ? `${holding.holder}, if that process still runs` : holding.holder;
}

/** The lock of a state as it stands, a dead holder's too; null where there is none. */
export async function lockHolding(statePath: string): Promise<Holding | null> {
  const holder = await readHolder(lockPath(statePath));
  if (holder === undefined) return null;
  if (holder === null)
    return { holder: UNREADABLE, command: null, readable: false, fate: 'unknown', elsewhere: null };
  return {
    holder: describeHolder(holder),
    command: holder.command,
    readable: true,
    fate: fateOf(holder),
    elsewhere: whereElse(holder),
  };
}

/**
 * The lock of a state, to be removed; null where there is none.
 * Throws a ProblemsError (`locked`) where another process that holds it still runs on this host.
 */
export async function removableLock(statePath: string): Promise<Removable | null> {
  const path = lockPath(statePath);
  const holder = await readHolder(path);
  if (holder === undefined) return null;
  if (holder !== null && holder.pid !== process.pid && fateOf(holder) === 'alive') {
    throw new ProblemsError([
      error(
        'locked',
        `the lock is in use: ${describeHolder(holder)} still runs on this host`,
        [],
        'wait until it has ended, or end it',
      ),
    ]);
  }
  return {
    holder: holder === null ? UNREADABLE : describeHolder(holder),
    remove: async () => {
      // While a question waited for its answer, another process may have taken it.
      const now = await readHolder(path);
      if (now != null && now.nonce !== holder?.nonce) throw locked(path, now);
      await rm(path, { force: true });
    },
  };
}

/** Takes a lock that is free or whose holder is gone; says from whom it was taken over. */
async function take(path: string, holder: Holder): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    if (await create(path, holder, link)) return null;
    const other = await readHolder(path);
    if (other === undefined) continue;
    if (other === null || fateOf(other) !== 'gone' || tries > TRIES) throw locked(path, other);
    if (await inTurn(path, other, holder, () => create(path, holder, rename)))
      return `took over the lock of ${describeHolder(other)}, which is gone`;
    await wait(A_MOMENT);
  }
}

/**
 * Does something to the lock of a dead holder, unless another process is quicker. Of several that find the same dead
 * one, the process that holds the lock of that very change does it: a live lock is never moved or removed.
 */
async function inTurn(
  path: string,
  dead: Holder,
  holder: Holder,
  work: () => Promise<boolean>,
): Promise<boolean> {
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
    return await work();
  } finally {
    await release(turn, mine);
  }
}

/** Removes the turns of processes that ended while they had one: whose lock it was about is gone as well. */
async function sweepTurns(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => []);
  const turns = names.filter((name) => name.startsWith(`${basename(path)}.`) && /\.[0-9a-f]{16}$/.test(name));
  for (const turn of turns.map((name) => join(dirname(path), name))) {
    const holder = await readHolder(turn).catch(() => undefined);
    if (holder != null && fateOf(holder) === 'gone') await rm(turn, { force: true }).catch(() => {});
  }
}

/** Throws a ProblemsError (`locked`) where the lock is no longer a holder's own. */
async function confirm(path: string, { nonce }: Holder): Promise<void> {
  const now = await readHolder(path);
  if (now?.nonce === nonce) return;
  const who =
    now === undefined
      ? 'it was removed'
      : `somebody else has it: ${now === null ? UNREADABLE : describeHolder(now)}`;
  throw new ProblemsError([
    error(
      'locked',
      `the lock of the state was lost: ${who} (${relative(process.cwd(), path)})`,
      [],
      'find out who removes locks, and run it again once no other run is under way',
    ),
  ]);
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
  const temporary = join(dirname(path), temporaryName());
  try {
    await makeFolder(dirname(path));
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
    // A link that leads nowhere would be neither free nor held.
    const there = await lstat(path);
    if (there.isSymbolicLink()) throw new NoRegularFile(there);
    text = await readRegular(path);
  } catch (failure) {
    if (failure instanceof NoRegularFile) throw noLock(path, failure);
    // A file stands where the folder would be: nothing can be in it.
    const { code } = failure as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : null;
  }
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function locked(path: string, holder: Holder | null): ProblemsError {
  const who = holder === null ? 'by something that left no name' : describeHolder(holder);
  const where = holder === null ? null : whereElse(holder);
  return new ProblemsError([
    error(
      'locked',
      `the state is locked: ${who} (${relative(process.cwd(), path)})`,
      [],
      where === null
        ? 'wait until it has ended; if that process is surely gone, use idops runs unlock'
        : `that process ${where}, so nobody can tell from here whether it still runs: make sure that it doesn't, then use idops runs unlock`,
    ),
  ]);
}

function noLock(path: string, failure: NoRegularFile): ProblemsError {
  return new ProblemsError([
    error(
      'locked',
      `the lock ${relative(process.cwd(), path)} can't be read: ${failure.message}`,
      [],
      'remove it; no idops made it',
    ),
  ]);
}

function notWritable(path: string, failure: unknown): ProblemsError {
  return new ProblemsError(
    [
      error(
        'not-writable',
        `the lock ${relative(process.cwd(), path)} can't be written: ${whyRefused(failure)}`,
        [],
        `nothing was sent; ${cureOf(failure)}`,
      ),
    ],
    { cause: failure },
  );
}
