import { type Fields, lazy, mapValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Change, Plan } from '../plan/plan.js';
import { redactFields, redactReport } from '../secrets/redact-report.js';
import { type Redactor, redactAddress } from '../secrets/redactor.js';

export function redactPlan(plan: Plan, redactor: Redactor): Plan {
  const shown = redactReport(plan, redactor);
  const changes = shown.changes.map((change) => ({ ...change, apply: redactApply(change, redactor) }));
  return { ...shown, changes };
}

/** Of whole values only emails are shown; those are masked when they are read. */
function redactApply({ kind, apply }: Change, redactor: Redactor): Change['apply'] {
  const redacted = {
    ...apply,
    key: redactAddress(apply.key, redactor),
    identity: mapValues(apply.identity, redactor.redactName),
    expected: unshown,
    before: unshown,
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

const unshown: Fields = Object.freeze({});
