import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest folder from this one upwards that holds a `.git`, which no commit can bring along. */
export function workTreeOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : workTreeOf(above);
}

/** Whether something is at a path, be it a link that leads nowhere, or what this user may not look at. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (failure) {
    // If a parent is a file, nothing can be there.
    return (failure as NodeJS.ErrnoException).code !== 'ENOTDIR';
  }
}
