import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const cleanups: (() => unknown)[] = [];

/** Runs a cleanup after the test, the latest first. Test files share a process, so they must leave nothing behind. */
export function afterwards(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Runs all pending cleanups. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** A new folder that is removed after the test. */
export async function temporaryFolder(name: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `idops-${name}-`)));
  afterwards(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files into a folder, and creates their parent folders. */
export async function writeFiles(
  folder: string,
  files: { readonly [path: string]: string | Uint8Array },
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
