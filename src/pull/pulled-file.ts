import { existsSync, lstatSync } from 'node:fs';

/** A file that a pull writes, or that says all that is so already. */
export interface PulledFile {
  /** Absolute. */
  readonly path: string;
  /** What becomes of it when the pull is written. */
  readonly action: 'write' | 'update' | 'unchanged';
  /** What is in it then. */
  readonly text: string;
  /** What was there when the text was made; undefined where there was nothing. */
  readonly before: string | undefined;
}

/** Whether something is at a path, be it a link that leads nowhere. */
export function isThere(path: string): boolean {
  try {
    return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (failure) {
    // A file stands where a folder would have to be.
    if ((failure as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw failure;
  }
}
