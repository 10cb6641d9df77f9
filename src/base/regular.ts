import { constants, readFileSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

/** What a path leads to, where that is no regular file; such a thing is neither waited for nor read. */
export class NoRegularFile extends Error {
  constructor(stat: Stats) {
    super(`it is ${fileType(stat)}, not a regular file`);
    this.name = 'NoRegularFile';
  }
}

/** Reads a regular file. Throws a NoRegularFile for anything else, and what the file system throws. */
export async function readRegular(path: string): Promise<string> {
  // At once: a large text that comes in pieces, or in bytes that wait for the collector, is there twice for a while.
  return await withRegular(path, (file) => readFileSync(file, 'utf8'));
}

/** Does something with an open regular file; throws the same. */
export async function withRegular<T>(path: string, use: (file: number) => T): Promise<T> {
  // Opening a named pipe would wait for its other end.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new NoRegularFile(stat);
    return use(handle.fd);
  } finally {
    await handle.close();
  }
}

function fileType(stat: Stats): string {
  if (stat.isDirectory()) return 'a folder';
  if (stat.isSymbolicLink()) return 'a link';
  if (stat.isFIFO()) return 'a named pipe';
  if (stat.isSocket()) return 'a socket';
  return 'a device';
}
