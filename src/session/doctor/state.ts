import { readRuns } from '../../apply/find-runs.js';
import { type Problem, ProblemsError } from '../../base/problems.js';
import { shardText } from '../../base/shard.js';
import type { Project } from '../../project/index.js';
import { type Check, fail, ok, warn } from '../../server/diagnose.js';
import type { LockStatus, StateBackend } from '../../state/backend.js';
import type { State } from '../../state/state.js';
import { findOrphanedState } from '../orphaned-state.js';

/** Checks a state, its locks and its journals; changes nothing. `server` is null if no address is known. */
export async function checkState(
  backend: StateBackend,
  project: Project,
  server: string | null,
): Promise<readonly Check[]> {
  let state: State | undefined;
  const records = await attempt('state', async () => {
    await backend.check('write');
    const saved = await backend.saved();
    const loaded = server === null ? saved : await backend.load(server);
    const orphaned =
      saved !== undefined || loaded === undefined ? null : await findOrphanedState(project, loaded);
    state = loaded;
    if (orphaned !== null) return [failedCheck('state', orphaned)];
    if (saved === undefined)
      return [ok('state', `there is no state at ${backend.place} yet; the first apply creates it`)];
    const count = Object.keys(saved.resources).length;
    const objects = count === 1 ? '1 object' : `${count} objects`;
    return [ok('state', `${backend.place} records ${objects} of ${saved.server}`)];
  });
  const locks = await attempt('lock', async () => {
    const holdings = await backend.lockStatuses();
    return holdings.length === 0 ? [ok('lock', 'it is free')] : holdings.map(lockCheck);
  });
  const journals = await attempt('journals', async () => {
    const { runs, problems } = await readRuns(backend.runs, state);
    if (problems.length > 0) return problems.map((problem) => failedCheck('journals', problem));
    return [ok('journals', runs.length === 1 ? 'of 1 run' : `of ${runs.length} runs`)];
  });
  return [...records, ...locks, ...journals];
}

/** The checks of a function; if it throws a ProblemsError, one failed check. */
async function attempt(name: string, check: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await check();
  } catch (failure) {
    const { problems } = failure instanceof ProblemsError ? failure : { problems: [] };
    const [first] = problems;
    if (first === undefined) throw failure;
    const message = problems.map((problem) => problem.message).join('; ');
    return [failedCheck(name, { ...first, message })];
  }
}

function lockCheck(status: LockStatus): Check {
  const { holder, readable, fate, endReason, unknownReason, shard } = status;
  const which = shard === undefined ? 'it' : `that of the shard ${shardText(shard)}`;
  const held = `${which} is held by ${holder}`;
  if (!readable) return fail('lock', held, 'if no other run is active, remove it with idops runs unlock');
  const takenOver = 'the next run takes it over; idops runs unlock removes it';
  if (endReason !== null) return warn('lock', `${which} was left by ${holder}, ${endReason}`, takenOver);
  if (fate === 'alive') return warn('lock', held, 'wait until that process has ended, or end it');
  return warn(
    'lock',
    `${held}, and this machine can't tell whether that process still runs`,
    `that process ${unknownReason ?? 'is unknown here'}: make sure that it has ended, then use idops runs unlock`,
  );
}

/** A problem as a failed check. If the problem has no hint, the hint names the place and the docs. */
export function failedCheck(name: string, { code, message, hint, places: [place] }: Problem): Check {
  const where = place === undefined ? '' : ` (${place.file}:${place.line})`;
  const explained = `docs/reference/errors.md explains ${code}`;
  const defaultHint =
    place === undefined ? explained : `correct it there; idops validate shows the line, ${explained}`;
  return fail(name, `${message}${where}`, hint ?? defaultHint, code);
}
