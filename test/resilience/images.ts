import { cpSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type SandboxRequest, startSandbox } from '../../src/sandbox/index.js';
import { onFileEvents } from './file-events.mjs';
import { copyOf, type Image, newFolder, run, type Stage } from './stages.js';

/** Where a run is stopped: at a file event, or at a write on the server. */
export interface Place {
  /** A description, such as `half writeFile, number 3`. */
  readonly words: string;
  /** The number of the file event, and how much of it is done; undefined for the server. */
  readonly file?: { readonly event: number; readonly how: How };
}

export type How = 'before' | 'after' | 'half';

/** What a run leaves if it is killed at a place. */
export interface Stopped extends Image, Place {}

/** How to stop at an event, so that the result differs from the events before and after it. */
export function distinct(name: string): How {
  if (name === 'appendFile' || name === 'writeFile') return 'half';
  return name === 'datasync' ? 'after' : 'before';
}

/**
 * Runs an apply to its end, and returns what it would leave if it was killed: at each file event, according to
 * `how`, and before and after each write on the server. At these moments nothing else is in flight.
 */
export async function stops(on: Stage, from: Image, how: (event: string) => How): Promise<Stopped[]> {
  const stopped: Stopped[] = [];
  const regenerated = new Map(from.regenerated);
  let sent = 0;
  let lost: { readonly words: string; readonly folder: string } | undefined;
  const intercept = async ({ method, path }: SandboxRequest) => {
    if (method === 'GET') return undefined;
    sent += 1;
    const { folder } = await take({ words: `before the work of write ${sent}` });
    if (method === 'POST') regenerated.set(path, (regenerated.get(path) ?? 0) + 1);
    // The response is lost: the disk is as it is now, the server as it is when the run continues.
    lost = { words: `after the work of write ${sent}`, folder };
    return undefined;
  };
  const sandbox = await startSandbox({ profile: on.profile, seed: from.server, intercept });
  const folder = await copyOf(from, sandbox.url);
  const image = (place: Place, folder: string): Stopped => {
    const one = { ...place, folder, url: sandbox.url, server: sandbox.snapshot() };
    return { ...one, regenerated: new Map(regenerated) };
  };
  const take = async (place: Place): Promise<Stopped> => {
    const copy = await newFolder();
    cpSync(folder, copy, { recursive: true });
    const taken = image(place, copy);
    stopped.push(taken);
    return taken;
  };
  let event = 0;
  const release = onFileEvents(async (name, call, halves) => {
    if (lost !== undefined) stopped.push(image({ words: lost.words }, lost.folder));
    lost = undefined;
    event += 1;
    const file = { event, how: how(name) };
    const place = { words: `${file.how} ${name}, number ${event}`, file };
    if (file.how === 'half' && halves !== undefined) {
      await halves.first();
      await take(place);
      return await halves.second();
    }
    if (file.how === 'before') await take(place);
    const done = await call();
    if (file.how === 'after') await take(place);
    return done;
  });
  try {
    await run(folder, sandbox, ['apply', '--yes', '--concurrency', '1']);
    return stopped;
  } finally {
    release();
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
}
