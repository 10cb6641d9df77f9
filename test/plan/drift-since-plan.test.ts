import { describe, expect, it } from 'vitest';
import type { Fields, Value } from '../../src/base/values.js';
import { driftSincePlan } from '../../src/plan/drift-since-plan.js';
import type { Change, FieldChange } from '../../src/plan/plan.js';
import { changeOf, fieldOf } from '../report/plans.js';

const label = (before: Value | undefined): FieldChange => fieldOf({ before, after: 'New' });

const organization = (...fields: readonly FieldChange[]): Change => changeOf({ fields });

function keyPair(before: Fields): Change {
  return changeOf({ kind: 'KeyPair', apply: { ...changeOf().apply, before } });
}

function roles(before: Value, after: Value): Change {
  return changeOf({ kind: 'User', fields: [fieldOf({ path: 'organizations', type: 'set', before, after })] });
}

describe('drift since a plan was shown', () => {
  it('is empty if everything is as shown', () => {
    expect(driftSincePlan(organization(label('Old')), organization(label('Old')))).toEqual([]);
    expect(driftSincePlan(organization(label(undefined)), organization(label(undefined)))).toEqual([]);
  });

  it('lists each field whose present value differs', () => {
    expect(driftSincePlan(organization(label('Old')), organization(label('Older')))).toEqual(['label']);
  });

  it('lists a field that needs a change only now, and one that no longer does', () => {
    expect(driftSincePlan(organization(), organization(label('Old')))).toEqual(['label']);
    expect(driftSincePlan(organization(label('Old')), organization())).toEqual(['label']);
  });

  it('is the reason why the object is blocked now', () => {
    const now = changeOf({ action: 'blocked', reason: 'no such organization' });
    expect(driftSincePlan(organization(label('Old')), now)).toEqual(['no such organization']);
    expect(driftSincePlan(organization(), changeOf({ action: 'blocked' }))).toEqual(['it is blocked now']);
  });

  it('is the action if only that differs', () => {
    expect(driftSincePlan(changeOf({ action: 'delete' }), changeOf({ action: 'unchanged' }))).toEqual([
      'there is nothing to delete any more',
    ]);
  });

  it('lists what a change depends on besides its fields', () => {
    expect(driftSincePlan(keyPair({ defaults: ['1'] }), keyPair({ defaults: ['2'] }))).toEqual(['defaults']);
    expect(driftSincePlan(keyPair({ defaults: ['1'] }), keyPair({ defaults: ['1'], other: 1 }))).toEqual([]);
    expect(driftSincePlan(keyPair({ defaults: ['1'] }), keyPair({}))).toEqual(['defaults']);
  });

  it('ignores undeclared fields', () => {
    const of = (before: Fields): Change => changeOf({ apply: { ...changeOf().apply, before } });
    expect(driftSincePlan(of({ label: 'a' }), of({ label: 'b' }))).toEqual([]);
  });
});

describe('a set', () => {
  const acme = { id: '1', name: 'acme', roles: [{ id: 'r1' }] };

  it('is as shown in any order and with any names of its elements', () => {
    const globex = { id: '2', name: 'globex' };
    const shown = roles([acme, globex], [acme]);
    expect(driftSincePlan(shown, roles([globex, { ...acme, name: 'acme inc' }], [acme]))).toEqual([]);
  });

  it('differs if an element was added or removed', () => {
    expect(driftSincePlan(roles([acme], []), roles([], []))).toEqual(['organizations']);
    expect(driftSincePlan(roles([{ name: 'a' }], []), roles([{ name: 'b' }], []))).toEqual(['organizations']);
  });

  it('differs if part of an element that the plan changes or removes differs', () => {
    const wider = { ...acme, roles: [{ id: 'r1' }, { id: 'r2' }] };
    expect(driftSincePlan(roles([acme], []), roles([wider], []))).toEqual(['organizations']);
    const goal = { ...acme, roles: [] };
    expect(driftSincePlan(roles([acme], [goal]), roles([wider], [goal]))).toEqual(['organizations']);
  });

  it('is as shown if its elements stay the same', () => {
    expect(driftSincePlan(roles([acme], [acme]), roles([{ ...acme }], [acme]))).toEqual([]);
  });

  it('differs if it would gain another element, or one that grants something else', () => {
    const scoped = (id: string) => ({ ...acme, scopes: [{ id }] });
    expect(driftSincePlan(roles([], [acme]), roles([], [{ ...acme, id: '2' }]))).toEqual(['organizations']);
    expect(driftSincePlan(roles([], [scoped('s')]), roles([], [scoped('t')]))).toEqual(['organizations']);
    expect(driftSincePlan(roles([], [scoped('s')]), roles([], [scoped('s')]))).toEqual([]);
    const renamed = { ...acme, name: 'users:manage:all' };
    expect(driftSincePlan(roles([], [acme]), roles([], [renamed]))).toEqual(['organizations']);
  });
});
