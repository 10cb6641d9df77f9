import { describe, expect, it } from 'vitest';
import { type Fields, HashedSecret, Sensitive, type Value } from '../../src/base/values.js';
import { countDrift, isDrifted, shareOf } from '../../src/plan/drift.js';
import type { Change, FieldChange } from '../../src/plan/plan.js';
import { ids } from '../demo-ids.js';
import { changeOf, fieldOf, planOf } from '../report/plans.js';
import { boruta, changeFor, declared, live, recorded } from './fixtures.js';

type Drift = FieldChange['drift'];

const id = ids.ada;
const lists = { metadata: {}, group: null, authorized_scopes: [], organizations: [], roles: [] };

/** The drift by path, given the fields of a user that a run left, the present ones and the declared ones. */
function driftOf(left: Fields, now: Fields, asked: Fields): [string, Drift | undefined][] {
  const change = changeFor(declared('User', { id }, asked), {
    live: live({ id }, { ...lists, ...now }),
    recorded: recorded({}, { lastShown: { run: 'run-1', fields: left } }),
    profile: boruta,
  });
  expect(change.reason).toBeNull();
  return change.fields.map(({ path, drift }) => [path, drift]);
}

/** The recorded value of each drift, by path. */
function drift(...given: Parameters<typeof driftOf>): { [path: string]: Value | undefined } {
  return Object.fromEntries(driftOf(...given).map(([path, drift]) => [path, drift?.recorded]));
}

const key = (text: string) => ({ value: text, status: 'valid' });

describe('what a run left', () => {
  it('is drift if the server has another value now', () => {
    expect(drift({ group: 'a' }, { group: 'b' }, { group: 'c' })).toEqual({ group: 'a' });
    expect(drift({ group: null }, { group: 'b' }, { group: 'c' })).toEqual({ group: null });
  });

  it('is no drift if only the manifest changed', () => {
    expect(drift({ group: 'b' }, { group: 'b' }, { group: 'c' })).toEqual({ group: undefined });
  });

  it("is unknown for a field that the server didn't show then", () => {
    expect(drift({}, { group: 'b' }, { group: 'c' })).toEqual({ group: undefined });
  });

  it('is compared key by key in a map', () => {
    const was = { metadata: { a: key('1'), b: key('1') } };
    const now = { metadata: { a: key('2'), b: key('1') } };
    const asked = { metadata: { a: key('3'), b: key('3'), c: key('3') } };
    const told = { 'metadata.a': key('1'), 'metadata.b': undefined, 'metadata.c': undefined };
    expect(drift(was, now, asked)).toEqual(told);
  });

  it('is compared key by key in a map that is emptied or was null', () => {
    const asked = { metadata: { a: key('3'), b: key('3') } };
    const emptied = drift({ metadata: { a: key('1') } }, { metadata: {} }, asked);
    expect(emptied).toEqual({ 'metadata.a': key('1'), 'metadata.b': undefined });
    const filled = drift({ metadata: null }, { metadata: { a: key('2') } }, asked);
    expect(filled).toEqual({ 'metadata.a': null, 'metadata.b': undefined });
  });

  it('is the same set in another order or with other names', () => {
    const [one, two] = [
      { id: ids.member, name: 'one' },
      { id: ids.accountant, name: 'two' },
    ];
    const asked = { roles: [{ id: ids.nobody }] };
    const same = drift({ roles: [one, two] }, { roles: [two, { ...one, name: '1' }] }, asked);
    expect(same).toEqual({ roles: undefined });
    expect(drift({ roles: [one] }, { roles: [one, two] }, asked)).toEqual({ roles: [one] });
  });

  it('is compared by hash if it is a secret', () => {
    const hashed = new HashedSecret('scrypt:x', (value) => value === 'old');
    const wish = { group: new Sensitive('new') };
    expect(drift({ group: hashed }, { group: 'old' }, wish)).toEqual({ group: undefined });
    expect(drift({ group: hashed }, { group: 'other' }, wish)).toEqual({ group: hashed });
  });

  it('is drift if the object was deleted', () => {
    const identity = { backend_id: 'b', type: 't' };
    const template = declared('EmailTemplate', identity, { txt_content: 'new', html_content: 'new' });
    const change = changeFor(template, {
      live: live(identity, {}, { exists: false }),
      recorded: recorded({}, { lastShown: { run: 'run-1', fields: { txt_content: 'old' } } }),
    });
    const drift = { recorded: 'old', run: 'run-1', declared: 'changed' };
    expect(change.fields).toEqual([
      expect.objectContaining({ path: 'txt_content', drift }),
      expect.not.objectContaining({ drift: expect.anything() }),
    ]);
  });
});

