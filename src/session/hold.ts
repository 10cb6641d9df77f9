import { setTimeout as wait } from 'node:timers/promises';
import { withDebts } from '../apply/debts.js';
import { heirOf, type StateHome } from '../apply/owner.js';
import { type Resumed, type ResumeOptions, resumeRun, unfinishedRuns } from '../apply/resume.js';
import { interrupted } from '../base/pauses.js';
import { error, type ProblemCode, ProblemsError } from '../base/problems.js';
import { partOfRun, type Shard, shardText } from '../base/shard.js';
import type { ReadLists } from '../kinds/references.js';
import type { Lock, StateBackend } from '../state/backend.js';
import { isUnderWay, type JournalContent, runHolder, underWay } from '../state/journal.js';
import { changedRecords, isSplit, joined, sameState, split, withSettled } from '../state/shards.js';
import type { State } from '../state/state.js';

export interface HeldState {
  readonly state: State;
  readonly lock: Lock | undefined;
  readonly notes: readonly string[];
  /** The lists that were read to find out what killed runs did; left out where there was nothing to find out. */
  readonly read?: ReadLists;
}

export interface HoldOptions extends Omit<ResumeOptions, 'runs' | 'now'> {
  readonly server: string;
  readonly signal?: AbortSignal;
  /** The part that the session is for; all of it where it isn't given. */
  readonly shard?: Shard | undefined;
}

/**
 * Loads the state and brings it up to what killed runs did. A session that writes takes the lock first; one that
 * only plans takes it for as long as there is something to settle.
 */
export async function settleState(
  home: StateHome,
  writes: string | undefined,
  options: HoldOptions,
): Promise<HeldState> {
  const { shard } = options;
  if (shard === undefined) return await settleAs(home, writes, undefined, options);
  if (writes !== undefined) return await holdShard(home, writes, shard, options);
  // Where nothing was split yet, what is unfinished was of all of it.
  const part = isSplit(await home.backend.saved(), shard) ? shard : undefined;
  return await settleAs(home, undefined, part, options);
}

/** What the lock is held for in which a state is made ready for its shards. */
const SPLITTING = 'apply, which begins its shards,';

/** Milliseconds that other shards of the same run get to make a state ready. */
const PATIENCE = 120_000;
/** Milliseconds between two looks at them, at most. */
const A_MOMENT = 500;

/** Holds the lock of a shard, of a state that is ready for so many of them. */
async function holdShard(
  home: StateHome,
  writes: string,
  shard: Shard,
  options: HoldOptions,
): Promise<HeldState> {
  const { backend } = home;
  const notes: string[] = [];
  const until = performance.now() + PATIENCE;
  let unexplained = 0;
  for (let tries = 0; ; tries += 1) {
    try {
      const isReady = async () =>
        isSplit(await backend.saved(), shard) && (await backend.runs.kept()).every((run) => partOfRun(run));
      if (!(await isReady())) {
        const whole = await settleAs(home, SPLITTING, undefined, options);
        notes.push(...whole.notes);
        try {
          if (!isSplit(whole.saved, shard)) await backend.save(split(whole.state, shard));
        } finally {
          await whole.lock?.release();
        }
      }
      const held = await settleAs(home, `${writes} --shard ${shardText(shard)}`, shard, options);
      if (held.isReady) return { ...held, notes: [...notes, ...held.notes] };
      await held.lock?.release();
      if (performance.now() > until) throw splitOtherwise(backend.place, shard);
    } catch (failure) {
      if (!isOnly(failure, 'locked') || performance.now() >= until) throw failure;
      const inTheWay = (await backend.holdings()).filter(({ fate }) => fate !== 'gone');
      // Each of the others may have ended just before that.
      unexplained = inTheWay.length === 0 ? unexplained + 1 : 0;
      if (unexplained > Math.max(A_FEW, shard.count) || !areSiblings(inTheWay, shard)) throw failure;
    }
    if (options.signal?.aborted) throw interrupted('nothing was sent');
    await wait(Math.random() * Math.min(A_MOMENT, 20 * 2 ** tries));
  }
}

/** How often in a row nobody is found in the way of what was refused, at least. */
const A_FEW = 3;

/** The refusal where others split the state otherwise all the time. */
function splitOtherwise(place: string, shard: Shard): ProblemsError {
  return new ProblemsError([
    error(
      'locked',
      `the state ${place} is split otherwise by others than into ${shard.count} shards`,
      [],
      'let all shards have the same number of parts, and run it again',
    ),
  ]);
}

