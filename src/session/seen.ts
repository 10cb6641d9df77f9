import { withDebts } from '../apply/debts.js';
import { withSeen } from '../apply/record.js';
import { unfinishedRuns } from '../apply/resume.js';
import { whyRefused } from '../base/errno.js';
import { error, type Problem, ProblemsError, warning } from '../base/problems.js';
import { same } from '../base/values.js';
import type { Seen } from '../plan/plan.js';
import type { Project } from '../project/index.js';
import type { PulledFile } from '../pull/pulled-file.js';
import { Hasher } from '../secrets/hash.js';
import type { Redactor } from '../secrets/redactor.js';
import { joined } from '../state/shards.js';
import type { StateHead } from '../state/state.js';
import { backendOf } from './backend.js';
import { writtenOf } from './edits.js';

export interface RecordSeenOptions {
  /** The base URL of the server. */
  readonly server: string;
  /** The state as it was before the server was read; left out if nobody looked. */
  readonly before?: StateHead;
  /** The files that now say it, absolute. */
  readonly files: readonly Pick<PulledFile, 'path' | 'text'>[];
  readonly redactor: Pick<Redactor, 'add' | 'holds'>;
}

/**
 * Records what was seen of objects, so that what is changed on the server later is drift, and what was written of it. If the state can't take it now, the next
 * apply records it: gives a warning then, and throws nothing.
 */
export async function recordSeen(
  project: Project | Promise<Project>,
  seen: readonly Seen[],
  { server, before, files, redactor }: RecordSeenOptions,
): Promise<Problem[]> {
  if (seen.length === 0) return [];
  try {
    const { environment, root } = await project;
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
      const pulled = { ...state.pulled, ...writtenOf(files, root) };
      if (resources === state.resources && same(pulled, state.pulled ?? {})) return [];
      await backend.save({ ...joined(state), resources, pulled, serial: state.serial + 1 });
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
