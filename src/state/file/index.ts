import { basename, dirname, join } from 'node:path';
import { realPlaceOf } from '../../base/links.js';
import type { StateBackend } from '../backend.js';
import { excluding } from '../locks.js';
import { stateName, statesBeside } from './beside.js';
import { fileLocks } from './lock.js';
import { fileRuns } from './runs.js';
import { stateFile } from './state-file.js';
import { refuseTracked } from './tracked.js';

/** Where a state lies on a disk. */
export interface FileSettings {
  /** The path of the state; its lock lies beside it, and the journals in a folder `runs` beside it. */
  readonly path: string;
  /** Whether git may track them: `state.allow_tracked`. */
  readonly allowTracked: boolean;
}

/** The backend that keeps a state in a file, for processes of one machine. */
export async function fileBackend({ path: named, allowTracked }: FileSettings): Promise<StateBackend> {
  // A state has one lock and one place for its runs, by whichever links somebody comes to it.
  const path = await realPlaceOf(named);
  const folder = join(dirname(path), 'runs');
  return {
    ...stateFile(path),
    name: basename(path),
    runs: fileRuns(folder),
    told: () => stateName(path),
    beside: () => statesBeside(path),
    ...excluding(fileLocks(path)),
    async check(use) {
      if (allowTracked) return;
      // A link that a commit brings along decides as well which state is believed.
      await refuseTracked([...new Set([named, path])], folder, use === 'write');
    },
  };
}
