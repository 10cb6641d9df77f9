import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryName } from './temporary.js';

/**
 * Makes a folder, and those above it that aren't there, for files of that mode: as private as they are. Gives the first
 * one that was made; undefined where all were there. Throws what the file system throws.
 */
export async function makeFolder(folder: string, mode = 0o600): Promise<string | undefined> {
  try {
    return (await makeOne(folder, mode)) ? folder : undefined;
  } catch (failure) {
    const parent = dirname(folder);
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw failure;
    const first = await makeFolder(parent, mode);
    // Once more and no oftener: below `/proc` it would be the same for ever. What is above may be somebody else's by now.
    const made = await makeOne(folder, mode);
    return first ?? (made ? folder : undefined);
  }
}

/** Whether a folder was made; it wasn't where it is there. Throws what the file system throws. */
async function makeOne(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode: isPrivate(mode) ? 0o700 : 0o777 });
    return true;
  } catch (failure) {
    const isThere = (failure as NodeJS.ErrnoException).code === 'EEXIST';
    if (isThere && (await stat(folder)).isDirectory()) return false;
    throw failure;
  }
}

/** A file that lies beside its place, whole, until it is put there or dropped. */
export interface Staged {
  /** Puts it into its place. Throws what the file system throws; the old file is untouched then. */
  commit(): Promise<void>;
  drop(): Promise<void>;
}

/**
 * Writes a file so that a crash leaves the old content or the new, never a mixture.
 * `mode` is who may read it, before the process's umask: the owner alone where it isn't given; a folder that is made
 * for it is as private. `exactly` is a mode that it gets whatever the umask says.
 * Throws what the file system throws; the old file is untouched then.
 */
export async function writeWhole(path: string, text: string, mode = 0o600, exactly?: number): Promise<void> {
  const staged = await stageWhole(path, text, mode, exactly);
  try {
    await staged.commit();
  } catch (failure) {
    await staged.drop();
    throw failure;
  }
}

/** The first half of `writeWhole`, so that several files can be put into place together. */
export async function stageWhole(
  path: string,
  text: string,
  mode = 0o600,
  exactly?: number,
): Promise<Staged> {
  const folder = dirname(path);
  await makeFolder(folder, mode);
  const temporary = join(folder, temporaryName());
  const drop = (): Promise<void> => rm(temporary, { force: true });
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      if (exactly !== undefined) await file.chmod(exactly & 0o777);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (failure) {
    await drop();
    throw failure;
  }
  return {
    async commit() {
      await rename(temporary, path);
      await syncFolder(folder);
    },
    drop,
  };
}

/** Whether a file is for its owner alone. */
export function isPrivate(mode: number): boolean {
  return (mode & 0o077) === 0;
}

/** Makes a rename or a new file in a folder outlast a power cut, where the system lets folders be synced. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && code !== 'EPERM' && code !== 'EINVAL') throw failure;
  }
}
