import { spawnSync } from 'node:child_process';
import { ProblemsError } from '../../src/base/problems.js';
import { ownProcess } from '../../src/base/process.js';
import type { Shard } from '../../src/base/shard.js';
import type { StateBackend } from '../../src/state/backend.js';

/** Whose lock is left, other than that of the whole by a process of another machine. */
export interface Left {
  readonly shard?: Shard;
  readonly by?: object;
}

/** A place for states of a kind of backend: each name has one, all of them their runs together. */
export interface BackendPlace {
  open(name: string): Promise<StateBackend>;
  /** Does something to a state that was saved, past the backend: nobody can read it, a later version wrote it, or it was moved. */
  spoil(name: string, how: 'garbage' | 'newer' | 'moved'): Promise<void>;
  /** Removes a state that was saved, past the backend. */
  drop(name: string): Promise<void>;
  /** Puts a line into the middle of a journal that is none. */
  spoilRun(name: string, run: string): Promise<void>;
  /** Leaves a lock of a process on another machine, of which nothing was heard since then. */
  leave(name: string, since: Date, left?: Left): Promise<void>;
  /** Whether the lock of a machine of which nothing is heard ends by itself; where it doesn't, nobody can judge it from elsewhere. */
  readonly ends: boolean;
}

/** What names a process of another machine. */
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
  return { ...ownProcess(), user: 'grace', pid, started: 'before 1', command: 'apply' };
}

/** The code of the problem that something ends with; undefined where it ends well. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  const failure = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (failure === undefined) return undefined;
  if (!(failure instanceof ProblemsError)) throw failure;
  return failure.problems[0]?.code;
}
