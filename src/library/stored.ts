import { createRedactor } from '../base/redact.js';
import type { StoredPlan as Read } from '../plan/stored.js';
import { readPlanFile as readFile, readStoredPlan } from '../session/plan-file.js';
import { tellable, telling } from './errors.js';
import type { Members } from './project.js';

/** A plan that was stored, to be made anew by `Session.planStored`. */
export declare class StoredPlan {
  // Of the type alone: what a copy doesn't have.
  protected readonly read: true;
  /** The base URL of the server that it is for. */
  readonly server: string;
  /** The environment that it was made for; null where none was chosen. */
  readonly environment: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** A hash of what applying it would send. */
  readonly digest: string;
}

const read = new WeakMap<StoredPlan, Read>();

/** What was read. Throws a TypeError where it wasn't read here. */
export function readOf(stored: StoredPlan): Read {
  const found = read.get(stored);
  if (found === undefined)
    throw new TypeError('this is no stored plan: readPlan() and readPlanFile() read one');
  return found;
}

/**
 * Reads what `Session.storePlan` or `idops plan --out` stored; `name` is what a message calls it. Throws a ProblemsError
 * (`plan-unreadable`, `plan-altered`) where it can't be applied.
 */
export function readPlan(text: string, name = 'the stored plan'): StoredPlan {
  try {
    return publicStored(readStoredPlan(text, name));
  } catch (failure) {
    throw tellable(failure, createRedactor());
  }
}

/** The same from a file; its path is relative to the process's folder. */
export async function readPlanFile(path: string): Promise<StoredPlan> {
  return publicStored(await telling(createRedactor(), () => readFile(path)));
}

function publicStored(stored: Read): StoredPlan {
  const { server, environment, created_at: createdAt, digest } = stored;
  const members: Members<StoredPlan> = { server, environment, createdAt, digest };
  const made = Object.freeze(members) as StoredPlan;
  read.set(made, stored);
  return made;
}
