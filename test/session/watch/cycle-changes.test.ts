import { expect, it } from 'vitest';
import type { Result } from '../../../src/apply/result.js';
import { error } from '../../../src/base/problems.js';
import type { Plan } from '../../../src/plan/plan.js';
import type { Cycle } from '../../../src/session/watch/cycle.js';
import { CycleChanges } from '../../../src/session/watch/cycle-changes.js';
import { changeFor, declared, live } from '../../plan/fixtures.js';
import { planOf, resultOf } from '../../report/plans.js';

function plan(label: string | null, digest = 'sha256:1'): Plan {
  const shown = live({ id: 'o', name: 'acme' }, { id: 'o', name: 'acme', label: label ?? 'New' });
  const change = changeFor(declared('Organization', { name: 'acme' }, { label: 'New' }), { live: shown });
  return planOf([change], { createdAt: new Date().toISOString(), digest });
}

function result(status: 'applied' | 'failed', run: string): Result {
  return { run, results: [resultOf({ status })], interrupted: false };
}

function turn(parts: Partial<Cycle>): Cycle {
  const durations = { plan: null, apply: null };
  return { outcome: 'unchanged', plan: null, result: null, problems: [], notes: [], durations, ...parts };
}

it('a plan is new if it differs from the previous plan, ignoring failed turns in between', () => {
  const changes = new CycleChanges();
  const isNew = (parts: Partial<Cycle>) => changes.changesIn(turn(parts)).plan;
  expect(isNew({ plan: plan(null) })).toBe(false);
  expect(isNew({ plan: plan('Old') })).toBe(true);
  expect(isNew({ plan: plan('Old') })).toBe(false);
  expect(isNew({ problems: [error('locked', 'x')] })).toBe(false);
  expect(isNew({ plan: plan('Old') })).toBe(false);
  expect(isNew({ plan: plan('By hand') })).toBe(true);
  // A changed secret changes only the digest.
  expect(isNew({ plan: plan('By hand', 'sha256:2') })).toBe(true);
  expect(isNew({ plan: plan(null, 'sha256:3') })).toBe(true);
  expect(isNew({ plan: plan(null, 'sha256:4') })).toBe(false);
  expect(isNew({ plan: plan('By hand', 'sha256:2') })).toBe(true);
});

it('a result is new if it differs from the previous turn, ignoring the name of its run', () => {
  const changes = new CycleChanges();
  const isNew = (made: Result | null) => changes.changesIn(turn({ result: made })).result;
  expect(isNew(result('failed', 'one'))).toBe(true);
  expect(isNew(result('failed', 'two'))).toBe(false);
  expect(isNew(result('applied', 'three'))).toBe(true);
  expect(isNew(null)).toBe(false);
  expect(isNew(result('applied', 'four'))).toBe(true);
});

it('problems are new if they differ from the previous turn, or if they are gone', () => {
  const changes = new CycleChanges();
  const isNew = (...messages: string[]) =>
    changes.changesIn(turn({ problems: messages.map((message) => error('locked', message)) })).problems;
  const found = [isNew(), isNew('a'), isNew('a'), isNew('a', 'b'), isNew(), isNew(), isNew('a')];
  expect(found).toEqual([false, true, false, true, true, false, true]);
});
