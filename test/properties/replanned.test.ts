import { expect, it, vi } from 'vitest';
import { applyAll } from '../approving.js';
import { ids } from '../sandbox/asking.js';
import { inPlace } from './writing.js';

const counted = vi.hoisted(() => ({ afterwards: 0 }));

vi.mock(import('../../src/kinds/references.js'), async (original) => {
  const actual = await original();
  return {
    ...actual,
    afterwards(...given: Parameters<typeof actual.afterwards>) {
      counted.afterwards += 1;
      return actual.afterwards(...given);
    },
  };
});

it('looks at all documents no oftener where each of many changes is planned anew', async () => {
  await inPlace({ profile: 'boruta' }, async ({ declare, writing, sandbox }) => {
    declare(
      [ids.acme, ids.globex, ids.initech, ids.umbrella].map((id) => ({
        kind: 'Organization' as const,
        id,
        label: 'New',
      })),
    );
    await writing(async (it) => {
      const plan = await it.plan();
      const [before, asked] = [counted.afterwards, performance.now()];
      const { result } = await applyAll(it, plan, asked);
      expect(result.results.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'applied'));
      expect(counted.afterwards - before).toBe(1);
    });
    expect(sandbox.snapshot().organizations.map(({ label }) => label)).toEqual(
      Array.from({ length: 4 }, () => 'New'),
    );
  });
});
