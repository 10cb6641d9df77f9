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

it('is a plan that differs from the one before, whatever failed in between', () => {
  const paper = new CycleChanges();
  const isNew = (parts: Partial<Cycle>) => paper.changesIn(turn(parts)).plan;
  expect(isNew({ plan: plan(null) })).toBe(false);
  expect(isNew({ plan: plan('Old') })).toBe(true);
  expect(isNew({ plan: plan('Old') })).toBe(false);
  expect(isNew({ problems: [error('locked', 'x')] })).toBe(false);
  expect(isNew({ plan: plan('Old') })).toBe(false);
  expect(isNew({ plan: plan('By hand') })).toBe(true);
  // A secret that changed shows in the digest alone.
  expect(isNew({ plan: plan('By hand', 'sha256:2') })).toBe(true);
  expect(isNew({ plan: plan(null, 'sha256:3') })).toBe(true);
  expect(isNew({ plan: plan(null, 'sha256:4') })).toBe(false);
  expect(isNew({ plan: plan('By hand', 'sha256:2') })).toBe(true);
});

it('is what was applied, where that is otherwise than in the turn before, whatever its run is called', () => {
  const paper = new CycleChanges();
  const isNew = (made: Result | null) => paper.changesIn(turn({ result: made })).result;
  expect(isNew(result('failed', 'one'))).toBe(true);
  expect(isNew(result('failed', 'two'))).toBe(false);
  expect(isNew(result('applied', 'three'))).toBe(true);
  expect(isNew(null)).toBe(false);
  expect(isNew(result('applied', 'four'))).toBe(true);
});

it('is what is wrong, where that is otherwise than in the turn before, and that nothing is any more', () => {
  const paper = new CycleChanges();
  const isNew = (...messages: string[]) =>
    paper.changesIn(turn({ problems: messages.map((message) => error('locked', message)) })).problems;
  const told = [isNew(), isNew('a'), isNew('a'), isNew('a', 'b'), isNew(), isNew(), isNew('a')];
  expect(told).toEqual([false, true, false, true, true, false, true]);
});
