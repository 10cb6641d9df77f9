import { error, ProblemsError } from '../base/problems.js';
import type { Shard } from '../base/shard.js';
import type { Holding, Lock, Locks, Removable, StateBackend } from './backend.js';

/**
 * The locks of a state, of which that of the whole excludes all others, and those of shards exclude each other where they split it
 * otherwise. Each is shown before the others are looked at, so that of two that come at once one sees the other. `place` is what a message
 * calls where a lock is.
 */
export function excluding(
  locks: Locks,
  place: (shard: Shard | undefined) => string,
): Pick<StateBackend, 'lock' | 'holder' | 'holdings' | 'removable'> {
  const all = async (): Promise<(Shard | undefined)[]> => [undefined, ...(await locks.shards())];
  const lock = async (command: string, now: Date, shard?: Shard): Promise<Lock> => {
    const taken = await locks.take(command, now, shard);
    try {
      const gone: string[] = [];
      for (const other of (await all()).filter((one) => isInTheWay(one, shard))) {
        // One that ended by itself would still be good to a holder that comes back.
        const holding = await locks.clear(other);
        if (holding === null) continue;
        if (holding.fate !== 'gone') throw inTheWay(holding, other, place(other));
        gone.push(`took over the lock of ${holding.holder}, which is gone`);
      }
      if (gone.length === 0) return taken;
      const { takenOver } = taken;
      return { ...taken, takenOver: [...(takenOver === null ? [] : [takenOver]), ...gone].join('; ') };
    } catch (failure) {
      await taken.release();
      throw failure;
    }
  };
  return {
    lock,
    async holder() {
      for (const shard of await all()) {
        const holder = await locks.holder(shard);
        if (holder !== null) return holder;
      }
      return null;
    },
    async holdings() {
      const found = await Promise.all(
        (await all()).map(async (shard) => {
          const holding = await locks.holding(shard);
          return holding === null ? [] : [{ ...holding, ...(shard === undefined ? {} : { shard }) }];
        }),
      );
      return found.flat();
    },
    async removable() {
      const found: Removable[] = [];
      const failures: unknown[] = [];
      for (const shard of await all()) {
        try {
          const one = await locks.removable(shard);
          if (one !== null) found.push(one);
        } catch (failure) {
          failures.push(failure);
        }
      }
      if (found.length === 0 && failures.length > 0) throw failures[0];
      return found.length === 0 ? null : together(found);
    },
  };
}

function isInTheWay(other: Shard | undefined, shard: Shard | undefined): boolean {
  if (shard === undefined) return other !== undefined;
  return other === undefined || other.count !== shard.count;
}

function together(locks: readonly Removable[]): Removable {
  return {
    holder: locks.map(({ holder }) => holder).join('; and of '),
    async remove() {
      for (const one of locks) await one.remove();
    },
  };
}

function inTheWay({ holder, elsewhere }: Holding, other: Shard | undefined, place: string): ProblemsError {
  const what = other === undefined ? 'the state is locked' : 'the state is locked by a run of a shard';
  return new ProblemsError([
    error(
      'locked',
      `${what}: ${holder} (${place})`,
      [],
      elsewhere === null
        ? 'wait until it has ended; if that process is surely gone, use idops runs unlock'
        : `that process ${elsewhere}, so nobody can tell from here whether it still runs: make sure that it doesn't, then use idops runs unlock`,
    ),
  ]);
}
