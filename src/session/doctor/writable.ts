import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Check, fail } from '../../base/checks.js';
import { realPlaceOf } from '../../base/links.js';
import { isThere } from '../../base/work-tree.js';
import { shownPath } from '../../source/file.js';

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
