import { withDebts } from '../apply/debts.js';
import { heirOf, type StateHome } from '../apply/owner.js';
import { type ResumeOptions, resumeRun, unfinishedRuns } from '../apply/resume.js';
import type { Lock } from '../state/backend.js';
import { isUnderWay, runHolder, underWay } from '../state/journal.js';
import type { State } from '../state/state.js';

export interface HeldState {
  readonly state: State;
  readonly lock: Lock | undefined;
  readonly notes: readonly string[];
}

/**
 * Loads the state and brings it up to what killed runs did. A session that writes takes the lock first; one that
 * only plans takes it for as long as there is something to settle.
 */
export async function settleState(
  home: StateHome,
  writes: string | undefined,
  options: Omit<ResumeOptions, 'runs' | 'now'> & { readonly server: string },
): Promise<HeldState> {
  const { backend } = home;
  const notes: string[] = [];
  let lock = writes === undefined ? undefined : await backend.lock(writes, new Date());
  try {
    const load = async (): Promise<State> => await withDebts(await backend.load(options.server), home);
    let state = await load();
    const unfinished = () => unfinishedRuns(state, home);
    const found = await unfinished();
    if (found.length === 0) return { state, lock, notes: takeover(lock) };
    // Where its lock was removed, nothing may be written beside a run all the same.
    const living = found.find(isUnderWay);
    if (lock === undefined) {
      const holder = (await backend.holder()) ?? (living === undefined ? null : runHolder(living.run));
      if (holder !== null) return { state, lock, notes: [`the state is being written: ${holder}`] };
      try {
        lock = await backend.lock('plan', new Date());
      } catch (failure) {
        // Another process was quicker, and settles it or goes on with it.
        const quicker = await backend.holder();
        if (quicker === null) throw failure;
        return { state, lock, notes: [`the state is being written: ${quicker}`] };
      }
      // What was unfinished may have ended while the lock was taken.
      state = await load();
    }
    if (living !== undefined) throw underWay(living.run);
    notes.push(...takeover(lock));
    for (const content of await unfinished()) {
      const resumed = await resumeRun(content, heirOf(state, content.run), {
        ...options,
        runs: backend.runs,
        now: () => new Date(),
      });
      state = resumed.state;
      await backend.save(state);
      await resumed.finish();
      notes.push(
        content.ended
          ? `run ${resumed.run} is newer than the state: ${resumed.settled} of its answers were taken into it`
          : `run ${resumed.run} had not ended: ${resumed.settled} of its answers were taken into the state`,
        ...resumed.findings,
      );
    }
    if (writes !== undefined) return { state, lock, notes };
    await lock.release();
    return { state, lock: undefined, notes };
  } catch (failure) {
    await lock?.release();
    throw failure;
  }
}

function takeover(lock: Lock | undefined): string[] {
  return lock === undefined || lock.takenOver === null ? [] : [lock.takenOver];
}
