import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { appendFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ignoreMissing, resolveLinks } from './paths.js';
import { problemError } from './problems.js';
import { currentProcess, processStatus } from './process.js';
import { systemErrorText } from './system-errors.js';

/**
 * Creates a folder and its missing parents, as private as files of `mode`. Returns the first one created; undefined if all
 * exist. Throws what the file system throws.
 */
export async function makeFolder(folder: string, mode = 0o600): Promise<string | undefined> {
  try {
    return (await createIfMissing(folder, mode)) ? folder : undefined;
  } catch (failure) {
    const parent = dirname(folder);
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw failure;
    const first = await makeFolder(parent, mode);
    // One retry, not a loop as in Node's recursive mkdir, which never ends below `/proc`.
    const made = await createIfMissing(folder, mode);
    return first ?? (made ? folder : undefined);
  }
}

/** Creates a folder; returns false if it exists already. Throws what the file system throws. */
async function createIfMissing(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode: isPrivate(mode) ? 0o700 : 0o777 });
    return true;
  } catch (failure) {
    const exists = (failure as NodeJS.ErrnoException).code === 'EEXIST';
    if (exists && (await stat(folder)).isDirectory()) return false;
    throw failure;
  }
}

/** A complete temporary file next to its target, until it is committed or dropped. */
export interface StagedFile {
  /** Renames it to its target. If the file system throws, the old file is untouched. */
  commit(): Promise<void>;
  /** Removes it. */
  drop(): Promise<void>;
}

/**
 * Writes a file so that a crash leaves the old content or the new, never a mixture. `mode` is before the umask (owner only
 * by default), and new parent folders are as private; `exactMode` ignores the umask.
 * If the file system throws, the old file is untouched.
 */
export async function writeAtomic(
  path: string,
  text: string,
  mode = 0o600,
  exactMode?: number,
): Promise<void> {
  const staged = await stageFile(path, text, mode, exactMode);
  try {
    await staged.commit();
  } catch (failure) {
    await staged.drop();
    throw failure;
  }
}

/** The first half of `writeAtomic`, so that several files can be committed together. */
export async function stageFile(
  path: string,
  text: string,
  mode = 0o600,
  exactMode?: number,
): Promise<StagedFile> {
  const folder = dirname(path);
  await makeFolder(folder, mode);
  const temporary = join(folder, temporaryFileName());
  const drop = (): Promise<void> => rm(temporary, { force: true });
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      if (exactMode !== undefined) await file.chmod(exactMode & 0o777);
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

/** Whether only the owner may read a file of this mode. */
function isPrivate(mode: number): boolean {
  return (mode & 0o077) === 0;
}

/** Makes a rename or a new file in a folder survive a power cut, if the system can sync folders. */
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

const temporaryName = /^\.idops-(\d+)-([0-9a-f]{8})-([0-9a-f]{6})[0-9a-f]{6}\.tmp$/;

/** Distinguishes this process from earlier ones with the same pid, such as pid 1 of a restarted container. */
const processNonce = randomBytes(3).toString('hex');

/** Milliseconds; writing a file never takes that long. */
const MAX_AGE = 60 * 60 * 1000;

/** A name for a temporary file that says which process writes it. */
export function temporaryFileName(): string {
  return `.idops-${process.pid}-${processScope()}-${processNonce}${randomBytes(3).toString('hex')}.tmp`;
}

/** Removes the temporary files that killed processes left in a folder; those of a living process stay. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      if (await isAbandoned(path, name)) await rm(path, { force: true }).catch(() => {});
    }),
  );
}

async function isAbandoned(path: string, name: string): Promise<boolean> {
  const ours = temporaryName.exec(name);
  if (ours === null) return false;
  if (ours[2] === processScope() && hasEnded(Number(ours[1]), ours[3])) return true;
  const made = await stat(path).catch(() => undefined);
  return made?.isFile() === true && Date.now() - made.mtimeMs > MAX_AGE;
}

/** Whether the process with this pid and nonce has ended. */
function hasEnded(pid: number, nonce: string | undefined): boolean {
  if (pid === process.pid) return nonce !== processNonce;
  return processStatus({ ...currentProcess(), pid, started: null }) === 'gone';
}

/** A hash of the host, boot and namespace, within which a pid is unique. */
function processScope(): string {
  const { host, boot, namespace } = currentProcess();
  return createHash('sha256')
    .update(JSON.stringify([host, boot, namespace]))
    .digest('hex')
    .slice(0, 8);
}

/**
 * Writes a file that the user asked for. A link stays a link; a device or a named pipe is appended to, since a file can't
 * replace it. Throws a ProblemsError (`not-writable`).
 */
export async function writeOutput(file: string, text: string, mode = 0o666): Promise<void> {
  try {
    const present = await stat(file).catch(ignoreMissing);
    if (present !== undefined && (!present.isFile() || /^\/(?:dev|proc)\//.test(resolve(file)))) {
      await appendFile(file, text, { flag: constants.O_WRONLY | constants.O_APPEND });
      return;
    }
    const target = await resolveLinks(file);
    // An existing report stays readable for those who may read it now.
    await writeAtomic(target, text, mode, isPrivate(mode) ? undefined : present?.mode);
    await removeTemporaryFiles(dirname(target));
  } catch (failure) {
    const message = `${file} can't be written: ${systemErrorText(failure)}`;
    throw problemError('not-writable', message, 'name another file, or fix the folder and its permissions');
  }
}
