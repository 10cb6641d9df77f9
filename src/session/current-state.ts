import { withDebts } from '../apply/debts.js';
import { heirOf, type StateHome } from '../apply/owner.js';
import { type Resumed, type ResumeOptions, resumeRun, unfinishedRuns } from '../apply/resume.js';
import { error, type ProblemCode, ProblemsError } from '../base/problems.js';
import { isShard, partOfRun, type Shard, shardText } from '../base/shard.js';
import type { ReadLists } from '../kinds/references.js';
import type { Lock, StateBackend } from '../state/backend.js';
import { describeRun, isRunning, type JournalContent, stillRunning } from '../state/journal.js';
import {
  awaitsEnd,
  changedRecords,
  isSplit,
  joinedState,
  requireSameState,
  splitState,
  withSettled,
} from '../state/shards.js';
import type { State, StateHead } from '../state/state.js';

export interface HeldState {
  readonly state: State;
  readonly lock: Lock | undefined;
  readonly notes: readonly string[];
  /** The lists that were read to find out what killed runs did; left out where there was nothing to find out. */
  readonly read?: ReadLists;
}

export interface HoldOptions extends Omit<ResumeOptions, 'runs' | 'now'> {
  readonly server: string;
  /** The part that the session is for; all of it where it isn't given. */
  readonly shard?: Shard | undefined;
}

/**
 * Loads the state and brings it up to what killed runs did. A session that writes takes the lock first; one that
 * only plans takes it for as long as there is something to settle. The first shard of a split takes all that is unfinished into the
 * state, in the same change that splits it: others that begin at the same time find it done, or done otherwise and look at it again.
 */
export async function settleState(
  { backend, environment }: StateHome,
  writes: string | undefined,
  options: HoldOptions,
): Promise<HeldState> {
  const home = { backend, environment };
  const { shard } = options;
  const notes: string[] = [];
  const locked = async (command: string): Promise<Lock> => {
    const taken = await backend.lock(command, new Date(), shard);
    if (taken.takenOver !== null) notes.push(taken.takenOver);
    return taken;
  };
  const part = shard === undefined ? '' : ` --shard ${shardText(shard)}`;
  let lock = writes === undefined ? undefined : await locked(`${writes}${part}`);
  try {
    const load = async (): Promise<State> => await withDebts(await backend.load(options.server), home);
    let state = await load();
    let read: ReadLists | undefined;
    const held = (): HeldState => ({
      // A run of the whole goes on from all that shards did.
      state: shard === undefined && writes !== undefined ? joinedState(state) : state,
      lock,
      notes,
      ...(read === undefined ? {} : { read }),
    });
    const resume = async (content: JournalContent, from: State): Promise<Resumed> => {
      const resumed = await resumeRun(content, from, {
        ...options,
        runs: backend.runs,
        now: () => new Date(),
      });
      read = resumed.read;
      return resumed;
    };
    for (let keeps = true; ; ) {
      const isWhole = shard !== undefined && !isSplit(state, shard);
      const found = await unfinishedRuns(state, home, shard);
      if (found.length === 0 && (writes === undefined || !isWhole)) break;
      const living = found.find(isRunning);
      if (lock === undefined && keeps) {
        const holder = (await backend.holder()) ?? (living === undefined ? null : describeRun(living.run));
        if (holder !== null) {
          notes.push(`the state is being written: ${holder}`);
          return held();
        }
        try {
          lock = await locked('plan');
        } catch (failure) {
          // Another process was quicker, and settles it or goes on with it.
          const quicker = await backend.holder();
          if (quicker !== null) {
            notes.push(`the state is being written: ${quicker}`);
            return held();
          }
          // A plan writes nothing else: one that may only read needs what the run did, and leaves it to others to keep that.
          if (!isOnly(failure, 'not-writable')) throw failure;
          keeps = false;
        }
        // What was unfinished may have ended while the lock was taken.
        state = await load();
        continue;
      }
      if (living !== undefined) {
        // Another shard may have split the state meanwhile, and begun.
        const isOther = isWhole && !isSame(await backend.saved(), state);
        if (!isOther) throw stillRunning(living.run);
        state = await load();
        continue;
      }
      if (!keeps) {
        for (const content of found) {
          const resumed = await resume(content, heirOf(state, content.run));
          state = resumed.state;
          notes.push(
            ...told(content, resumed, 'the plan alone, since the state can not be written from here'),
          );
        }
        break;
      }
      try {
        if (isWhole) {
          const resumed: Resumed[] = [];
          const findings: string[] = [];
          let after = state;
          for (const content of found) {
            const one = await resume(content, heirOf(after, content.run));
            resumed.push(one);
            findings.push(...told(content, one, into(content)));
            after = one.state;
          }
          state = await begin(backend, state, after, shard, resumed);
          notes.push(...findings);
          continue;
        }
        for (const content of found) {
          const isHeld = awaitsEnd(state, content.run.run);
          const before = state;
          const resumed = await resume(content, shard === undefined ? heirOf(state, content.run) : state);
          if (isHeld) await resumed.finish();
          state = await keep(backend, before, resumed, shard);
          if (isHeld) continue;
          await resumed.finish();
          notes.push(...told(content, resumed, into(content)));
        }
        break;
      } catch (failure) {
        if (failure !== moved) throw failure;
        state = await load();
      }
    }
    if (writes !== undefined) return held();
    for (const { message } of (await lock?.release()) ?? []) notes.push(message);
    lock = undefined;
    return held();
  } catch (failure) {
    await lock?.release();
    throw failure;
  }
}

