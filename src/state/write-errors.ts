import { ProblemsError, problemError } from '../base/problems.js';
import { isSystemError, systemErrorText } from '../base/system-errors.js';

/** Error codes if another file or folder is in the way. */
const obstructedCodes: readonly unknown[] = ['EEXIST', 'ENOTDIR', 'EISDIR'];

/** The hint if the state, its lock or a journal can't be written. */
export function writeHint(failure: unknown): string {
  const hint = failure instanceof ProblemsError ? failure.problems[0]?.hint : undefined;
  if (hint !== undefined) return hint;
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined;
  return obstructedCodes.includes(code)
    ? 'move what is in the way elsewhere, or name another place with state.path'
    : 'free some space, or fix the permissions of the folder of the state';
}

/**
 * Works with files. If the file system refuses it, throws a ProblemsError (`not-writable`) that begins with `what`, such as "the
 * journal X can't be written".
 */
export async function withWriteErrors<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    if (!isSystemError(failure)) throw failure;
    const message = `${what}: ${systemErrorText(failure)}`;
    throw problemError('not-writable', message, writeHint(failure), failure);
  }
}
