import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Plan } from '../../src/plan/plan.js';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { changeOf, samples } from '../kinds/conformance/samples.js';
import type { Doc } from '../kinds/generating/values.js';
import { often } from '../often.js';
import { converge } from './converge.js';
import { world } from './generating.js';
import { inPlace } from './writing.js';

/** Takes out of a server's data what the documents mention, and what the server moves along with it. */
function unmentioned(seed: SandboxSeed, docs: readonly Doc[], plan: Plan): SandboxSeed {
  const rest = structuredClone(seed);
  for (const doc of docs) samples[doc.kind].strip(rest, doc, changeOf(plan, doc));
  return rest;
}

/** Templates that a document brought into being weren't there to stay as they were. */
function withoutNew(after: SandboxSeed, before: SandboxSeed): SandboxSeed {
  const known = new Set(before.templates.map(({ id }) => id));
  return { ...after, templates: after.templates.filter(({ id }) => known.has(id)) };
}

it('a plan only reads, apply sends exactly the plan, the next plan is empty, and nothing else is touched', async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.integer({ min: 1, max: 4 }), async ({ seed, rounds }, pageSize) => {
      await inPlace({ seed, pageSize }, async (place) => {
        for (const docs of rounds) {
          place.declare(docs);
          const before = place.sandbox.snapshot();
          const { plan } = await converge(place);
          const after = withoutNew(place.sandbox.snapshot(), before);
          expect(unmentioned(after, docs, plan)).toEqual(unmentioned(before, docs, plan));
        }
      });
    }),
    { numRuns: often(100) },
  );
});

it('a server that omits optional fields or adds unknown ones converges the same way', async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.boolean(), async ({ seed, rounds: [docs = []] }, omits) => {
      // Where rows come without ids, nothing can be found by name, and absence shows itself as no id.
      const findable = docs.filter(
        (doc) =>
          !omits ||
          (doc.kind === 'Organization'
            ? doc.id !== undefined
            : doc.kind !== 'User' && doc.state !== 'absent'),
      );
      const options = omits ? { omitOptionalFields: true } : { addUnknownFields: true };
      await inPlace({ seed, ...options }, async (place) => {
        place.declare(findable);
        await converge(place);
      });
    }),
    { numRuns: often(60) },
  );
});
