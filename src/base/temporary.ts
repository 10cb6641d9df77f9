import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fateOf, ownMark } from './process.js';

const named = /^\.idops-(\d+)-([0-9a-f]{8})-([0-9a-f]{6})[0-9a-f]{6}\.tmp$/;

/** What tells this process from former ones of its number, such as the first one of a container that was started again. */
const own = randomBytes(3).toString('hex');

/** No file takes so long to write. */
const OLD = 60 * 60 * 1000;

/** A name for what is written before it is put into place; it says which process writes it. */
export function temporaryName(): string {
  return `.idops-${process.pid}-${here()}-${own}${randomBytes(3).toString('hex')}.tmp`;
}

/** Removes what killed processes left half written in a folder. What a living one writes stays, and so does all else. */
export async function sweepTemporaries(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      if (await isLeft(path, name)) await rm(path, { force: true }).catch(() => {});
    }),
  );
}

async function isLeft(path: string, name: string): Promise<boolean> {
  const ours = named.exec(name);
  if (ours === null) return false;
  if (ours[2] === here() && isGone(Number(ours[1]), ours[3])) return true;
  const made = await stat(path).catch(() => undefined);
  return made?.isFile() === true && Date.now() - made.mtimeMs > OLD;
}

/** Whether the process of this number that has this sign is gone. */
function isGone(pid: number, sign: string | undefined): boolean {
  if (pid === process.pid) return sign !== own;
  return fateOf({ ...ownMark(), pid, started: null }) === 'gone';
}

/** Where the numbers of processes mean the same. */
function here(): string {
  const { host, boot, namespace } = ownMark();
  return createHash('sha256')
    .update(JSON.stringify([host, boot, namespace]))
    .digest('hex')
    .slice(0, 8);
}
