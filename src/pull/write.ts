import { lstat, readFile, rmdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { whyRefused } from '../base/errno.js';
import { realPlaceOf } from '../base/links.js';
import { error, type Problem, ProblemsError, refuse } from '../base/problems.js';
import { sweepTemporaries } from '../base/temporary.js';
import { type Staged, stageWhole } from '../base/whole-file.js';
import { isThere } from '../base/work-tree.js';
import { shownPath } from '../yaml/file.js';
import type { FreshPull } from './fresh-files.js';
import type { PulledFile } from './pulled-file.js';

/**
 * Writes what a pull worked out, all of it or nothing: each file is laid beside its place first, bodies before the manifests
 * that name them. Nothing is written where a file isn't as it was when it was read, or lies behind a link, nor after
 * `signal`: throws a ProblemsError then.
 */
export async function writeFiles(
  files: readonly PulledFile[],
  root: string,
  cwd: string,
  signal?: AbortSignal,
): Promise<readonly PulledFile[]> {
  const goOn = (): void => {
    if (signal?.aborted) throw interruptedBefore();
  };
  goOn();
  await checkFiles(files, root, cwd);
  const folders = [...new Set(files.map(({ path }) => dirname(path)))];
  await Promise.all(folders.map(sweepTemporaries));
  const isManifest = ({ path }: PulledFile): number => (/\.ya?ml$/i.test(path) ? 1 : 0);
  const wanted = files
    .filter(({ action }) => action !== 'unchanged')
    .sort((a, b) => isManifest(a) - isManifest(b));
  const missing = wanted.flatMap(({ path }) => foldersToMake(dirname(path)));
  const staged: { readonly path: string; readonly place: Staged }[] = [];
  try {
    for (const { path, text } of wanted) {
      goOn();
      const there = await lstat(path).catch(() => undefined);
      const place = await stageWhole(path, text, 0o666, there?.mode).catch((failure: unknown) => {
        throw notWritable(path, cwd, failure, 'check the folder and its permissions; nothing was written');
      });
      staged.push({ path, place });
    }
    await checkFiles(files, root, cwd);
    goOn();
  } catch (failure) {
    await Promise.all(staged.map(({ place }) => place.drop()));
    // The deepest first; what somebody else put something into stays.
    for (const folder of missing.sort((a, b) => b.length - a.length)) await rmdir(folder).catch(() => {});
    throw failure;
  }
  // What is begun here is ended, so that manifests and bodies stay one whole.
  for (const [index, { path, place }] of staged.entries()) {
    await place.commit().catch(async (failure: unknown) => {
      await Promise.all(staged.slice(index).map((one) => one.place.drop()));
      const before = index === 0 ? 'nothing was written' : 'what was written before it stays';
      const hint = `check the folder and its permissions; ${before}, and pulling again goes on`;
      throw notWritable(path, cwd, failure, hint);
    });
  }
  return wanted;
}

/** What a pull ends with where it was interrupted before its files were put into place. */
export function interruptedBefore(): ProblemsError {
  return new ProblemsError([error('interrupted', 'interrupted: nothing was written')]);
}

/** Throws a ProblemsError where a file isn't as it was when it was read, or one that is to be written lies behind a link. */
export async function checkFiles(files: readonly PulledFile[], root: string, cwd: string): Promise<void> {
  refuse((await Promise.all(files.map((file) => changedSince(file, root, cwd)))).flat());
}

function foldersToMake(folder: string): string[] {
  return isThere(folder) ? [] : [folder, ...foldersToMake(dirname(folder))];
}

/** What is said of a path that the file system refuses. */
export function notWritable(path: string, cwd: string, failure: unknown, hint: string): ProblemsError {
  const why = whyRefused(failure);
  return new ProblemsError([
    error('not-writable', `${shownPath(path, cwd)} can't be written: ${why}`, [], hint),
  ]);
}

async function changedSince(
  { path, before, action }: PulledFile,
  root: string,
  cwd: string,
): Promise<Problem[]> {
  const shown = shownPath(path, cwd);
  const real = action === 'unchanged' ? path : await realPlaceOf(path);
  if (real !== path || !`${path}/`.startsWith(`${root === '/' ? '' : root}/`)) {
    const message = `${shown} is not written: it lies behind a link, or outside the project`;
    return [error('output-is-input', message, [], 'idops writes through no link')];
  }
  const now = await readFile(path, 'utf8').catch((failure: NodeJS.ErrnoException) =>
    isMissing(failure) ? undefined : null,
  );
  if (now === before) return [];
  const what = now === undefined ? 'removed' : before === undefined ? 'made' : 'changed';
  const message = `${shown} was ${what} by somebody else while the server was read`;
  return [error('file-moved', message, [], 'nothing was written: pull again')];
}

function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
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
  const made = await Promise.all(
    files.map(async ({ path: name, text }): Promise<PulledFile> => {
      const path = resolve(folder, name);
      const there = await readFile(path, 'utf8').catch((failure: NodeJS.ErrnoException) =>
        isMissing(failure) ? undefined : null,
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
