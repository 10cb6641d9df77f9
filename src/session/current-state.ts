import { adoptLostState, type StateLocation } from '../apply/owner.js';
import { withPendingRestores } from '../apply/pending-restores.js';
import { type Resumed, type ResumeOptions, resumeRun, unfinishedRuns } from '../apply/resume.js';
import { problemError } from '../base/problems.js';
import { parsePartName, type Shard, sameShard, shardText } from '../base/shard.js';
import type { ReadLists } from '../kinds/references.js';
import type { Lock } from '../state/backend.js';
import { describeRun, isRunning, type JournalContent, runningError } from '../state/journal.js';
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

export interface CurrentState {
  readonly state: State;
  /** Notes for the user: a lock that was taken over, a killed run that was settled. */
  readonly notes: readonly string[];
  /** The lists that were read to settle killed runs; undefined if none were needed. */
  readonly read: ReadLists | undefined;
}

export interface SettleOptions extends Omit<ResumeOptions, 'runs'> {
  readonly server: string;
  /** The shard of the session; undefined for the whole state. */
  readonly shard?: Shard | undefined;
}

/** Takes the lock, loads the state and settles the runs that were killed. The caller releases the lock. */
export async function lockAndLoadState(
  home: StateLocation,
  command: string,
  options: SettleOptions,
): Promise<CurrentState & { readonly lock: Lock }> {
  const { shard } = options;
  const loader = new StateLoader(home, options);
  const lock = await loader.lock(shard === undefined ? command : `${command} --shard ${shardText(shard)}`);
  try {
    const state = await loader.settle();
    // A run without a shard continues from the work of all shards.
    return { ...loader.result(shard === undefined ? joinedState(state) : state), lock };
  } catch (failure) {
    await lock.release();
    throw failure;
  }
}

/**
 * Loads the state and writes nothing. Killed runs are settled only in memory, for this plan. If a run is writing the state, returns the
 * state as it is.
 */
export async function loadStateForPlan(home: StateLocation, options: SettleOptions): Promise<CurrentState> {
  const { backend } = home;
  const loader = new StateLoader(home, options);
  const state = await loader.load();
  const found = await unfinishedRuns(state, home, options.shard);
  if (found.length === 0) return loader.result(state);
  const running = found.find(isRunning);
  const holder = (await backend.holder()) ?? (running && describeRun(running.run));
  if (holder === undefined) return loader.result(await loader.settleInMemory(state, found));
  loader.notes.push(`the state is being written: ${holder}`);
  return loader.result(state);
}

/** Thrown if another shard changed the state after it was loaded: nothing is saved, and the state is loaded again. */
const changedMeanwhile = problemError('locked', 'another shard changed the state');

/** Loads a state and settles killed runs: adds what they did to it. */
class StateLoader {
  readonly notes: string[] = [];
  readonly #home: StateLocation;
  readonly #options: SettleOptions;
  #read: ReadLists | undefined;

  constructor(home: StateLocation, options: SettleOptions) {
    this.#home = home;
    this.#options = options;
  }

