import { readFile } from 'node:fs/promises';
import { error, ProblemsError } from '../base/problems.js';
import { isStoredPlan, parseStoredPlan, type StoredPlan } from '../plan/stored.js';

/** Reads a plan that was stored in a file. Throws a ProblemsError where there is none that can be applied. */
export async function readPlanFile(path: string, shown = path): Promise<StoredPlan> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (failure) {
    throw new ProblemsError([
      error(
        'plan-unreadable',
        `${shown} can't be read: ${failure instanceof Error ? failure.message : String(failure)}`,
      ),
    ]);
  }
  const stored = parseStoredPlan(text, shown);
  if (!isStoredPlan(stored)) throw new ProblemsError([stored]);
  return stored;
}
