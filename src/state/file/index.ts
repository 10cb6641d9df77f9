import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { shellWord } from '../../base/escape.js';
import { stringifyJson } from '../../base/json.js';
import { realPath, resolveLinks } from '../../base/paths.js';
import { problemError } from '../../base/problems.js';
import { NotRegularFile, readFileBytes, readTextFile } from '../../base/read-file.js';
import { systemErrorText } from '../../base/system-errors.js';
import { writeAtomic } from '../../base/write-file.js';
import type { StateBackend, StateIdentity } from '../backend.js';
import { exclusiveLocks } from '../locks.js';
import type { State } from '../state.js';
import {
  MAX_STATE_BYTES,
  mergeState,
  parseState,
  parseStateIdentity,
  parseStateJson,
  stateError,
  stateForServer,
  tooLargeText,
} from '../state-text.js';
import { withWriteErrors } from '../write-errors.js';
import { exclusively, fileLocks } from './lock.js';
import { fileRuns } from './runs.js';
import { refuseTracked } from './tracked.js';

export interface FileSettings {
  /** The path of the state. Its lock and the folder `runs` with the journals are in the same folder. */
  readonly path: string;
  /** `state.allow_tracked`: whether git may track them. */
  readonly allowTracked: boolean;
}

/** Keeps a state in a file, for processes of one machine. */
export async function fileBackend({ path: named, allowTracked }: FileSettings): Promise<StateBackend> {
  // All links to a state share one lock and one folder of runs.
  const path = await realPath(named);
  const folder = dirname(path);
  const runs = join(folder, 'runs');
  const place = relative(process.cwd(), path) || path;
  const saved = () => readState(path, place);
  const save = async (state: State): Promise<void> =>
    await withWriteErrors(`the state ${place} can't be written`, async () =>
      // A link to a state elsewhere stays a link.
      writeAtomic(await resolveLinks(path), `${stringifyJson(state, 2)}\n`),
    );
  return {
    place,
    name: basename(path),
    runs: fileRuns(runs),
    load: async (server) => stateForServer(await saved(), place, server, `rm ${shellWord(place)}`),
    saved,
    save,
    merge: (change) =>
      exclusively(path, async () => {
        const next = mergeState(await saved(), change, place);
        await save(next);
        const { resources: _, ...head } = next;
        return head;
      }),
    identity: () => stateName(path),
    async neighbours() {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      const names = entries.filter((entry) => !entry.isDirectory() && entry.name !== basename(path));
      const states = await Promise.all(names.map(({ name }) => stateName(join(folder, name))));
      return states.filter((state) => state !== undefined);
    },
    ...exclusiveLocks(fileLocks(path)),
    async check(use) {
      if (allowTracked) return;
      // A link that a commit contains also decides which state is believed.
      await refuseTracked([...new Set([named, path])], runs, use === 'write');
    },
  };
}

/** The identity of a state; undefined if there is no readable state. */
async function stateName(path: string): Promise<StateIdentity | undefined> {
  const text = await readTextFile(path).catch(() => undefined);
  return text === undefined ? undefined : parseStateIdentity(text);
}

/** Undefined if there is no file. */
async function readState(path: string, place: string): Promise<State | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFileBytes(path);
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const isElse = failure instanceof NotRegularFile || code === 'ENOTDIR';
    const hint = isElse
      ? 'move what is in the way elsewhere, or name another file with state.path'
      : 'check its permissions';
    throw problemError(
      'state-unreadable',
      `the state ${place} can't be read: ${systemErrorText(failure)}`,
      hint,
    );
  }
  if (bytes.length > MAX_STATE_BYTES) throw stateError(place, tooLargeText());
  if (!isUtf8(bytes)) throw stateError(place, 'is not valid UTF-8');
  return parseState(parseStateJson(bytes.toString('utf8'), place), place);
}
