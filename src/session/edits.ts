import { createHash } from 'node:crypto';
import { relative, sep } from 'node:path';
import { git } from '../base/git.js';
import { error, type Problem } from '../base/problems.js';
import { workTreeOf } from '../base/work-tree.js';
import type { PulledFile } from '../pull/pulled-file.js';
import type { StateHead } from '../state/state.js';
import { shownPath } from '../yaml/file.js';

/** What the files of a project had when `pull` or `init` wrote them: hashes by their paths from its root, with `/`. */
export type Written = NonNullable<StateHead['pulled']>;

/** What is to be remembered of files that were written, or found to say all already. */
export function writtenOf(files: readonly Pick<PulledFile, 'path' | 'text'>[], root: string): Written {
  return Object.fromEntries(files.map(({ path, text }) => [pathFrom(root, path), hashOf(text)]));
}

/**
 * The files that a pull would overwrite although somebody edited them: what they have is neither what was written last, nor what the
 * newest commit has. A file that nothing is known of counts as edited in a work tree of git alone.
 */
export async function editedFiles(
  files: readonly PulledFile[],
  { root, cwd }: { readonly root: string; readonly cwd: string },
  written: Written = {},
): Promise<Problem[]> {
  const top = await workTreeOf(root);
  const problems: Problem[] = [];
  for (const { path, action, before } of files) {
    if (action !== 'update' || before === undefined) continue;
    const last = written[pathFrom(root, path)];
    if (last === hashOf(before) || (last === undefined && top === undefined)) continue;
    if (top !== undefined && (await committed(top, path)) === before) continue;
    const message = `${shownPath(path, cwd)} has an edit that neither idops wrote nor the newest commit has`;
    const hint = 'nothing was written: commit it, or overwrite it with --force';
    problems.push(error('edited-file', message, [], hint));
  }
  return problems;
}

/** What the newest commit has of a file; undefined if it has none of it. */
async function committed(top: string, path: string): Promise<string | undefined> {
  const blob = await git(top, ['cat-file', 'blob', `HEAD:${pathFrom(top, path)}`]).catch(() => undefined);
  return blob?.toString('utf8');
}

function pathFrom(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
