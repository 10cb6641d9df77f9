import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/base/values.js';
import { planHash } from '../../src/plan/stored.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { readStoredPlan, storedPlanText } from '../../src/session/plan-file.js';
import { storedPlanDiff } from '../../src/session/stored-plan-diff.js';
import { changeOf, fieldOf, planOf } from '../report/plans.js';

const options = { targets: [], kinds: [], prune: false, assert: false };
type Members = { [key: string]: Json };
type Edit = (plan: Members & { changes: Members[] }) => void;

const user = changeOf({
  address: 'User/1',
  kind: 'User',
  label: 'ada@acme.example',
  destructions: ['it is blocked'],
  requests: [{ operation: 'updateUser', params: { user_id: '1' }, body: { blocked: true } }],
  warnings: [{ code: 'ignored-field', message: 'one' }],
  fields: [
    fieldOf({ path: 'blocked', before: false, after: true }),
    fieldOf({ path: 'roles', type: 'set', before: [], after: [{ id: 'b' }, { id: 'a' }], confirmed: false }),
    fieldOf({ path: 'group', before: 'x', after: 'y', drift: { recorded: 'z', run: 'r' } }),
  ],
});
const plan = planOf([changeOf({ fields: [fieldOf()] }), user]);

/** The differences of a stored plan that was edited and given a valid hash. */
async function differencesAfter(edit: Edit): Promise<string[]> {
  const json = JSON.parse(await storedPlanText(plan, options, createRedactor()));
  edit(json);
  json.apply.whole = planHash(json);
  const stored = readStoredPlan(JSON.stringify(json), 'plan.json');
  return storedPlanDiff(stored, plan, createRedactor()).map(({ code, message }) => {
    expect(code).toBe('plan-altered');
    return message.replace('the stored plan differs from what apply would do: ', '');
  });
}

const alter = (part: Json | undefined, members: Members): object => Object.assign(part as Members, members);
const secret = { sensitive: true };
const hidden = { sensitive: true, before: secret, after: secret };
const warning = { code: 'no-list', message: 'none' };

describe('the content of a stored plan', () => {
  it.each<[string, Edit, string]>([
    ['a value', ({ changes }) => alter(field(changes[1], 2), { after: 'w' }), 'User/1: group'],
    ['the value before', ({ changes }) => alter(field(changes[1], 2), { before: 'w' }), 'User/1: group'],
    ['a hidden value', ({ changes }) => alter(field(changes[1], 2), hidden), 'User/1: group'],
    ['confirmed names', ({ changes }) => alter(field(changes[1], 1), { confirmed: true }), 'User/1: roles'],
    ['fewer fields', ({ changes }) => fieldsOf(changes[1]).pop(), 'User/1: group'],
    [
      'more fields',
      ({ changes }) => fieldsOf(changes[0]).push({ path: 'name', before: 'a', after: 'b', sensitive: false }),
      'Organization/acme: name',
    ],
    ['a name', ({ changes }) => alter(changes[1], { label: 'bob' }), 'the name of User/1'],
    ['an action', ({ changes }) => alter(changes[1], { action: 'adopt' }), 'User/1'],
    ['no request', ({ changes }) => alter(changes[1], { requests: [] }), 'User/1'],
    [
      'no destruction',
      ({ changes }) => alter(changes[1], { destructive: false, destructions: [] }),
      'User/1',
    ],
    ['no warning', ({ changes }) => alter(changes[1], { warnings: [] }), 'User/1'],
    [
      'another object',
      ({ changes }) => alter(changes[1], { address: 'User/2' }),
      'User/2; the name of User/2; User/2: blocked; User/2: roles; User/2: group; User/1; User/1: blocked; User/1: roles; User/1: group',
    ],
    ['fewer changes', ({ changes }) => changes.shift(), 'Organization/acme; Organization/acme: label'],
    ['a count', ({ summary }) => alter(summary, { update: 1 }), 'the summary'],
    ['a scope', (json) => alter(json, { required_scopes: [] }), 'the scopes'],
    ['a profile', (json) => alter(json, { profile: 'boruta' }), 'the profile'],
    ['a warning of the plan', (json) => alter(json, { warnings: [warning] }), 'the warnings'],
    ['no list of changes', (json) => alter(json, { changes: 1 }), 'changes is missing or invalid'],
  ])('must match the plan to apply: %s', async (_, edit, expected) => {
    expect(await differencesAfter(edit)).toEqual([expected]);
  });

  it.each<[string, Edit]>([
    ['no edit', () => {}],
    ['another order in a set', ({ changes }) => (field(changes[1], 1).after as Json[]).reverse()],
    ['another order of changes', ({ changes }) => changes.reverse()],
    ['no name', ({ changes }) => delete changes[1]?.label],
    ['no drift, as without a state', ({ changes }) => delete field(changes[1], 2).drift],
  ])('may have %s', async (_, edit) => {
    expect(await differencesAfter(edit)).toEqual([]);
  });
});

function fieldsOf(change: Members | undefined): Members[] {
  return (change?.fields ?? []) as Members[];
}

function field(change: Members | undefined, at: number): Members {
  return fieldsOf(change)[at] ?? {};
}
