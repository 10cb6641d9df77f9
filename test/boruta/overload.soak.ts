import { expect, test } from 'vitest';
import { failuresIn } from '../../src/base/concurrency.js';
import type { Intercept } from '../../src/sandbox/options.js';
import { ServerFailure } from '../../src/server/failures.js';
import { comparable, ids, site, todo } from './site.js';

const USERS = 220;

test('an exhausted database pool loses nothing: failures are reported, and losses are restored', async () => {
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
  let converged = false;
  let refused = 0;
  for (let round = 0; round < 20 && !converged; round += 1) {
    at.fault = oneByOneUntilAWrite();
    const ran = await at.apply().catch(refusedReading);
    if (ran === undefined) continue;
    refused += ran.results.filter(({ status }) => status !== 'applied').length;
    for (const { address, status, error } of ran.results) {
      const user = at.sandbox.data.users.find(({ id }) => address.endsWith(id));
      const lost = lists.filter((list) => user?.[list].length !== ada[list].length);
      if (lost.length === 0) continue;
      expect([address, status]).toEqual([address, expect.stringMatching(/^(failed|unknown)$/)]);
      if (status === 'failed') for (const list of lost) expect(error).toContain(list);
    }
    converged = ran.results.every(({ status }) => status === 'applied');
  }
  // Otherwise the pool was never exhausted.
  expect(refused).toBeGreaterThan(0);
  expect(comparable(at.sandbox.snapshot())).toEqual(comparable(goal));
  at.fault = oneByOneUntilAWrite();
  expect(todo(await at.plan())).toEqual([]);
});

/** Accepts a plan that failed because a read was refused: on a busy machine, reads pile up. */
function refusedReading(failure: unknown): undefined {
  const [first] = failuresIn(failure);
  if (!(first instanceof ServerFailure && first.status === 500)) throw failure;
}

/** Delays each GET until the first write, because simultaneous reads would exhaust the pool too. */
function oneByOneUntilAWrite(): (request: { readonly method: string }) => Intercept | undefined {
  let reads = 0;
  let written = false;
  return ({ method }) => {
    written ||= method !== 'GET';
    reads += 1;
    return written ? undefined : { kind: 'delay', ms: reads * 9 };
  };
}
