import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Plan } from '../../src/plan/plan.js';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { changeOf, samples } from '../kinds/conformance/samples.js';
import type { Doc } from '../kinds/generating/values.js';
import { often } from '../often.js';
import { converge } from './converge.js';
import { scenario } from './scenario.js';
import { inWorkspace } from './workspace.js';

/** The server's data without what the documents declare and without their side effects. */
function withoutDeclared(seed: SandboxSeed, docs: readonly Doc[], plan: Plan): SandboxSeed {
  const rest = structuredClone(seed);
  for (const doc of docs) samples[doc.kind].removeDeclared(rest, doc, changeOf(plan, doc));
  return rest;
}

/** Without the templates that were created, which have nothing before to compare with. */
function withoutNew(after: SandboxSeed, before: SandboxSeed): SandboxSeed {
  const known = new Set(before.templates.map(({ id }) => id));
  return { ...after, templates: after.templates.filter(({ id }) => known.has(id)) };
}

it('a plan only reads, apply sends exactly the plan, the next plan is empty, and nothing else is touched', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.integer({ min: 1, max: 4 }), async ({ seed, manifests }, pageSize) => {
      await inWorkspace({ seed, pageSize }, async (workspace) => {
        for (const docs of manifests) {
          workspace.declare(docs);
          const before = workspace.sandbox.snapshot();
          const { plan } = await converge(workspace);
          const after = withoutNew(workspace.sandbox.snapshot(), before);
          expect(withoutDeclared(after, docs, plan)).toEqual(withoutDeclared(before, docs, plan));
        }
      });
    }),
    { numRuns: often(100) },
  );
});

it('a server that omits optional fields or adds unknown ones converges the same way', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.boolean(), async ({ seed, manifests: [docs = []] }, omits) => {
      // If rows have no ids, nothing can be found by name, and a missing id means that a template is absent.
      const findable = docs.filter(
        (doc) =>
          !omits ||
          (doc.kind === 'Organization'
            ? doc.id !== undefined
            : doc.kind !== 'User' && doc.state !== 'absent'),
      );
      const options = omits ? { omitOptionalFields: true } : { addUnknownFields: true };
      await inWorkspace({ seed, ...options }, async (workspace) => {
        workspace.declare(findable);
        await converge(workspace);
      });
    }),
    { numRuns: often(60) },
  );
});
