import { readRuns } from '../../apply/find-runs.js';
import { type Problem, ProblemsError } from '../../base/problems.js';
import { shardText } from '../../base/shard.js';
import type { Project } from '../../project/index.js';
import { type Check, fail, ok, warn } from '../../server/diagnose.js';
import type { StateBackend } from '../../state/backend.js';
import type { State } from '../../state/state.js';
import { findOrphanedState } from '../orphaned-state.js';

/** Checks a state, its locks and its journals; changes nothing. `server` is null if no address is known. */
export async function checkState(
  backend: StateBackend,
  project: Project,
  server: string | null,
): Promise<readonly Check[]> {
  const { state, check } = await checkRecords(backend, project, server);
  return [check, ...(await checkLocks(backend)), ...(await checkJournals(backend, state))];
}

async function checkRecords(
  backend: StateBackend,
  project: Project,
  server: string | null,
): Promise<{ readonly state: State | null; readonly check: Check }> {
  try {
    await backend.check('write');
    const saved = await backend.saved();
    const state = server === null ? saved : await backend.load(server);
    if (saved === undefined) {
      const behind = state === undefined ? null : await findOrphanedState(project, state);
      const none = ok('state', `there is none at ${backend.place} yet: the first apply writes it`);
      return { state: state ?? null, check: behind === null ? none : failedCheck('state', behind) };
    }
    const count = Object.keys(saved.resources).length;
    const objects = count === 1 ? '1 object' : `${count} objects`;
    return {
      state: state ?? null,
      check: ok('state', `${backend.place} records ${objects} of ${saved.server}`),
    };
  } catch (failure) {
    return { state: null, check: failed('state', failure) };
  }
}

async function checkLocks(backend: StateBackend): Promise<Check[]> {
  try {
    const holdings = await backend.lockStatuses();
    return holdings.length === 0 ? [ok('lock', 'it is free')] : holdings.map(lockCheck);
  } catch (failure) {
    return [failed('lock', failure)];
  }
}

function lockCheck({
  holder,
  readable,
  fate,
  end,
  elsewhere,
  shard,
}: Awaited<ReturnType<StateBackend['lockStatuses']>>[number]): Check {
  const which = shard === undefined ? 'it' : `that of the shard ${shardText(shard)}`;
  if (!readable)
    return fail(
      'lock',
      `${which} is held by ${holder}`,
      'if surely nothing runs, remove it with idops runs unlock',
    );
  if (end !== null)
    return warn(
      'lock',
      `${which} was left by ${holder}, ${end}`,
      'the next run takes it over; idops runs unlock removes it',
    );
  if (fate === 'alive')
    return warn('lock', `${which} is held by ${holder}`, 'wait until that has ended, or end it');
  return warn(
    'lock',
    `${which} is held by ${holder}, and this machine can't tell whether that still runs`,
    `that process ${elsewhere ?? 'is not known here'}: make sure that it doesn't run any more, then use idops runs unlock`,
  );
}

async function checkJournals(backend: StateBackend, state: State | null): Promise<Check[]> {
  try {
    const { runs, problems } = await readRuns(backend.runs, state ?? undefined);
    if (problems.length > 0) return problems.map((problem) => failedCheck('journals', problem));
    return [ok('journals', runs.length === 1 ? 'of 1 run' : `of ${runs.length} runs`)];
  } catch (failure) {
    return [failed('journals', failure)];
  }
}

/** A failure as one failed check. */
function failed(name: string, failure: unknown): Check {
  if (!(failure instanceof ProblemsError)) throw failure;
  const message = failure.problems.map((problem) => problem.message).join('; ');
  const [first] = failure.problems;
  if (first === undefined) throw failure;
  return failedCheck(name, { ...first, message });
}

/** A problem as a failed check. Without a hint, it names the place or the docs. */
export function failedCheck(name: string, { code, message, hint, places: [place] }: Problem): Check {
  const where = place === undefined ? '' : ` (${place.file}:${place.line})`;
  const explained = `docs/errors.md explains ${code}`;
  const cure =
    place === undefined ? explained : `correct it there; idops validate shows the line, ${explained}`;
  return fail(name, `${message}${where}`, hint ?? cure, code);
}
