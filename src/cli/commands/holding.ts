import type { Lock, StateBackend } from '../../state/backend.js';
import type { Context } from '../context.js';

/** Does something with the lock of a state held; one that can't be given back is a warning. Throws what taking it and the work throw. */
export async function holding<T>(
  backend: StateBackend,
  command: string,
  { output }: Context,
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  const lock = await backend.lock(command, new Date());
  try {
    return await work(lock);
  } finally {
    const left = await lock.release();
    if (left.length > 0) output.problems(left);
  }
}
