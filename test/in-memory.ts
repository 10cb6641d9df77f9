import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memory = '/dev/shm';
/** Bytes: databases and projects of all workers together take less. */
const enough = 2 * 1024 ** 3;

/** A folder for temporary files that no test waits for a disk in; the usual one if there is none or it is too small. */
export function inMemory(): string {
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > enough ? memory : tmpdir();
}
