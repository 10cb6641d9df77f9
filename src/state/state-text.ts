import * as z from 'zod';
import { parseJson } from '../base/json.js';
import { parseUrl } from '../base/parse-url.js';
import { error, ProblemsError, problemError } from '../base/problems.js';
import type { Merge, StateIdentity } from './backend.js';
import { withRecords } from './shards.js';
import { emptyState, recordSchema, STATE_FORMAT, type State, uncheckedStateSchema } from './state.js';

/** The largest state or journal that is read, in bytes: a string in Node.js can't be much longer. */
export const MAX_STATE_BYTES = 500_000_000;

export const tooLargeText = (most = MAX_STATE_BYTES): string =>
  `has more than ${most / 1_000_000} MB, which is more than idops reads`;

/** Parses the JSON of a state; `place` names it in messages. Throws a ProblemsError (`state-unreadable`). */
export function parseStateJson(text: string, place: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw stateError(place, 'is not JSON');
  }
}

/**
 * Returns the state of this server, or a new one; `removal` is the command that removes it. Throws a ProblemsError
 * (`state-other-server`) if the state belongs to another server.
 */
export function stateForServer(
  state: State | undefined,
  place: string,
  server: string,
  removal?: string,
): State {
  if (state === undefined) return emptyState(server);
  if (state.server === server) return state;
  const former = formerPort(state.server, server);
  throw problemError(
    'state-other-server',
    `the state ${place} belongs to ${state.server}, and this is ${server}`,
    former === undefined
      ? 'give each server its own state, for example with state.path in its environment (state.git.path, state.postgres.name); if the server has moved, change "server" in the state'
      : `the server on this machine was restarted on another port: start it on the former one (idops sandbox --port ${former}), or remove the state if it was only for tests${removal === undefined ? '' : ` (${removal})`}`,
  );
}

/** The former port, if both servers are on this machine and differ only in the port. */
function formerPort(former: string, now: string): string | undefined {
  const [from, to] = [parseUrl(former), parseUrl(now)];
  if (from === undefined || to === undefined) return undefined;
  const isHere = /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(to.hostname);
  return isHere && from.hostname === to.hostname && from.port !== to.port ? from.port || '80' : undefined;
}

const nameSchema = z.object({ lineage: z.string(), salt: z.string() });

/** The identity in the text of a state; undefined if it is unreadable. */
export function parseStateIdentity(text: string): StateIdentity | undefined {
  try {
    return nameSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Applies a change to a state. Throws a ProblemsError (`state-unreadable`) if there is no state and no initial one. */
export function mergeState(there: State | undefined, change: Merge, place: string): State {
  const before = there ?? change.absent;
  if (before === undefined) throw stateGoneError(place);
  const { resources, ...head } = before;
  return { ...change.head(head), resources: withRecords({ resources }, change.records) };
}

/** Checks parsed JSON. Throws a ProblemsError (`state-unreadable`, `state-newer`, `state-moved`). */
export function parseState(data: unknown, place: string): State {
  const version =
    typeof data === 'object' && data !== null && 'format_version' in data ? data.format_version : undefined;
  if (typeof version === 'number' && version > STATE_FORMAT) {
    throw problemError(
      'state-newer',
      `the state ${place} has format ${version}, and this idops reads formats up to ${STATE_FORMAT}`,
      'use the version of idops that wrote it, or a later one',
    );
  }
  const parsed = uncheckedStateSchema.safeParse(data);
  if (!parsed.success) throw notAStateError(place, errorPath(parsed.error));
  // Each record is only checked: the parsed ones would be a second copy of a large state.
  const resources = parsed.data.resources as State['resources'];
  for (const [key, record] of Object.entries(resources)) {
    const checked = recordSchema.safeParse(record);
    if (!checked.success) throw notAStateError(place, ['resources', key, ...errorPath(checked.error)]);
  }
  const { moved_to: movedTo, arriving } = parsed.data;
  if (movedTo !== undefined) {
    throw new ProblemsError([
      arriving === true
        ? error(
            'state-moved',
            `the state ${place} is incomplete: idops state migrate was interrupted, and the state is still at ${movedTo}`,
            [],
            'run the same idops state migrate again, which continues',
          )
        : error(
            'state-moved',
            `the state ${place} was moved to ${movedTo}`,
            [],
            'use the configuration with that place; an older checkout or branch still names the former one',
          ),
    ]);
  }
  return { ...parsed.data, resources };
}

/** The path of the first error, including the name of an unknown member. */
function errorPath({ issues: [first] }: z.ZodError): PropertyKey[] {
  return first === undefined
    ? []
    : [...first.path, ...(first.code === 'unrecognized_keys' ? first.keys.slice(0, 1) : [])];
}

function notAStateError(place: string, path: readonly PropertyKey[]): ProblemsError {
  return stateError(place, `is not a state of idops${path.length === 0 ? '' : ` at ${path.join('.')}`}`);
}

export function stateError(place: string, why: string): ProblemsError {
  const hint =
    'restore a good copy, or move it away: without it requests may be sent again, and nothing is deleted or regenerated';
  return problemError('state-unreadable', `the state ${place} ${why}`, hint);
}

export function stateGoneError(place: string): ProblemsError {
  return problemError(
    'state-unreadable',
    `the state ${place} is missing`,
    'restore it, or start over with idops apply, which also settles unfinished runs',
  );
}
