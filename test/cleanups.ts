import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const cleanups: (() => unknown)[] = [];

/** Does something when the test is over, the latest first: files may share a process, and leave nothing to each other. */
export function afterwards(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Does all that was to be done. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** A folder that is gone when the test is over. */
export async function temporaryFolder(name: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `idops-${name}-`)));
  afterwards(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files into a folder, and the folders that they lie in. */
export async function writeFiles(
  folder: string,
  files: { readonly [path: string]: string | Uint8Array },
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
