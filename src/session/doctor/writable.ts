import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Check, fail, warn } from '../../base/checks.js';
import { realPlaceOf } from '../../base/links.js';
import { ProblemsError } from '../../base/problems.js';
import { isThere } from '../../base/work-tree.js';
import { shownPath } from '../../source/file.js';
import type { StateBackend } from '../../state/backend.js';

/** Whether a run could write beside a state, as far as permissions tell; nothing where it could. Nothing is written to find out. */
export async function writableCheck(state: string, cwd: string): Promise<Check[]> {
  let folder = dirname(await realPlaceOf(state));
  while (!(await isThere(folder)) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return [];
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException;
    return [
      fail(
        'state',
        `${shownPath(folder, cwd)} can't be written (${code}), so no run could record what it does`,
        'mend the permissions of the folder, or name another place with state.path',
      ),
    ];
  }
}

/** Whether a place elsewhere would take what a run records, as far as it says; nothing where it would. A job that only plans needs no more. */
export async function takenCheck(backend: StateBackend): Promise<Check[]> {
  try {
    await backend.tryWriting?.();
    return [];
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    return failure.problems.map(({ message, hint }) =>
      warn(
        'state',
        `${message}; plans can be made from here, and nothing can be applied`,
        hint ?? 'docs/state.md says what it needs',
      ),
    );
  }
}
