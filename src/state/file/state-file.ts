import { isUtf8 } from 'node:buffer';
import { relative } from 'node:path';
import { whyRefused } from '../../base/errno.js';
import { stringifyJson } from '../../base/json.js';
import { leadsTo } from '../../base/links.js';
import { error, ProblemsError } from '../../base/problems.js';
import { NoRegularFile, readRegularBytes } from '../../base/regular.js';
import { shellWord } from '../../base/shell.js';
import { writeWhole } from '../../base/whole-file.js';
import type { StateBackend } from '../backend.js';
import { writing } from '../refused.js';
import type { State } from '../state.js';
import { MOST, mergedInto, noState, ofServer, stateData, stateOf, tooLarge } from '../state-text.js';
import { alone } from './lock.js';

/** A state in one JSON file. */
export function stateFile(path: string): Pick<StateBackend, 'place' | 'load' | 'saved' | 'save' | 'merge'> {
  const place = relative(process.cwd(), path) || path;
  return {
    place,
    load: async (server) => ofServer(await readState(path, place), place, server, `rm ${shellWord(place)}`),
    saved: () => readState(path, place),
    save: (state) => write(path, state, place),
    merge: (change) =>
      alone(path, async () => {
        const next = mergedInto(await readState(path, place), change, place);
        await write(path, next, place);
        const { resources: _, ...head } = next;
        return head;
      }),
  };
}

function textOf(bytes: Buffer, place: string): string {
  if (bytes.length > MOST) throw noState(place, tooLarge());
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw noState(place, 'is not valid UTF-8');
}

async function write(path: string, state: State, place: string): Promise<void> {
  await writing(`the state ${place} can't be written`, async () =>
    // A link to a state that lies elsewhere stays one.
    writeWhole(await leadsTo(path), `${stringifyJson(state, 2)}\n`),
  );
}

async function readState(path: string, place: string): Promise<State | undefined> {
  const data = await readData(path, place);
  return data === undefined ? undefined : stateOf(data, place);
}

/** The JSON in the file; undefined if there is no file. */
async function readData(path: string, place: string): Promise<unknown> {
  try {
    return stateData(textOf(await readRegularBytes(path), place), place);
  } catch (failure) {
    if (failure instanceof ProblemsError) throw failure;
    const { code } = failure as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const isElse = failure instanceof NoRegularFile || code === 'ENOTDIR';
    const hint = isElse
      ? 'move what is in the way elsewhere, or name another file with state.path'
      : 'check its permissions';
    throw new ProblemsError([
      error('state-unreadable', `the state ${place} can't be read: ${whyRefused(failure)}`, [], hint),
    ]);
  }
}