/** Whether something failed for this reason and no other. */
function isOnly(failure: unknown, reason: ProblemCode): boolean {
  return failure instanceof ProblemsError && failure.problems.every(({ code }) => code === reason);
}

type Holdings = Awaited<ReturnType<StateBackend['holdings']>>;

/** Whether all that is in the way are other shards of the same run, which make the state ready. */
function areSiblings(inTheWay: Holdings, own: Shard): boolean {
  return inTheWay.every(({ shard, command }) =>
    shard === undefined ? command === SPLITTING : shard.count === own.count && shard.index !== own.index,
  );
}

interface Settled extends HeldState {
  /** The state as it is kept. */
  readonly saved: State;
  /** Whether it is as a run of the shard needs it. */
  readonly isReady: boolean;
}

/** The same for the whole, or for the runs of one shard of a state that is split so. */
async function settleAs(
  { backend, environment }: StateHome,
  writes: string | undefined,
  shard: Shard | undefined,
  options: HoldOptions,
): Promise<Settled> {
  const home = { backend, environment };
  const notes: string[] = [];
  let lock = writes === undefined ? undefined : await backend.lock(writes, new Date(), shard);
  try {
    const load = async (): Promise<State> => await withDebts(await backend.load(options.server), home);
    let state = await load();
    let read: ReadLists | undefined;
    const isReady = shard === undefined || isSplit(state, shard);
    const held = (): Settled => ({
      // A run of the whole goes on from all that shards did.
      state: shard === undefined && writes !== undefined ? joined(state) : state,
      saved: state,
      lock,
      notes,
      isReady,
      ...(read === undefined ? {} : { read }),
    });
    if (!isReady) return held();
    const unfinished = () => unfinishedRuns(state, home, shard);
    const found = await unfinished();
    if (found.length === 0) {
      notes.push(...takeover(lock));
      return held();
    }
    // Where its lock was removed, nothing may be written beside a run all the same.
    const living = found.find(isUnderWay);
    if (lock === undefined) {
      const holder = (await backend.holder()) ?? (living === undefined ? null : runHolder(living.run));
      if (holder !== null) {
        notes.push(`the state is being written: ${holder}`);
        return held();
      }
      try {
        lock = await backend.lock('plan', new Date(), shard);
      } catch (failure) {
        // Another process was quicker, and settles it or goes on with it.
        const quicker = await backend.holder();
        if (quicker !== null) {
          notes.push(`the state is being written: ${quicker}`);
          return held();
        }
        // A plan writes nothing else: one that may only read needs what the run did, and leaves it to others to keep that.
        if (!isOnly(failure, 'not-writable')) throw failure;
      }
      // What was unfinished may have ended while the lock was taken.
      state = await load();
    }
    if (living !== undefined) throw underWay(living.run);
    notes.push(...takeover(lock));
    const keeps = lock !== undefined;
    for (const content of await unfinished()) {
      const before = state;
      const resumed = await resumeRun(content, shard === undefined ? heirOf(state, content.run) : state, {
        ...options,
        runs: backend.runs,
        now: () => new Date(),
      });
      state = resumed.state;
      read = resumed.read;
      if (!keeps) {
        notes.push(...told(content, resumed, 'the plan alone, since the state can not be written from here'));
        continue;
      }
      if (shard === undefined) await backend.save(state);
      else {
        const head = await backend.merge({
          records: changedRecords(before.resources, state.resources),
          head: (now) =>
            withSettled({ ...sameState(now, before), serial: now.serial + 1 }, resumed.run, !content.ended),
        });
        state = { ...head, resources: state.resources };
      }
      await resumed.finish();
      notes.push(...told(content, resumed, content.ended ? 'it' : 'the state'));
    }
    if (writes !== undefined) return held();
    await lock?.release();
    lock = undefined;
    return held();
  } catch (failure) {
    await lock?.release();
    throw failure;
  }
}

/** What is told of a run that was taken into something. */
function told({ ended }: JournalContent, { run, settled, findings }: Resumed, into: string): string[] {
  const why = ended ? 'is newer than the state' : 'had not ended';
  return [`run ${run} ${why}: ${settled} of its answers were taken into ${into}`, ...findings];
}

function takeover(lock: Lock | undefined): string[] {
  return lock === undefined || lock.takenOver === null ? [] : [lock.takenOver];
}
