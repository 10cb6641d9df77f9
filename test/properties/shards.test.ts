import fc from 'fast-check';
import { expect, it } from 'vitest';
import { summarize } from '../../src/plan/plan.js';
import { applyAll } from '../approving.js';
import { often } from '../often.js';
import { planned } from './converge.js';
import { scenario } from './scenario.js';
import { inWorkspace } from './workspace.js';

it('parallel shards send the whole plan once, under one run, and the next plan is empty', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario,
      fc.integer({ min: 2, max: 5 }),
      fc.constantFrom(1, 500),
      async ({ seed, manifests }, count, pageSize) => {
        await inWorkspace({ seed, pageSize }, async ({ sandbox, declare, session, writing }) => {
          for (const [round, docs] of manifests.entries()) {
            declare(docs);
            const whole = await session((it) => it.plan());
            const start = sandbox.requests.length;
            const indexes = Array.from({ length: count }, (_, index) => index + 1);
            const applied = await Promise.all(
              indexes.map((index) =>
                writing(
                  async (it) => {
                    const plan = await it.plan();
                    return { plan, ...(await applyAll(it, plan)) };
                  },
                  { shard: { index, count }, sharedRun: `round ${round}` },
                ),
              ),
            );
            expect(applied.flatMap(({ problems }) => problems)).toEqual([]);
            const writes = sandbox.requests
              .slice(start)
              .filter(({ method }) => method !== 'GET')
              .map(({ method, path }) => `${method} ${path}`);
            expect(writes.toSorted()).toEqual(
              planned(whole)
                .map(({ request }) => request)
                .toSorted(),
            );
            const addresses = applied.flatMap(({ plan }) => plan.changes.map(({ address }) => address));
            expect(addresses.toSorted()).toEqual(whole.changes.map(({ address }) => address).toSorted());
            const runs = new Set(applied.flatMap(({ result }) => result.run ?? []));
            expect(runs.size).toBeLessThanOrEqual(1);
            const { unchanged, ...rest } = summarize(await session((it) => it.plan()));
            expect(rest).toEqual({ create: 0, update: 0, delete: 0, regenerate: 0, adopt: 0, blocked: 0 });
            expect(unchanged).toBe(whole.changes.length);
          }
        });
      },
    ),
    { numRuns: often(6) },
  );
});
