import { expect, test } from 'vitest';
import type { Plan } from '../../src/plan/plan.js';
import { comparable, ids, site, todo } from './site.js';

const USERS = 220;

test('a database pool that runs out loses nothing: what failed is told, and what was lost is put back', async () => {
  const at = await site({ concurrency: 200, faults: { pool: 2 } });
  const ada = at.sandbox.data.users.find(({ id }) => id === ids.ada);
  if (ada === undefined) throw new Error('no user to copy');
  const added = Array.from({ length: USERS }, (_, index) => ({
    ...structuredClone(ada),
    id: `40000000-0000-4000-8000-${String(index + 100).padStart(12, '0')}`,
  }));
  at.sandbox.data.users.push(...added);
  const goal = at.sandbox.snapshot();
  for (const user of goal.users.slice(-USERS)) user.group = 'ops';
  await at.declare(...added.map(({ id }) => ({ kind: 'User', id, group: 'ops' })));
  const lists = ['authorized_scopes', 'organizations', 'roles'] as const;
  for (let round = 0; round < 20; round += 1) {
    const ran = await at.apply().catch((failure: Error) => failure);
    // The reading itself may have been refused; then nothing was sent.
    if (ran instanceof Error) continue;
    for (const { address, status, error } of ran.results) {
      const user = at.sandbox.data.users.find(({ id }) => address.endsWith(id));
      const lost = lists.filter((list) => user?.[list].length !== ada[list].length);
      if (lost.length === 0) continue;
      expect([address, status]).toEqual([address, expect.stringMatching(/^(failed|unknown)$/)]);
      if (status === 'failed') for (const list of lost) expect(error).toContain(list);
    }
    if (ran.results.every(({ status }) => status === 'applied')) break;
  }
  expect(comparable(at.sandbox.snapshot())).toEqual(comparable(goal));
  // Reading so many at once may be refused as well.
  let plan: Plan | undefined;
  for (let round = 0; plan === undefined && round < 20; round += 1) {
    plan = await at.plan().catch(() => undefined);
  }
  expect(plan === undefined ? 'no plan' : todo(plan)).toEqual([]);
});