  async load(): Promise<State> {
    return await withPendingRestores(await this.#home.backend.load(this.#options.server), this.#home);
  }

  async lock(command: string): Promise<Lock> {
    const lock = await this.#home.backend.lock(command, new Date(), this.#options.shard);
    if (lock.takenOver !== null) this.notes.push(lock.takenOver);
    return lock;
  }

  result(state: State): CurrentState {
    return { state, notes: this.notes, read: this.#read };
  }

  /**
   * Settles killed runs, with the lock held. The first shard saves that in the same change that splits the state, so shards that begin at
   * the same time find it done, or load the state again.
   */
  async settle(): Promise<State> {
    for (;;) {
      const { state, found, splitFor } = await this.#loadUnfinished();
      if (found.length === 0 && splitFor === undefined) return state;
      try {
        if (splitFor === undefined) return await this.#settleEach(state, found);
        await this.#split(state, found, splitFor);
      } catch (failure) {
        if (failure !== changedMeanwhile) throw failure;
      }
    }
  }

  async settleInMemory(before: State, found: readonly JournalContent[]): Promise<State> {
    const { state, notes } = await this.#resumeAll(
      before,
      found,
      () => 'the plan; the next apply saves them',
    );
    this.notes.push(...notes);
    return state;
  }

  /** Loads the state and its unfinished runs; `splitFor` is the shard if the state is not split for it yet. Throws `locked` if a run is active. */
  async #loadUnfinished(): Promise<{ state: State; found: JournalContent[]; splitFor: Shard | undefined }> {
    const { shard } = this.#options;
    for (;;) {
      const state = await this.load();
      const splitFor = shard === undefined || isSplit(state, shard) ? undefined : shard;
      const found = await unfinishedRuns(state, this.#home, shard);
      const running = found.find(isRunning);
      if (running === undefined) return { state, found, splitFor };
      // Meanwhile another shard may have split the state and begun its run.
      if (splitFor === undefined || isUnchanged(await this.#home.backend.saved(), state))
        throw runningError(running.run);
    }
  }

  async #resume(content: JournalContent, from: State): Promise<Resumed> {
    const { runs } = this.#home.backend;
    const resumed = await resumeRun(content, from, { ...this.#options, runs });
    this.#read = resumed.read;
    return resumed;
  }

  /** Settles killed runs one after the other, without saving. `target` says what their answers are added to, for the notes. */
  async #resumeAll(
    before: State,
    found: readonly JournalContent[],
    target: (content: JournalContent) => string,
  ) {
    let state = before;
    const resumed: Resumed[] = [];
    const notes: string[] = [];
    for (const content of found) {
      const one = await this.#resume(content, adoptLostState(state, content.run));
      resumed.push(one);
      notes.push(...notesOf(content, one, target(content)));
      state = one.state;
    }
    return { state, resumed, notes };
  }

  async #settleEach(before: State, found: readonly JournalContent[]): Promise<State> {
    let state = before;
    for (const content of found) {
      const isSaved = awaitsEnd(state, content.run.run);
      const from = this.#options.shard === undefined ? adoptLostState(state, content.run) : state;
      const resumed = await this.#resume(content, from);
      if (isSaved) await resumed.finish();
      state = await this.#save(state, resumed);
      if (isSaved) continue;
      await resumed.finish();
      this.notes.push(...notesOf(content, resumed, targetOf(content)));
    }
    return state;
  }

  /** Saves the outcome of a settled run. Throws `changedMeanwhile`. */
  async #save(before: State, { state, run }: Resumed): Promise<State> {
    const { backend } = this.#home;
    const { shard } = this.#options;
    if (shard === undefined) {
      await backend.save(state);
      return state;
    }
    const part = parsePartName(run);
    // A run of another shard may be about objects that this shard doesn't own.
    const isOwn = part !== undefined && sameShard(part.shard, shard);
    const head = await backend.merge({
      records: changedRecords(before.resources, state.resources),
      head: (now) => {
        if (!isOwn && !isUnchanged(now, before)) throw changedMeanwhile;
        return withSettled({ ...requireSameState(now, before), serial: now.serial + 1 }, run);
      },
    });
    return { ...head, resources: state.resources };
  }

  /** Splits a state and saves the outcome of killed runs with it, then ends their journals. Throws `changedMeanwhile`. */
  async #split(before: State, found: readonly JournalContent[], shard: Shard): Promise<void> {
    const { backend } = this.#home;
    const { state: after, resumed, notes } = await this.#resumeAll(before, found, targetOf);
    const runs = resumed.map(({ run }) => run);
    const { resources, ...head } = splitState({ ...after, serial: before.serial + 1 }, shard, runs);
    await backend.merge({
      ...(before.serial === 0 ? { absent: before } : {}),
      records: changedRecords(before.resources, resources),
      head: (now) => {
        if (!isUnchanged(now, before)) throw changedMeanwhile;
        return head;
      },
    });
    if (runs.length > 0) {
      for (const one of resumed) await one.finish();
      await backend.merge({
        records: new Map(),
        head: (now) =>
          runs.reduce<StateHead>(withSettled, { ...requireSameState(now, head), serial: now.serial + 1 }),
      });
    }
    this.notes.push(...notes);
  }
}

/** Whether the saved state is still the one that was loaded. */
function isUnchanged(now: StateHead | undefined, { serial, lineage }: State): boolean {
  return now === undefined ? serial === 0 : now.serial === serial && now.lineage === lineage;
}

function targetOf({ ended }: JournalContent): string {
  return ended ? 'it' : 'the state';
}

/** The notes about a run that was settled. */
function notesOf({ ended }: JournalContent, { run, settled, findings }: Resumed, target: string): string[] {
  const why = ended ? 'is newer than the state' : 'had not ended';
  return [
    `run ${run} ${why}: ${settled === 0 ? 'none' : settled} of its answers ${settled === 1 ? 'was' : 'were'} taken into ${target}`,
    ...findings,
  ];
}
