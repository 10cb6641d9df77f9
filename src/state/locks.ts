import { problemError } from '../base/problems.js';
import type { Shard } from '../base/shard.js';
import type { FoundLock, Lock, LockStore, StateBackend } from './backend.js';
import { lockedError, takeoverNote } from './holder.js';

/** How often a lock is read again while it keeps changing. */
const MAX_TRIES = 250;

/**
 * Makes the lock of the whole state exclude all others, and locks of shards exclude those of another split. A lock is taken before the
 * others are listed, so that of two concurrent processes at least one sees the other.
 */
export function exclusiveLocks(
  locks: LockStore,
): Pick<StateBackend, 'lock' | 'holder' | 'lockStatuses' | 'removable'> {
  const lock = async (command: string, now: Date, shard?: Shard): Promise<Lock> => {
    const taken = await locks.take(command, now, shard);
    try {
      const takeovers: string[] = taken.takenOver === null ? [] : [taken.takenOver];
      for (let tries = 1; ; tries += 1) {
        const others = (await locks.list()).filter((one) => conflicts(one.shard, shard));
        const [first] = others;
        if (first === undefined) break;
        const living = others.find(({ fate }) => fate !== 'gone');
        if (living !== undefined || tries > MAX_TRIES) {
          const found = living ?? first;
          const what = found.shard === undefined ? undefined : 'the state is locked by a run of a shard';
          throw lockedError(found, found.place, what);
        }
        // The holder of an expired lease could come back and renew it.
        for (const other of others) if (await other.removeIfUnchanged()) takeovers.push(takeoverNote(other));
      }
      return { ...taken, takenOver: takeovers.length === 0 ? null : takeovers.join('; ') };
    } catch (failure) {
      await taken.release();
      throw failure;
    }
  };
  const remove = async (one: FoundLock): Promise<void> => {
    let now: FoundLock | undefined = one;
    for (let tries = 1; now !== undefined; tries += 1) {
      const isOther = now.nonce !== null && now.nonce !== one.nonce;
      if (isOther || tries > MAX_TRIES) throw lockedError(now, now.place);
      // Its holder may renew it at the same time.
      if (await now.removeIfUnchanged()) return;
      now = (await locks.list()).find(
        ({ place, shard }) =>
          place === one.place && shard?.index === one.shard?.index && shard?.count === one.shard?.count,
      );
    }
  };
  return {
    lock,
    async holder() {
      const current = (await locks.list()).find(({ fate }) => fate !== 'gone');
      if (current === undefined) return null;
      const isUnsure = current.readable && current.fate === 'unknown';
      return isUnsure ? `${current.holder}, if that process still runs` : current.holder;
    },
    lockStatuses: () => locks.list(),
    async removable() {
      const found = await locks.list();
      const free = found.filter(({ inUse }) => !inUse);
      const [first] = found;
      if (first === undefined) return null;
      if (free.length === 0)
        throw problemError(
          'locked',
          `the lock is in use: ${first.holder} still runs on this host`,
          'wait until it has ended, or end it',
        );
      return {
        holder: free.map(({ holder }) => holder).join('; and of '),
        async remove() {
          for (const one of free) await remove(one);
        },
      };
    },
  };
}

function conflicts(other: Shard | undefined, shard: Shard | undefined): boolean {
  if (shard === undefined) return other !== undefined;
  return other === undefined || other.count !== shard.count;
}
