import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** Opening a named pipe would wait for its other end. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** A path leads to something other than a regular file, such as a pipe; it is not read. */
export class NoRegularFile extends Error {
  /** What the path leads to, as words after its name. */
  readonly what: string;

  constructor(stat: Stats) {
    const what = `is ${fileType(stat)}, not a regular file`;
    super(`it ${what}`);
    this.what = what;
    this.name = 'NoRegularFile';
  }
}

/** Reads a regular file as UTF-8. Throws a NoRegularFile for anything else, and what the file system throws. */
export async function readRegular(path: string): Promise<string> {
  // A loop that waits for a file to change must let everything else run.
  await setImmediate();
  return withRegular(path, (file) => readFileSync(file, 'utf8'));
}

/** Reads the bytes of a regular file; throws the same. */
export async function readRegularBytes(path: string): Promise<Buffer> {
  await setImmediate();
  return withRegular(path, (file) => readFileSync(file));
}

/**
 * Opens a regular file, passes it with its status to `use`, and closes it; throws the same.
 * Synchronous: waiting for each call takes ten times as long, and a large text that arrives in pieces is held twice.
 */
export function withRegular<T>(path: string, use: (file: number, stat: Stats) => T): T {
  const file = openSync(path, READING);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new NoRegularFile(stat);
    return use(file, stat);
  } finally {
    closeSync(file);
  }
}

function fileType(stat: Stats): string {
  if (stat.isDirectory()) return 'a folder';
  if (stat.isSymbolicLink()) return 'a link';
  if (stat.isFIFO()) return 'a named pipe';
  if (stat.isSocket()) return 'a socket';
  return 'a device';
}
