import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { shellWord } from '../../base/escape.js';
import { stringifyJson } from '../../base/json.js';
import { realPath, resolveLinks } from '../../base/paths.js';
import { ProblemsError, problemError } from '../../base/problems.js';
import { NotRegularFile, readFileBytes, readTextFile } from '../../base/read-file.js';
import { systemErrorText } from '../../base/system-errors.js';
import { writeAtomic } from '../../base/write-file.js';
import type { StateBackend, StateName } from '../backend.js';
import { exclusiveLocks } from '../locks.js';
import type { State } from '../state.js';
import {
  MAX_BYTES,
  mergeState,
  parseState,
  parseStateJson,
  parseStateName,
  stateError,
  stateForServer,
  tooLarge,
} from '../state-text.js';
import { withWriteErrors } from '../write-errors.js';
import { exclusively, fileLocks } from './lock.js';
import { fileRuns } from './runs.js';
import { refuseTracked } from './tracked.js';

export interface FileSettings {
  /** The path of the state; its lock is beside it, and the journals are in a folder `runs` beside it. */
  readonly path: string;
  /** `state.allow_tracked`: whether git may track them. */
  readonly allowTracked: boolean;
}

/** Keeps a state in a file, for processes of one machine. */
export async function fileBackend({ path: named, allowTracked }: FileSettings): Promise<StateBackend> {
  // Every link to a state leads to one lock and one folder of runs.
  const path = await realPath(named);
  const folder = join(dirname(path), 'runs');
  return {
    ...stateFile(path),
    name: basename(path),
    runs: fileRuns(folder),
    identity: () => stateName(path),
    neighbours: () => statesBeside(path),
    ...exclusiveLocks(fileLocks(path)),
    async check(use) {
      if (allowTracked) return;
      // A link that a commit contains also decides which state is believed.
      await refuseTracked([...new Set([named, path])], folder, use === 'write');
    },
  };
}

/** The other states in the folder of one, which have their journals in one folder. */
export async function statesBeside(statePath: string): Promise<StateName[]> {
  const folder = dirname(statePath);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => !entry.isDirectory() && entry.name !== basename(statePath));
  const states = await Promise.all(names.map(({ name }) => stateName(join(folder, name))));
  return states.filter((state) => state !== undefined);
}

/** Undefined if there is no state that can be read. */
export async function stateName(path: string): Promise<StateName | undefined> {
  const text = await readTextFile(path).catch(() => undefined);
  return text === undefined ? undefined : parseStateName(text);
}

export function stateFile(path: string): Pick<StateBackend, 'place' | 'load' | 'saved' | 'save' | 'merge'> {
  const place = relative(process.cwd(), path) || path;
  return {
    place,
    load: async (server) =>
      stateForServer(await readState(path, place), place, server, `rm ${shellWord(place)}`),
    saved: () => readState(path, place),
    save: (state) => write(path, state, place),
    merge: (change) =>
      exclusively(path, async () => {
        const next = mergeState(await readState(path, place), change, place);
        await write(path, next, place);
        const { resources: _, ...head } = next;
        return head;
      }),
  };
}

function textOf(bytes: Buffer, place: string): string {
  if (bytes.length > MAX_BYTES) throw stateError(place, tooLarge());
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw stateError(place, 'is not valid UTF-8');
}

async function write(path: string, state: State, place: string): Promise<void> {
  await withWriteErrors(`the state ${place} can't be written`, async () =>
    // A link to a state elsewhere stays a link.
    writeAtomic(await resolveLinks(path), `${stringifyJson(state, 2)}\n`),
  );
}

async function readState(path: string, place: string): Promise<State | undefined> {
  const data = await readData(path, place);
  return data === undefined ? undefined : parseState(data, place);
}

/** Undefined if there is no file. */
async function readData(path: string, place: string): Promise<unknown> {
  try {
    return parseStateJson(textOf(await readFileBytes(path), place), place);
  } catch (failure) {
    if (failure instanceof ProblemsError) throw failure;
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
}
