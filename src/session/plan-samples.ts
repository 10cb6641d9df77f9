import { type Problem, refuse } from '../base/problems.js';
import { kindOf } from '../kinds/index.js';
import type { NamedSample } from '../mail/samples.js';
import { loadSamples } from '../manifests/samples.js';
import type { Plan } from '../plan/plan.js';
import type { Project } from '../project/index.js';

/**
 * The sample data for the changed templates of a plan, by address, and warnings about it. Throws a ProblemsError if sample data is
 * invalid.
 */
export async function planSamples(
  plan: Plan,
  project: Project,
): Promise<{ samples: ReadonlyMap<string, readonly NamedSample[]>; warnings: readonly Problem[] }> {
  const { found, problems } = await loadSamples(
    project,
    plan.changes.flatMap(({ kind, address, apply, declaredAt }) => {
      const { email } = kindOf(kind);
      return email !== undefined && declaredAt !== null
        ? [{ address, type: apply.identity[email.type] ?? '', manifest: declaredAt.file }]
        : [];
    }),
  );
  const warnings = refuse(problems);
  return { samples: found, warnings };
}
