import { spawnSync } from 'node:child_process';
import { ProblemsError } from '../../src/base/problems.js';
import { currentProcess } from '../../src/base/process.js';
import type { Shard } from '../../src/base/shard.js';
import type { StateBackend } from '../../src/state/backend.js';

/** The shard of a lock, and its holder. Default: the whole state, locked by a process of another machine. */
export interface Left {
  readonly shard?: Shard;
  readonly by?: object;
}

/** Where the states of one backend are, by name. They share a store of runs. */
export interface BackendPlace {
  open(name: string): Promise<StateBackend>;
  /** Changes a saved state behind the backend's back: invalid, of a newer format, or moved. */
  spoil(name: string, how: 'garbage' | 'newer' | 'moved'): Promise<void>;
  /** Removes a saved state behind the backend's back. */
  drop(name: string): Promise<void>;
  /** Puts an invalid line into the middle of a journal. */
  spoilRun(name: string, run: string): Promise<void>;
  /** Leaves a lock of a process of another machine that was last renewed at `since`. */
  leave(name: string, since: Date, left?: Left): Promise<void>;
  /** Whether a lock of an unreachable machine expires. If not, it is never taken over. */
  readonly ends: boolean;
}

/** A process of another machine. */
export const elsewhere = {
  user: 'grace',
  host: 'another-machine',
  pid: 4711,
  started: 'another-boot 1',
  boot: 'another-boot',
  namespace: 'pid:[1]',
  command: 'apply',
};

export function gone(): object {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return { ...currentProcess(), user: 'grace', pid, started: 'before 1', command: 'apply' };
}

/** The code of the problem that `work` rejects with; undefined if it resolves. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  const failure = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (failure === undefined) return undefined;
  if (!(failure instanceof ProblemsError)) throw failure;
  return failure.problems[0]?.code;
}
