import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The nearest folder from this one upwards that holds a `.git`, which no commit can bring along. */
export async function workTreeOf(folder: string): Promise<string | undefined> {
  if (await isThere(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : await workTreeOf(above);
}

/** Whether there is something by this name, a link that leads nowhere among it. */
export async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
