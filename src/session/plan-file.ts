import { readFile } from 'node:fs/promises';
import { parseJson } from '../base/json.js';
import { error, ProblemsError, refuse } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import type { Plan } from '../plan/plan.js';
import {
  alteration,
  isStoredPlan,
  notStored,
  parseStoredPlan,
  planHash,
  type StoredPlan,
  seal,
  unusablePlan,
} from '../plan/stored.js';
import { jsonText } from '../report/json.js';
import { redactPlan } from '../report/redacted.js';
import { planSchema } from '../report/schemas.js';
import { planOfJson, storedJson } from '../report/stored.js';
import type { Redactor } from '../secrets/redactor.js';

/** What a plan was made with, as far as it has to be made with the same again. */
export type StoredOptions = Parameters<typeof seal>[1];

/** A plan as it is stored: what `plan --format json` shows, and what applying it needs besides. No secret is in it. */
export async function storedPlanText(
  plan: Plan,
  options: StoredOptions,
  redactor: Redactor,
): Promise<string> {
  const shown = storedJson(redactPlan(plan, redactor));
  // The seal is of the plan as it is, or it would be another one where another secret is known.
  const stored = { ...shown, apply: await seal(plan, options, redactor.redactName) };
  const read = parseJson(jsonText(stored)) as Parameters<typeof planHash>[0];
  return jsonText({ ...stored, apply: { ...stored.apply, whole: planHash(read) } });
}

/** Reads a plan that was stored in a file. Throws a ProblemsError where there is none that can be applied. */
export async function readPlanFile(path: string, shown = path): Promise<StoredPlan> {
  return readStoredPlan(await readText(path, shown), shown);
}

async function readText(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (failure) {
    const isMissing = failure instanceof Error && 'code' in failure && failure.code === 'ENOENT';
    const why = isMissing ? 'does not exist' : `can't be read: ${systemErrorText(failure)}`;
    const hint = isMissing
      ? `idops plan --out ${shown} stores one`
      : 'name the file that idops plan --out wrote';
    throw new ProblemsError([error('plan-unreadable', `${shown} ${why}`, [], hint)]);
  }
}

/** Takes a stored plan apart; `shown` is what a message calls it. Throws a ProblemsError where it can't be applied. */
export function readStoredPlan(text: string, shown: string): StoredPlan {
  const stored = parsed(text, shown);
  refuse(alteration(stored, shown));
  return stored;
}

function parsed(text: string, shown: string): StoredPlan {
  const stored = parseStoredPlan(text, shown);
  if (!isStoredPlan(stored)) throw new ProblemsError([stored]);
  return stored;
}

/** Reads a plan that was stored in a file, to be shown alone. Throws a ProblemsError where there is none. */
export async function readShownPlan(path: string): Promise<Plan> {
  const stored = parsed(await readText(path, path), path);
  const { apply, ...rest } = stored;
  const read = planSchema.safeParse(rest);
  const plan = read.success ? planOfJson(read.data, apply) : undefined;
  if (plan === undefined) {
    const [issue] = read.error?.issues ?? [];
    throw new ProblemsError([unusablePlan(path, notStored(issue?.path ?? ['changes']))]);
  }
  refuse(alteration(stored, path));
  return plan;
}
