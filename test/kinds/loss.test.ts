import { describe, expect, it } from 'vitest';
import { map, set, value } from '../../src/kinds/fields.js';
import {
  describeLoss,
  lostElements,
  observedLoss,
  type PendingRestore,
  restoreLost,
  stillLost,
} from '../../src/kinds/loss.js';

const a = { id: '1', name: 'a' };
const b = { id: '2', name: 'b' };
const c = { id: '3', name: 'c' };

describe('the loss of a list in a cut-off update', () => {
  const lost = (before: unknown[] | null, asked: unknown[] | undefined, now: unknown[] | null | undefined) =>
    lostElements(['roles'], {
      before: { roles: before as never },
      asked: asked === undefined ? {} : { roles: asked as never },
      now: now === undefined ? {} : { roles: now as never },
    });

  it('is what was there and should have stayed', () => {
    expect(lost([a, b], [a, c], [])).toEqual({ roles: [a] });
    expect(lost([a, b], [a, c], null)).toEqual({ roles: [a] });
  });

  it.each<[string, ...Parameters<typeof lost>]>([
    ['where the list was to be emptied', [a], [], []],
    ['where it was empty before', [], [a], []],
    ['where it was null before', null, [a], []],
    ['where it was not asked for', [a], undefined, []],
    ['where something is in it, which somebody set', [a, b], [a, b], [c]],
    ['where it is not shown', [a], [a], undefined],
  ])('is empty %s', (_, before, asked, now) => {
    expect(lost(before, asked, now)).toEqual({});
  });

  it('is looked for only in the given lists', () => {
    const traces = { before: { roles: [a] }, asked: { roles: [a] }, now: { roles: [] } };
    expect(lostElements(['organizations'], traces)).toEqual({});
  });
});

describe('a value with its loss restored', () => {
  it('has lost and present elements, each once', () => {
    expect(restoreLost(set(), [b], [a, b])).toEqual([b, a]);
    expect(restoreLost(set(), null, [a])).toEqual([a]);
    expect(restoreLost(set(), undefined, [a])).toEqual([a]);
  });

  it("is the lost value if it isn't a set", () => {
    expect(restoreLost(value, 'now', 'lost')).toBe('lost');
    expect(restoreLost(map, { a: 1 }, { b: 2 })).toEqual({ b: 2 });
  });
});

it('a loss is named by name, by id, or as a field', () => {
  expect(describeLoss({ organizations: [a, { id: '9' }], txt_content: 'text', id: 't', roles: [] })).toBe(
    'organizations ("a", "9"), txt_content, roles',
  );
});

describe('a pending restore', () => {
  const kind = {
    fields: { roles: set() },
    lostFields: (traces: Parameters<typeof lostElements>[1]) => lostElements(['roles'], traces),
  };
  const seen: PendingRestore = observedLoss('run-1', { roles: [a] }, { roles: [], other: 1 });

  it('remembers the object as it was after the loss', () => {
    expect(seen).toEqual({ run: 'run-1', lost: { roles: [a] }, seen: { roles: [] } });
    expect(observedLoss('run-1', { roles: [a] }, {})).toMatchObject({ seen: { roles: null } });
  });

  it('stays while the object is unchanged', () => {
    expect(stillLost(kind, seen, { roles: [] })).toEqual({ roles: [a] });
  });

  it('ends if somebody set the field since, or if the kind loses nothing', () => {
    expect(stillLost(kind, seen, { roles: [b] })).toEqual({});
    expect(stillLost({ fields: kind.fields }, seen, { roles: [] })).toEqual({});
  });

  it('ends if the field differs, even if the update could have left it so', () => {
    // A later read found elements, so somebody else emptied the list.
    const owed: PendingRestore = { run: 'run-1', lost: { roles: [a] }, seen: { roles: [b] } };
    expect(stillLost(kind, owed, { roles: [] })).toEqual({});
    expect(stillLost(kind, { ...owed, seen: {} }, { roles: [] })).toEqual({ roles: [a] });
  });

  it('stays if the field was not read after the loss', () => {
    const texts = { fields: { text: value }, lostFields: () => ({ text: 'old' }) };
    const owed: PendingRestore = { run: 'run-1', lost: { text: 'old' }, seen: {} };
    expect(stillLost(texts, owed, { text: 'built in' })).toEqual({ text: 'old' });
    expect(stillLost(texts, { ...owed, seen: { text: 'built in' } }, { text: 'other' })).toEqual({});
  });

  it('is computed from the former value if the loss was not read', () => {
    const unseen: PendingRestore = { run: 'run-1', before: { roles: [a, b] }, asked: { roles: [a] } };
    expect(stillLost(kind, unseen, { roles: [] })).toEqual({ roles: [a] });
    expect(stillLost(kind, unseen, { roles: [a] })).toEqual({});
    expect(stillLost({ fields: kind.fields }, unseen, { roles: [] })).toEqual({});
  });
});