/** What ends a change of a state that another shard changed since it was loaded: nothing is kept, and the state is looked at again. */
const moved = new ProblemsError([error('locked', 'another shard changed the state')]);

/** Whether a state is as it was loaded. */
function isSame(now: StateHead | undefined, { serial, lineage }: State): boolean {
  return now === undefined ? serial === 0 : now.serial === serial && now.lineage === lineage;
}

/** Splits a state, with what is unfinished taken into it, and then gives the journals of that their end. Throws `moved`. */
async function begin(
  backend: StateBackend,
  before: State,
  after: State,
  shard: Shard,
  resumed: readonly Resumed[],
): Promise<State> {
  const { resources, ...head } = splitState(
    { ...after, serial: before.serial + 1 },
    shard,
    resumed.map(({ run }) => run),
  );
  await backend.merge({
    ...(before.serial === 0 ? { absent: before } : {}),
    records: changedRecords(before.resources, resources),
    head: (now) => {
      if (!isSame(now, before)) throw moved;
      return head;
    },
  });
  if (resumed.length === 0) return { ...head, resources };
  for (const one of resumed) await one.finish();
  const ended = await backend.merge({
    records: new Map(),
    head: (now) =>
      resumed.reduce<StateHead>((done, { run }) => withSettled(done, run), {
        ...requireSameState(now, head),
        serial: now.serial + 1,
      }),
  });
  return { ...ended, resources };
}

/** Keeps what was found out about a run. Throws `moved`. */
async function keep(
  backend: StateBackend,
  before: State,
  { state, run }: Resumed,
  shard: Shard | undefined,
): Promise<State> {
  if (shard === undefined) {
    await backend.save(state);
    return state;
  }
  const part = partOfRun(run);
  // What is no part of this shard may be about objects that others write.
  const isOwn = part !== undefined && isShard(part.shard, shard);
  const head = await backend.merge({
    records: changedRecords(before.resources, state.resources),
    head: (now) => {
      if (!isOwn && !isSame(now, before)) throw moved;
      return withSettled({ ...requireSameState(now, before), serial: now.serial + 1 }, run);
    },
  });
  return { ...head, resources: state.resources };
}

/** Whether something failed for this reason and no other. */
function isOnly(failure: unknown, reason: ProblemCode): boolean {
  return failure instanceof ProblemsError && failure.problems.every(({ code }) => code === reason);
}

function into({ ended }: JournalContent): string {
  return ended ? 'it' : 'the state';
}

/** What is told of a run that was taken into something. */
function told({ ended }: JournalContent, { run, settled, findings }: Resumed, where: string): string[] {
  const why = ended ? 'is newer than the state' : 'had not ended';
  return [
    `run ${run} ${why}: ${settled === 0 ? 'none' : settled} of its answers ${settled === 1 ? 'was' : 'were'} taken into ${where}`,
    ...findings,
  ];
}
