import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { whyRefused } from './errno.js';
import { leadsTo, unlessMissing } from './links.js';
import { error, ProblemsError } from './problems.js';
import { sweepTemporaries } from './temporary.js';
import { isPrivate, writeWhole } from './whole-file.js';

/**
 * Writes a file where its name leads to: a link stays a link, and into a device or a named pipe the text goes as it
 * is, since such a thing can't be replaced by a file. Throws what the file system throws.
 */
export async function writeThrough(path: string, text: string, mode: number): Promise<void> {
  const there = await stat(path).catch(unlessMissing);
  if (there !== undefined && (!there.isFile() || /^\/(?:dev|proc)\//.test(resolve(path)))) {
    const handle = await open(path, constants.O_WRONLY | constants.O_APPEND);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
    return;
  }
  const target = await leadsTo(path);
  // A report that is there already stays for those who may read it now.
  await writeWhole(target, text, mode, isPrivate(mode) ? undefined : there?.mode);
  await sweepTemporaries(dirname(target));
}

/**
 * Writes a file that is asked for, through what its name leads to; a report is for others to read too, as the umask
 * allows. Throws a ProblemsError (`not-writable`) where that can't be done.
 */
export async function writeResult(file: string, text: string, mode = 0o666): Promise<void> {
  try {
    await writeThrough(file, text, mode);
  } catch (failure) {
    throw new ProblemsError([
      error(
        'not-writable',
        `${file} can't be written: ${whyRefused(failure)}`,
        [],
        'name another file, or mend the folder and its permissions',
      ),
    ]);
  }
}
