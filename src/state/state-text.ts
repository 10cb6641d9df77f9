import * as z from 'zod';
import { parseJson } from '../base/json.js';
import { error, ProblemsError } from '../base/problems.js';
import type { Merge, StateName } from './backend.js';
import { withRecords } from './shards.js';
import { emptyState, recordSchema, STATE_FORMAT, type State, unreadSchema } from './state.js';

/** Bytes of a state, or of a journal, that are read at most: a text can't have many more in Node.js. */
export const MAX_BYTES = 500_000_000;

/** Why a state or a journal with more bytes than that is refused. */
export const tooLarge = (most = MAX_BYTES): string =>
  `has more than ${most / 1_000_000} MB, which is more than idops reads`;

/**
 * What is in the text of a state, wherever it was kept; `place` is what a message calls that. Throws a ProblemsError
 * (`state-unreadable`) where it is no JSON.
 */
export function parseStateJson(text: string, place: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw stateError(place, 'is not JSON');
  }
}

/**
 * The same state, surely of this server, or an empty one; `removal` says how a person removes it. Throws a ProblemsError
 * (`state-other-server`) where it is of another.
 */
export function stateForServer(
  state: State | undefined,
  place: string,
  server: string,
  removal?: string,
): State {
  if (state === undefined) return emptyState(server);
  if (state.server === server) return state;
  const former = portBefore(state.server, server);
  throw new ProblemsError([
    error(
      'state-other-server',
      `the state ${place} belongs to ${state.server}, and this is ${server}`,
      [],
      former === undefined
        ? 'give each server a state of its own, with state.path in its environment for instance (state.git.path, state.postgres.name); after a move of the server, change "server" in the state'
        : `a server of this machine that was started again has another port now: start it on the former one (idops sandbox --port ${former}), or remove the state if it was only for trying things out${removal === undefined ? '' : ` (${removal})`}`,
    ),
  ]);
}

/** The port of a server of this machine, if nothing else tells it from another one; undefined otherwise. */
function portBefore(former: string, now: string): string | undefined {
  if (!URL.canParse(former) || !URL.canParse(now)) return undefined;
  const [from, to] = [new URL(former), new URL(now)];
  const isHere = /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(to.hostname);
  return isHere && from.hostname === to.hostname && from.port !== to.port ? from.port || '80' : undefined;
}

const nameSchema = z.object({ lineage: z.string(), salt: z.string() });

/** What the text of a state is told by; undefined where that can't be read. */
export function parseStateName(text: string): StateName | undefined {
  try {
    return nameSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** A state of which a part was changed. Throws a ProblemsError (`state-unreadable`) where there is none, and none to begin with. */
export function mergeState(there: State | undefined, change: Merge, place: string): State {
  const before = there ?? change.absent;
  if (before === undefined) throw stateGone(place);
  const { resources, ...head } = before;
  return { ...change.head(head), resources: withRecords({ resources }, change.records) };
}

/** The same as a state. Throws a ProblemsError (`state-unreadable`, `state-newer`, `state-moved`) where it is none, or none any more. */
export function parseState(data: unknown, place: string): State {
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
  const parsed = unreadSchema.safeParse(data);
  if (!parsed.success) throw notOfIdops(place, placeOf(parsed.error));
  // The records as they are: what checking them makes would be all of a large state once more.
  const resources = parsed.data.resources as State['resources'];
  for (const [key, record] of Object.entries(resources)) {
    const checked = recordSchema.safeParse(record);
    if (!checked.success) throw notOfIdops(place, ['resources', key, ...placeOf(checked.error)]);
  }
  const { moved_to: elsewhere, arriving } = parsed.data;
  if (elsewhere !== undefined) {
    throw new ProblemsError([
      arriving === true
        ? error(
            'state-moved',
            `the state ${place} has not arrived: idops state migrate was ended in the middle, and it is still at ${elsewhere}`,
            [],
            'run idops state migrate again, as before: it goes on with what is here',
          )
        : error(
            'state-moved',
            `the state ${place} was moved to ${elsewhere}`,
            [],
            'use the configuration that says so; an older checkout or branch still names the former place',
          ),
    ]);
  }
  return { ...parsed.data, resources };
}

/** Where it is wrong first: an unknown member is its own place. */
function placeOf({ issues: [first] }: z.ZodError): PropertyKey[] {
  return first === undefined
    ? []
    : [...first.path, ...(first.code === 'unrecognized_keys' ? first.keys.slice(0, 1) : [])];
}

function notOfIdops(place: string, path: readonly PropertyKey[]): ProblemsError {
  return stateError(place, `is not a state of idops${path.length === 0 ? '' : ` at ${path.join('.')}`}`);
}

/** The refusal of a state that can't be read, and what that costs. */
export function stateError(place: string, why: string): ProblemsError {
  const hint =
    'put a good copy back, or move it away: without it requests may be sent again, and nothing is deleted or regenerated';
  return new ProblemsError([error('state-unreadable', `the state ${place} ${why}`, [], hint)]);
}

/** The refusal to change a part of a state that is not there any more. */
export function stateGone(place: string): ProblemsError {
  return new ProblemsError([
    error(
      'state-unreadable',
      `the state ${place} is gone`,
      [],
      'put it back, or begin anew with idops plan; journals of runs that go on are settled by it',
    ),
  ]);
}
