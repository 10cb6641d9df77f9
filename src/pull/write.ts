import { lstat, readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { realPlaceOf } from '../base/links.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { writeWhole } from '../base/whole-file.js';
import { shownPath } from '../source/file.js';
import type { FreshPull } from './fresh-files.js';
import type { PulledFile } from './pulled-file.js';

/**
 * Writes what a pull worked out, each file whole or not at all, bodies before the manifests that name them. Nothing is written
 * where a file isn't as it was when it was read, or lies behind a link: throws a ProblemsError then.
 */
export async function writeFiles(
  files: readonly PulledFile[],
  root: string,
  cwd: string,
): Promise<readonly PulledFile[]> {
  const wanted = files.filter(({ action }) => action !== 'unchanged');
  const checked = await Promise.all(wanted.map((file) => changedSince(file, root, cwd)));
  const problems = checked.flat();
  if (problems.length > 0) throw new ProblemsError(problems);
  const isManifest = ({ path }: PulledFile): number => (/\.ya?ml$/i.test(path) ? 1 : 0);
  for (const { path, text } of wanted.toSorted((a, b) => isManifest(a) - isManifest(b))) {
    const there = await lstat(path).catch(() => undefined);
    try {
      await writeWhole(path, text, 0o666, there?.mode);
    } catch (failure) {
      throw new ProblemsError([
        error(
          'not-writable',
          `${shownPath(path, cwd)} can't be written: ${failure instanceof Error ? failure.message : String(failure)}`,
          [],
          'check the folder and its permissions; what was written before it stays, and pulling again goes on',
        ),
      ]);
    }
  }
  return wanted;
}

async function changedSince({ path, before }: PulledFile, root: string, cwd: string): Promise<Problem[]> {
  const shown = shownPath(path, cwd);
  const real = await realPlaceOf(path);
  if (real !== path || !`${path}/`.startsWith(`${root === '/' ? '' : root}/`)) {
    const message = `${shown} is not written: it lies behind a link, or outside the project`;
    return [error('output-is-input', message, [], 'pull writes through no link')];
  }
  const now = await readFile(path, 'utf8').catch((failure: NodeJS.ErrnoException) =>
    failure.code === 'ENOENT' ? undefined : null,
  );
  if (now === before) return [];
  const message = `${shown} was changed by somebody else while the server was read`;
  return [error('file-moved', message, [], 'nothing was written: pull again')];
}

/**
 * A fresh set of files for a folder. What is there already and the same stays; throws a ProblemsError (`file-exists`) where
 * something else is there.
 */
export async function filesInFolder(
  { files }: Pick<FreshPull, 'files'>,
  folder: string,
  cwd: string,
): Promise<PulledFile[]> {
  const there = await stat(folder).catch(() => undefined);
  if (there !== undefined && !there.isDirectory()) {
    throw new ProblemsError([
      error(
        'file-exists',
        `${shownPath(folder, cwd)} is there already, and is no folder`,
        [],
        'name another folder',
      ),
    ]);
  }
  const made = await Promise.all(
    files.map(async ({ path: name, text }): Promise<PulledFile> => {
      const path = resolve(folder, name);
      const there = await readFile(path, 'utf8').catch((failure: NodeJS.ErrnoException) =>
        failure.code === 'ENOENT' ? undefined : null,
      );
      if (there === undefined) return { path, action: 'write', text, before: undefined };
      return { path, action: there === text ? 'unchanged' : 'update', text, before: there ?? '' };
    }),
  );
  const others = made.filter(({ action }) => action === 'update');
  if (others.length === 0) return made.sort((a, b) => (a.path < b.path ? -1 : 1));
  throw new ProblemsError(
    others.map(({ path }) =>
      error(
        'file-exists',
        `${shownPath(path, cwd)} is there already, and is not what would be written`,
        [],
        `choose an empty folder, or remove what is in ${shownPath(dirname(path), cwd)}`,
      ),
    ),
  );
}
