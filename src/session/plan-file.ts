import { readFile } from 'node:fs/promises';
import { whyRefused } from '../base/errno.js';
import { error, ProblemsError } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import type { Plan } from '../plan/plan.js';
import {
  isStoredPlan,
  notStored,
  parseStoredPlan,
  type StoredPlan,
  seal,
  unusablePlan,
} from '../plan/stored.js';
import { jsonText, planJson } from '../report/json.js';
import { redactPlan } from '../report/redacted.js';
import { planSchema } from '../report/schemas.js';
import { planOfJson } from '../report/stored.js';

/** What a plan was made with, as far as it has to be made with the same again. */
export type StoredOptions = Parameters<typeof seal>[1];

/** A plan as it is stored: what `plan --format json` shows, and what applying it needs besides. No secret is in it. */
export async function storedPlanText(
  plan: Plan,
  options: StoredOptions,
  redactor: Redactor,
): Promise<string> {
  const masked = redactPlan(plan, redactor);
  const shown = planJson(masked, { debug: false });
  const changed = masked.changes.filter(({ action }) => action !== 'unchanged');
  const changes = shown.changes.map((change, at) => ({
    ...change,
    // What showing the plan again needs besides.
    fields: change.fields.map((field, index) =>
      changed[at]?.fields[index]?.confirmed === true ? { ...field, confirmed: true } : field,
    ),
  }));
  // The seal is of the plan as it is, or it would be another one where another secret is known.
  return jsonText({ ...shown, changes, apply: await seal(plan, options, redactor.redactName) });
}

/** Reads a plan that was stored in a file. Throws a ProblemsError where there is none that can be applied. */
export async function readPlanFile(path: string, shown = path): Promise<StoredPlan> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (failure) {
    const isMissing = failure instanceof Error && 'code' in failure && failure.code === 'ENOENT';
    const why = isMissing ? 'is not there' : `can't be read: ${whyRefused(failure)}`;
    const hint = isMissing
      ? `idops plan --out ${shown} stores one`
      : 'name the file that idops plan --out wrote';
    throw new ProblemsError([error('plan-unreadable', `${shown} ${why}`, [], hint)]);
  }
  return readStoredPlan(text, shown);
}

/** Takes a stored plan apart; `shown` is what a message calls it. Throws a ProblemsError where it can't be applied. */
export function readStoredPlan(text: string, shown: string): StoredPlan {
  const stored = parseStoredPlan(text, shown);
  if (!isStoredPlan(stored)) throw new ProblemsError([stored]);
  return stored;
}

/** A plan that was stored in a file, to be shown alone. Throws a ProblemsError where there is none. */
export async function readShownPlan(path: string): Promise<Plan> {
  const stored = await readPlanFile(path);
  const { apply, ...rest } = stored;
  const parsed = planSchema.safeParse(rest);
  const plan = parsed.success ? planOfJson(parsed.data, apply) : undefined;
  if (plan !== undefined) return plan;
  const [issue] = parsed.error?.issues ?? [];
  throw new ProblemsError([unusablePlan(path, notStored(issue?.path ?? ['changes']))]);
}
