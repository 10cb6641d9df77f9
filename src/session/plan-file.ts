import { readFile } from 'node:fs/promises';
import { jsonText } from '../base/escape.js';
import { parseJson } from '../base/json.js';
import { ProblemsError, problemError, refuse } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import type { Plan } from '../plan/plan.js';
import {
  alterationProblems,
  isStoredPlan,
  notStored,
  parseStoredPlan,
  planHash,
  type StoredPlan,
  seal,
  unusablePlan,
} from '../plan/stored.js';
import { redactPlan } from '../report/redact-plan.js';
import { planSchema } from '../report/schemas.js';
import { planOfJson, storedJson } from '../report/stored.js';
import type { Redactor } from '../secrets/redactor.js';

/** The options with which a stored plan is planned again. */
export type StoredOptions = Parameters<typeof seal>[1];

/** The text of a stored plan: the output of `plan --format json`, and what apply needs. It contains no secret. */
export async function storedPlanText(
  plan: Plan,
  options: StoredOptions,
  redactor: Redactor,
): Promise<string> {
  const name = storedJson(redactPlan(plan, redactor));
  // The seal covers the plan before redaction, since redaction depends on the known secrets.
  const stored = { ...name, apply: await seal(plan, options, redactor.redactName) };
  const read = parseJson(jsonText(stored)) as Parameters<typeof planHash>[0];
  return jsonText({ ...stored, apply: { ...stored.apply, whole: planHash(read) } });
}

/** Reads a stored plan from a file; `name` is the file in messages. Throws a ProblemsError if it can't be applied. */
export async function readPlanFile(path: string, name = path): Promise<StoredPlan> {
  return readStoredPlan(await readText(path, name), name);
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
    throw problemError('plan-unreadable', `${shown} ${why}`, hint);
  }
}

/** Parses a stored plan; `shown` is its name in messages. Throws a ProblemsError if it can't be applied. */
export function readStoredPlan(text: string, shown: string): StoredPlan {
  const stored = parsed(text, shown);
  refuse(alterationProblems(stored, shown));
  return stored;
}

function parsed(text: string, shown: string): StoredPlan {
  const stored = parseStoredPlan(text, shown);
  if (!isStoredPlan(stored)) throw new ProblemsError([stored]);
  return stored;
}

/** Reads a stored plan from a file, only to show it. Throws a ProblemsError if the file has no plan. */
export async function readShownPlan(path: string): Promise<Plan> {
  const stored = parsed(await readText(path, path), path);
  const { apply, ...rest } = stored;
  const read = planSchema.safeParse(rest);
  const plan = read.success ? planOfJson(read.data, apply) : undefined;
  if (plan === undefined) {
    const [issue] = read.error?.issues ?? [];
    throw new ProblemsError([unusablePlan(path, notStored(issue?.path ?? ['changes']))]);
  }
  refuse(alterationProblems(stored, path));
  return plan;
}
