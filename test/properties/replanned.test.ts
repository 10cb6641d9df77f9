import { expect, it, vi } from 'vitest';
import { Catalog } from '../../src/kinds/catalog.js';
import { applyAll } from '../approving.js';
import { ids } from '../demo-ids.js';
import { inWorkspace } from './workspace.js';

it('reads all documents no more often if many changes are planned again', async () => {
  const labels = [ids.acme, ids.globex, ids.initech, ids.umbrella];
  // Each pass over all documents calls this once.
  const looks = vi.spyOn(Catalog.prototype, 'afterPlan');
  try {
    await inWorkspace({ profile: 'boruta' }, async ({ declare, writing, sandbox }) => {
      declare(labels.map((id) => ({ kind: 'Organization' as const, id, label: 'New' })));
      await writing(async (it) => {
        const plan = await it.plan();
        const [before, asked] = [looks.mock.calls.length, performance.now()];
        expect(before).toBe(1);
        const { result } = await applyAll(it, plan, asked);
        expect(result.results.map(({ status }) => status)).toEqual(labels.map(() => 'applied'));
        expect(looks.mock.calls.length - before).toBe(1);
      });
      expect(sandbox.snapshot().organizations.map(({ label }) => label)).toEqual(labels.map(() => 'New'));
    });
  } finally {
    looks.mockRestore();
  }
});