describe('what is declared now', () => {
  const [one, other] = [{ id: ids.member }, { id: ids.accountant }];
  it.each<[string, Fields, Fields, Fields, { [path: string]: 'changed' | undefined }]>([
    ['the same', { group: 'a' }, { group: 'b' }, { group: 'a' }, { group: undefined }],
    ['something else', { group: 'a' }, { group: 'b' }, { group: 'c' }, { group: 'changed' }],
    ['the same set', { roles: [one] }, { roles: [] }, { roles: [one] }, { roles: undefined }],
    ['another set', { roles: [one] }, { roles: [] }, { roles: [other] }, { roles: 'changed' }],
    [
      'one key as it was and one that is not',
      { metadata: { a: key('1'), b: key('1') } },
      { metadata: { a: key('2'), b: key('2') } },
      { metadata: { a: key('1'), b: key('3') } },
      { 'metadata.a': undefined, 'metadata.b': 'changed' },
    ],
  ])('is %s', (_, left, now, asked, expected) => {
    const told = driftOf(left, now, asked);
    expect(told.map(([, drift]) => drift?.run)).not.toContain(undefined);
    expect(Object.fromEntries(told.map(([path, drift]) => [path, drift?.declared]))).toEqual(expected);
  });

  it('is compared by hash if it is a secret', () => {
    const hashed = new HashedSecret('scrypt:x', (value) => value === 'old');
    const of = (asked: string) => {
      const told = driftOf({ group: hashed }, { group: 'other' }, { group: new Sensitive(asked) });
      return told.map(([, drift]) => drift?.declared);
    };
    expect(of('old')).toEqual([undefined]);
    expect(of('new')).toEqual(['changed']);
  });
});

describe('a share of a plan', () => {
  const own = fieldOf({ path: 'name' });
  const moved = fieldOf({ drift: { recorded: 'ACME 1', run: 'run-1' } });
  const twice = fieldOf({ drift: { recorded: 'ACME 1', run: 'run-1', declared: 'changed' } });
  const change = (address: string, parts: Partial<Change>): Change => changeOf({ address, ...parts });
  const changes = [
    change('drift', { fields: [moved] }),
    change('both', { fields: [own, moved] }),
    change('made', { fields: [own] }),
    change('one field of both', { fields: [twice] }),
    change('blocked', { action: 'blocked' }),
    change('same', { action: 'unchanged' }),
  ];
  const shown = (only: 'drift' | 'changes' | undefined) =>
    shareOf(changes, only).changes.map(({ address }) => address);

  it('contains its own changes, and those that belong to both shares', () => {
    expect(shown('drift')).toEqual(['drift', 'both', 'one field of both']);
    expect(shown('changes')).toEqual(['both', 'made', 'one field of both', 'blocked']);
    expect(shown(undefined)).toHaveLength(changes.length);
  });

  it('counts the changes that it leaves out', () => {
    expect([...shareOf(changes, 'drift').leftOut].flat()).toEqual(['update', 1, 'blocked', 1]);
    expect(shareOf(changes, 'changes').leftOut).toEqual(new Map([['update', 1]]));
    const losing = [change('a', { fields: [moved], destructions: ['a is lost', 'b too'] }), ...changes];
    expect(shareOf(losing, 'changes').losesLeftOut).toBe(1);
    expect(shareOf(losing, 'drift').losesLeftOut).toBe(0);
  });

  it('counts drifted fields and objects', () => {
    expect(countDrift(planOf(changes))).toEqual({ fields: 3, objects: 3 });
    expect(changes.filter(isDrifted)).toHaveLength(3);
  });
});
