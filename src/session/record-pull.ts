import { createHash } from 'node:crypto';
import { withPendingRestores } from '../apply/pending-restores.js';
import { withSeen } from '../apply/record.js';
import { unfinishedRuns } from '../apply/resume.js';
import { git } from '../base/git.js';
import { findWorkTree } from '../base/paths.js';
import { error, type Problem, ProblemsError, problemError, warning } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import { same } from '../base/values.js';
import type { Seen } from '../plan/plan.js';
import type { Project } from '../project/index.js';
import type { PulledFile } from '../pull/write.js';
import { Hasher } from '../secrets/hash.js';
import type { Redactor } from '../secrets/redactor.js';
import { joinedState } from '../state/shards.js';
import type { StateHead } from '../state/state.js';
import { shownPath } from '../yaml/source-file.js';
import { backendOf } from './backend.js';

export interface RecordPullOptions {
  /** The base URL of the server. */
  readonly server: string;
  /** The state before the server was read; undefined if it was not loaded. */
  readonly before?: StateHead;
  /** The files that were written, with absolute paths. */
  readonly files: readonly Pick<PulledFile, 'path' | 'text'>[];
  readonly redactor: Pick<Redactor, 'add' | 'holds'>;
}

/**
 * Records what was read of objects, so that later changes on the server are drift, and which files were written. Never throws: if the
 * state can't be written now, a warning says that the next apply records it.
 */
export async function recordPull(
  project: Project | Promise<Project>,
  seen: readonly Seen[],
  { server, before, files, redactor }: RecordPullOptions,
): Promise<Problem[]> {
  if (seen.length + files.length === 0) return [];
  try {
    const { environment, root } = await project;
    const backend = await backendOf(await project, redactor.add);
    await backend.check('write');
    const lock = await backend.lock('pull', new Date());
    try {
      const home = { backend, environment };
      const state = await withPendingRestores(await backend.load(server), home);
      const isOther = before !== undefined && before.serial !== state.serial;
      if (isOther || (await unfinishedRuns(state, home, undefined)).length > 0) {
        throw problemError('locked', 'a run changed it meanwhile, or has not ended');
      }
      const hasher = new Hasher(state, redactor.holds);
      const at = new Date().toISOString();
      const resources = await withSeen(state.resources, seen, { at, hasher });
      const hashes = files.map(({ path, text }) => [shownPath(path, root), textHash(text)]);
      const pulled: PulledHashes = { ...state.pulled, ...Object.fromEntries(hashes) };
      if (resources === state.resources && same(pulled, state.pulled ?? {})) return [];
      await backend.save({ ...joinedState(state), resources, pulled, serial: state.serial + 1 });
    } finally {
      await lock.release();
    }
    return [];
  } catch (failure) {
    const why = failure instanceof ProblemsError ? failure.problems[0]?.message : systemErrorText(failure);
    return [
      warning(
        'not-recorded',
        `the state does not record what was read from the server: ${why}`,
        [],
        'the next apply records it; manual changes on the server before that are not shown as drift',
      ),
    ];
  }
}

/** Hashes of files as `pull` or `init` wrote them, by their paths from the project's root, with `/`. */
type PulledHashes = NonNullable<StateHead['pulled']>;

/** The files to update that have an edit: their text is neither what idops wrote last nor the text in the newest commit. */
export async function editedFiles(
  files: readonly PulledFile[],
  { root }: Pick<Project, 'root'>,
  written: PulledHashes = {},
): Promise<PulledFile[]> {
  const top = await findWorkTree(root);
  const edited: PulledFile[] = [];
  for (const file of files) {
    const { path, action, before } = file;
    if (action !== 'update' || before === undefined) continue;
    if (written[shownPath(path, root)] === textHash(before)) continue;
    if (top !== undefined) {
      const blob = ['cat-file', 'blob', `HEAD:${shownPath(path, top)}`];
      const committed = await git(top, blob).catch(() => undefined);
      if (committed?.toString('utf8') === before) continue;
    }
    edited.push(file);
  }
  return edited;
}

/** The problem of a file with an edit. */
export function editProblem(path: string, cwd: string): Problem {
  const message = `${shownPath(path, cwd)} was edited since it was last pulled or committed`;
  return error('edited-file', message, [], 'nothing was written: commit it, or overwrite it with --force');
}

function textHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
