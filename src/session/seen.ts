import { withDebts } from '../apply/debts.js';
import { keepingOf } from '../apply/keep.js';
import { withSeen } from '../apply/record.js';
import { unfinishedRuns } from '../apply/resume.js';
import { whyRefused } from '../base/errno.js';
import { error, type Problem, ProblemsError, warning } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import type { Seen } from '../plan/plan.js';
import type { Project } from '../project/index.js';
import { Hasher } from '../state/secrets.js';
import type { StateHead } from '../state/state.js';
import { backendOf } from './backend.js';

export interface RecordSeenOptions {
  /** The base URL of the server. */
  readonly server: string;
  /** The state as it was before the server was read; left out if nobody looked. */
  readonly before?: StateHead;
  readonly redactor: Pick<Redactor, 'add' | 'holds'>;
}

/**
 * Records what was seen of objects, so that what is changed on the server later is drift. If the state can't take it now, the next
 * apply records it: gives a warning then, and throws nothing.
 */
export async function recordSeen(
  project: Project | Promise<Project>,
  seen: readonly Seen[],
  { server, before, redactor }: RecordSeenOptions,
): Promise<Problem[]> {
  if (seen.length === 0) return [];
  try {
    const { environment } = await project;
    const backend = await backendOf(await project, redactor.add);
    await backend.check('write');
    const lock = await backend.lock('pull', new Date());
    try {
      const home = { backend, environment };
      const state = await withDebts(await backend.load(server), home);
      const isOther = before !== undefined && before.serial !== state.serial;
      if (isOther || (await unfinishedRuns(state, home, undefined)).length > 0) {
        throw new ProblemsError([error('locked', 'a run changed it meanwhile, or has not ended')]);
      }
      const hasher = new Hasher(state, redactor.holds);
      const at = new Date().toISOString();
      const resources = await withSeen(state.resources, seen, { at, hasher });
      if (resources === state.resources) return [];
      await keepingOf({ backend, state, now: () => new Date() }).keep(resources);
    } finally {
      await lock.release();
    }
    return [];
  } catch (failure) {
    const why = failure instanceof ProblemsError ? failure.problems[0]?.message : whyRefused(failure);
    return [
      warning(
        'not-recorded',
        `the state doesn't have what was read of the server: ${why}`,
        [],
        'the next apply records it; what is changed on the server by hand before that is not shown as drift',
      ),
    ];
  }
}
