import { relative } from 'node:path';
import { whyRefused } from '../../base/errno.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { leadsTo } from '../../base/links.js';
import { error, ProblemsError } from '../../base/problems.js';
import { NoRegularFile, readRegular } from '../../base/regular.js';
import { identityKey, objectKey } from '../../base/values.js';
import { writeWhole } from '../../base/whole-file.js';
import type { StateBackend } from '../backend.js';
import { emptyState, STATE_FORMAT, type State, stateSchema } from '../state.js';

/** A state in one JSON file. */
export function stateFile(path: string): Pick<StateBackend, 'place' | 'load' | 'saved' | 'save'> {
  const place = relative(process.cwd(), path) || path;
  return {
    place,
    async load(server) {
      const data = await readData(path, place);
      return data === undefined ? emptyState(server) : checkedState(data, place, server);
    },
    async saved() {
      const data = await readData(path, place);
      return data === undefined ? undefined : stateOf(data, place);
    },
    async save(state) {
      // A link to a state that lies elsewhere stays one.
      await writeWhole(await leadsTo(path), `${stringifyJson(state, 2)}\n`);
    },
  };
}

async function readText(path: string, place: string): Promise<string | undefined> {
  try {
    return await readRegular(path);
  } catch (failure) {
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

/** What is in the file, whose text nothing holds any more when it is looked at: that of a large state is large too. */
async function readData(path: string, place: string): Promise<unknown> {
  const text = await readText(path, place);
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
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
}

function checkedState(data: unknown, place: string, server: string): State {
  const state = stateOf(data, place);
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

function stateOf(data: unknown, place: string): State {
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
