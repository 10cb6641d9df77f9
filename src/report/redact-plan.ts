import { type Fields, lazy, mapValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Change, Plan } from '../plan/plan.js';
import { redactFields, redactReport } from '../secrets/redact-report.js';
import { type Redactor, redactAddress } from '../secrets/redactor.js';

/** The plan without secrets and without values that no report shows. */
export function redactPlan(plan: Plan, redactor: Redactor): Plan {
  const shown = redactReport(plan, redactor);
  const changes = shown.changes.map((change) => ({ ...change, apply: redactApply(change, redactor) }));
  return { ...shown, changes };
}

/** Reports show whole fields only of emails, whose secrets are masked on reading. */
function redactApply({ kind, apply }: Change, redactor: Redactor): Change['apply'] {
  const redacted = {
    ...apply,
    key: redactAddress(apply.key, redactor),
    identity: mapValues(apply.identity, redactor.redactName),
    expected: noFields,
    before: noFields,
  };
  if (kindOf(kind).email === undefined) return redacted;
  const expected = lazy(() => redactFields(apply.expected, redactor));
  const before = lazy(() => redactFields(apply.before, redactor));
  return {
    ...redacted,
    get expected() {
      return expected();
    },
    get before() {
      return before();
    },
  };
}

const noFields: Fields = Object.freeze({});
