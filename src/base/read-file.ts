import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** Without O_NONBLOCK, opening a named pipe would wait for its other end. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The path isn't a regular file but, for example, a pipe; it was not read. */
export class NotRegularFile extends Error {
  /** What the path is, as a clause that follows its name. */
  readonly what: string;

  constructor(stat: Stats) {
    const what = `is ${fileType(stat)}, not a regular file`;
    super(`it ${what}`);
    this.what = what;
    this.name = 'NotRegularFile';
  }
}

/** Reads a regular file as UTF-8. Throws a NotRegularFile, or what the file system throws. */
export async function readTextFile(path: string): Promise<string> {
  // Yields to the event loop, for callers that read until a file changes.
  await setImmediate();
  return withFile(path, (file) => readFileSync(file, 'utf8'));
}

/** Reads the bytes of a regular file; throws as `readTextFile` does. */
export async function readFileBytes(path: string): Promise<Buffer> {
  await setImmediate();
  return withFile(path, (file) => readFileSync(file));
}

/**
 * Opens a regular file, passes it with its stat to `use`, and closes it; throws as `readTextFile` does. Synchronous, which is
 * ten times faster and keeps a large text in memory only once.
 */
export function withFile<T>(path: string, use: (file: number, stat: Stats) => T): T {
  const file = openSync(path, READ_FLAGS);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new NotRegularFile(stat);
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
