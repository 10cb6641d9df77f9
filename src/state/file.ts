import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseJson, stringifyJson } from '../json.js';
import { error, ProblemsError } from '../problems.js';
import { identityKey, objectKey } from '../values.js';
import { leadsTo } from './links.js';
import { readRegular } from './regular.js';
import { emptyState, STATE_FORMAT, type State, stateSchema } from './state.js';
import type { StateStore } from './store.js';
import { temporaryName } from './temporary.js';

/** A state in one JSON file. */
export function stateFile(path: string): StateStore {
  const place = relative(process.cwd(), path) || path;
  return {
    place,
    async load(server) {
      const text = await readText(path, place);
      return text === undefined ? emptyState(server) : check(text, place, server);
    },
    async save(state) {
      // A link to a state that lies elsewhere stays one.
      await writeWhole(await leadsTo(path), `${stringifyJson(state, 2)}\n`);
    },
  };
}

/** The state that lies at a path, whatever server it is for; undefined where there is none. */
export async function savedState(path: string): Promise<State | undefined> {
  const place = relative(process.cwd(), path) || path;
  const text = await readText(path, place);
  return text === undefined ? undefined : parseState(text, place);
}

async function readText(path: string, place: string): Promise<string | undefined> {
  try {
    return await readRegular(path);
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ProblemsError([
      error('state-unreadable', `the state ${place} can't be read: ${message}`, [], 'check its permissions'),
    ]);
  }
}

function check(text: string, place: string, server: string): State {
  const state = parseState(text, place);
  if (state.server !== server) {
    throw new ProblemsError([
      error(
        'state-other-server',
        `the state ${place} belongs to ${state.server}, and this is ${server}`,
        [],
        'give each server a state of its own with state.path, in its environment for instance; after a move of the server, edit "server" in the file',
      ),
    ]);
  }
  return state;
}

function parseState(text: string, place: string): State {
  let data: unknown;
  try {
    data = parseJson(text);
  } catch {
    throw new ProblemsError([
      error(
        'state-unreadable',
        `the state ${place} is not JSON`,
        [],
        `put a good copy back, or move it away: ${LOSS}`,
      ),
    ]);
  }
  const version =
    typeof data === 'object' && data !== null && 'format_version' in data ? data.format_version : undefined;
  if (typeof version === 'number' && version > STATE_FORMAT) {
    throw new ProblemsError([
      error(
        'state-newer',
        `the state ${place} has format ${version}, this idops knows formats up to ${STATE_FORMAT}`,
        [],
        'use the version of idops that wrote it, or a later one',
      ),
    ]);
  }
  const parsed = stateSchema.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
    throw new ProblemsError([
      error(
        'state-unreadable',
        `the state ${place} is not a state of idops${where}`,
        [],
        `put a good copy back, or move it away: ${LOSS}`,
      ),
    ]);
  }
  return { ...parsed.data, resources: oneSpelling(parsed.data.resources) };
}

/** The records by ids in one spelling: former versions took a UUID in capitals for another object's. */
function oneSpelling(resources: State['resources']): State['resources'] {
  const records = Object.entries(resources);
  if (records.every(([key]) => objectKey(key) === key)) return resources;
  const one: State['resources'] = {};
  for (const [key, record] of records) {
    const { [objectKey(key)]: other } = one;
    if (other !== undefined && other.recorded_at > record.recorded_at) continue;
    one[objectKey(key)] = { ...record, identity: identityKey(record.identity) };
  }
  return one;
}

const LOSS = 'without it requests may be sent again, and nothing is deleted or regenerated';

/**
 * Makes a folder, and those above it that aren't there, for files of that mode: as private as they are.
 * Throws what the file system throws.
 */
export async function makeFolder(folder: string, mode = 0o600): Promise<void> {
  await mkdir(folder, { recursive: true, mode: isPrivate(mode) ? 0o700 : 0o777 });
}

/**
 * Writes a file so that a crash leaves the old content or the new, never a mixture.
 * `mode` is who may read it, before the process's umask: the owner alone where it isn't given; a folder that is made
 * for it is as private. `exactly` is a mode that it gets whatever the umask says.
 * Throws what the file system throws; the old file is untouched then.
 */
export async function writeWhole(path: string, text: string, mode = 0o600, exactly?: number): Promise<void> {
  const folder = dirname(path);
  await makeFolder(folder, mode);
  const temporary = join(folder, temporaryName());
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      if (exactly !== undefined) await file.chmod(exactly & 0o777);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (failure) {
    await rm(temporary, { force: true });
    throw failure;
  }
  await syncFolder(folder);
}

/** Whether a file is for its owner alone. */
export function isPrivate(mode: number): boolean {
  return (mode & 0o077) === 0;
}

/** Makes a rename or a new file in a folder outlast a power cut, where the system lets folders be synced. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && code !== 'EPERM' && code !== 'EINVAL') throw failure;
  }
}
