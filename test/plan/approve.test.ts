import { expect, it } from 'vitest';
import { countDestructions, refusalsOf } from '../../src/plan/approve.js';
import type { Plan } from '../../src/plan/plan.js';
import { changeOf, planOf } from '../report/plans.js';

function losing(...losses: number[]): Plan {
  return planOf(
    losses.map((count, index) =>
      changeOf({ address: `User/${index}`, destructions: Array(count).fill('removes the membership "x"') }),
    ),
  );
}

it('counts losses, not objects: a user who loses two memberships counts twice', () => {
  expect(countDestructions(losing(2, 0, 1))).toBe(3);
});

it('allows destructive changes up to the limit', () => {
  expect(refusalsOf(losing(2, 1), 3)).toEqual([]);
  expect(refusalsOf(losing(), 0)).toEqual([]);
});

it('refuses more, and says how many there are', () => {
  const [problem, ...others] = refusalsOf(losing(2, 1), 2);
  expect(problem).toMatchObject({ code: 'too-destructive', severity: 'error' });
  expect(problem?.message).toContain('3');
  expect(problem?.hint).toContain('--allow-destructive 3');
  expect(others).toEqual([]);
});

it('refuses each blocked object with its reason, and too many destructive changes', () => {
  const plan = planOf([
    changeOf({ action: 'blocked', address: 'User/a', reason: 'the first reason' }),
    changeOf({ action: 'blocked', address: 'User/b', reason: 'the second reason' }),
    changeOf({ destructions: ['deletes the template'] }),
  ]);
  const problems = refusalsOf(plan, 0);
  expect(problems.map(({ code }) => code)).toEqual(['blocked', 'blocked', 'too-destructive']);
  expect(problems[1]?.message).toContain('User/b is blocked: the second reason');
});

it('reports a reason of many objects once, and names the first objects', () => {
  const of = (reason: string, ...addresses: readonly string[]) =>
    addresses.map((address) => changeOf({ action: 'blocked', address, reason }));
  const plan = planOf([
    ...of('set the profile', 'User/a'),
    ...of('no such organization', 'User/b'),
    ...of('set the profile', 'User/c', 'User/d', 'User/e', 'User/f'),
    ...of('no such scope', 'User/g', 'User/h'),
    ...of('no such role', 'User/i', 'User/j', 'User/k'),
    changeOf({ action: 'blocked', address: 'User/l', label: 'ada lovelace', reason: 'no such group' }),
  ]);
  expect(refusalsOf(plan, 0).map(({ code, message }) => [code, message])).toEqual([
    ['blocked', '5 objects are blocked (User/a, User/c, User/d and 2 more): set the profile'],
    ['blocked', 'User/b is blocked: no such organization'],
    ['blocked', '2 objects are blocked (User/g, User/h): no such scope'],
    ['blocked', '3 objects are blocked (User/i, User/j, User/k): no such role'],
    ['blocked', 'User/l ("ada lovelace") is blocked: no such group'],
  ]);
});

it('refuses a blocked object without a reason', () => {
  expect(refusalsOf(planOf([changeOf({ action: 'blocked', reason: null })]), 0)).toMatchObject([
    { code: 'blocked' },
  ]);
});

it('suggests --target if a manifest names the object, not if a command does', () => {
  const declaredAt = { file: 'manifests/a.yaml', line: 1, column: 1, length: 1 };
  const change = changeOf({ action: 'blocked', reason: 'no such client' });
  const hintOf = (plan: Plan) => refusalsOf(plan, 0)[0]?.hint;
  expect(hintOf(planOf([{ ...change, declaredAt }]))).toContain('--target');
  expect(hintOf(planOf([change])) ?? '').not.toContain('--target');
  expect(hintOf(planOf([change, { ...change, declaredAt }]))).toContain('--target');
});
