import { lstat, readFile, rmdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pathExists, realPath } from '../base/paths.js';
import { error, type ProblemsError, problemError, refuse } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import { removeTemporaryFiles, type StagedFile, stageFile } from '../base/write-file.js';
import { isInside } from '../manifests/symlinks.js';
import { shownPath } from '../yaml/source-file.js';
import type { NewFile } from './layout.js';

/**
 * Writes the files of a pull, all or none: stages each one next to its path first, bodies before the manifests that name them.
 * Throws a ProblemsError, and writes nothing, if a file changed since it was read, is behind a link, or if `signal` is aborted.
 */
export async function writeFiles(
  files: readonly PulledFile[],
  root: string,
  cwd: string,
  signal?: AbortSignal,
): Promise<readonly PulledFile[]> {
  const throwIfInterrupted = (): void => {
    if (signal?.aborted) throw interruptedProblem();
  };
  throwIfInterrupted();
  await refuseChangedFiles(files, root, cwd);
  const folders = [...new Set(files.map(({ path }) => dirname(path)))];
  await Promise.all(folders.map(removeTemporaryFiles));
  const isManifest = ({ path }: PulledFile): number => (/\.ya?ml$/i.test(path) ? 1 : 0);
  const filesToWrite = files
    .filter(({ action }) => action !== 'unchanged')
    .sort((a, b) => isManifest(a) - isManifest(b));
  const missing = filesToWrite.flatMap(({ path }) => foldersToMake(dirname(path)));
  const staged: { readonly path: string; readonly place: StagedFile }[] = [];
  try {
    for (const { path, text } of filesToWrite) {
      throwIfInterrupted();
      const existing = await lstat(path).catch(() => undefined);
      const place = await stageFile(path, text, 0o666, existing?.mode).catch((failure: unknown) => {
        throw notWritable(path, cwd, failure, 'check the folder and its permissions; nothing was written');
      });
      staged.push({ path, place });
    }
    await refuseChangedFiles(files, root, cwd);
    throwIfInterrupted();
  } catch (failure) {
    await Promise.all(staged.map(({ place }) => place.drop()));
    // The deepest folder first; folders with other files stay.
    for (const folder of missing.sort((a, b) => b.length - a.length)) await rmdir(folder).catch(() => {});
    throw failure;
  }
  // Can't be interrupted from here on, so that manifests and bodies stay consistent.
  for (const [index, { path, place }] of staged.entries()) {
    await place.commit().catch(async (failure: unknown) => {
      await Promise.all(staged.slice(index).map((one) => one.place.drop()));
      const before = index === 0 ? 'nothing was written' : 'the files before it were written';
      const hint = `check the folder and its permissions; ${before}; pull again to continue`;
      throw notWritable(path, cwd, failure, hint);
    });
  }
  return filesToWrite;
}

export function interruptedProblem(): ProblemsError {
  return problemError('interrupted', 'interrupted: nothing was written');
}

/** Throws a ProblemsError if a file changed since it was read, or if a file to write is behind a link. */
export async function refuseChangedFiles(
  files: readonly PulledFile[],
  root: string,
  cwd: string,
): Promise<void> {
  refuse((await Promise.all(files.map((file) => changedSince(file, root, cwd)))).flat());
}

function foldersToMake(folder: string): string[] {
  return pathExists(folder) ? [] : [folder, ...foldersToMake(dirname(folder))];
}

export function notWritable(path: string, cwd: string, failure: unknown, hint: string): ProblemsError {
  const why = systemErrorText(failure);
  return problemError('not-writable', `${shownPath(path, cwd)} can't be written: ${why}`, hint);
}

async function changedSince({ path, before, action }: PulledFile, root: string, cwd: string) {
  const shown = shownPath(path, cwd);
  const real = action === 'unchanged' ? path : await realPath(path);
  if (real !== path || !isInside(path, root)) {
    const message = `${shown} is not written: it is behind a link, or outside the project`;
    return [error('output-is-input', message, [], 'idops writes through no link')];
  }
  const now = await readText(path);
  if (now === before) return [];
  const what = now === undefined ? 'removed' : before === undefined ? 'created' : 'changed';
  const message = `${shown} was ${what} by another program while the server was read`;
  return [error('file-moved', message, [], 'nothing was written: pull again')];
}

/** The text of a file; undefined if there is no file, null if it can't be read. */
async function readText(path: string): Promise<string | null | undefined> {
  return await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) =>
    code === 'ENOENT' || code === 'ENOTDIR' ? undefined : null,
  );
}

/** The new files in a folder. Throws a ProblemsError (`file-exists`) if a file exists with another text. */
export async function filesInFolder(files: readonly NewFile[], folder: string, cwd: string) {
  const newFiles = await Promise.all(
    files.map(async ({ path: name, text }): Promise<PulledFile> => {
      const path = resolve(folder, name);
      const existing = await readText(path);
      if (existing === undefined) return { path, action: 'write', text, before: undefined };
      return { path, action: existing === text ? 'unchanged' : 'update', text, before: existing ?? '' };
    }),
  );
  const conflicting = newFiles.filter(({ action }) => action === 'update');
  refuse(
    conflicting.map(({ path }) => {
      const hint = `choose an empty folder, or remove what is in ${shownPath(dirname(path), cwd)}`;
      return error('file-exists', `${shownPath(path, cwd)} exists with different content`, [], hint);
    }),
  );
  return newFiles.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A file that a pull writes, or that is up to date. */
export interface PulledFile {
  /** Absolute. */
  readonly path: string;
  readonly action: 'write' | 'update' | 'unchanged';
  readonly text: string;
  /** The text that was read; undefined if there was no file. */
  readonly before: string | undefined;
  /** Whether the file keeps its text, perhaps with new documents at its end. */
  readonly keepsText?: boolean;
}
