import type { Change, Plan, PlanWarning } from './plan.js';

/** A plan with a warning at each change of a body in which something is masked, although nobody made that body secret. */
export function warnOfMasks(plan: Plan, redact: (text: string) => string): Plan {
  return { ...plan, changes: plan.changes.map((change) => warned(change, redact)) };
}

function warned(change: Change, redact: (text: string) => string): Change {
  const warnings = change.fields.flatMap(({ path, type, before, after, sensitive }) => {
    if (type !== 'body' || sensitive) return [];
    return [
      ...(isMasked(before, redact) ? [maskedBody(`the present ${path}`)] : []),
      ...(isMasked(after, redact) ? [maskedBody(`the new ${path}`)] : []),
    ];
  });
  return warnings.length === 0 ? change : { ...change, warnings: [...change.warnings, ...warnings] };
}

/** Whether a body is shown with something masked in it. */
export function isMasked(body: unknown, redact: (text: string) => string): boolean {
  return typeof body === 'string' && redact(body) !== body;
}

/** What a reviewer has to know of a body that isn't shown as it is. */
export function maskedBody(what: string): PlanWarning {
  return {
    code: 'masked-body',
    message: `${what} holds what idops knows as a credential, so that is masked here: look at the source before you trust what stands around it`,
  };
}
