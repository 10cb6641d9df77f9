import { describe, expect, it } from 'vitest';
import { level, orderChanges } from '../../src/plan/order.js';
import type { Change } from '../../src/plan/plan.js';
import { changeFor, declared, recorded } from './fixtures.js';

function addresses(changes: readonly Change[]): string[] {
  return changes.map(({ address }) => address);
}

function keyPair(id: string, isDefault: boolean, before?: boolean): Change {
  return changeFor(
    declared('KeyPair', { id }, { is_default: isDefault }),
    before === undefined ? {} : { recorded: recorded({ is_default: before }) },
  );
}

it('kinds and addresses are in order, however the manifests are laid out', () => {
  const changes = [
    changeFor(declared('Client', { id: 'c' }, {}, { generation: 1 })),
    changeFor(declared('EmailTemplate', { backend_id: 'b', type: 'z' }, { txt_content: 'x' })),
    changeFor(declared('EmailTemplate', { backend_id: 'b', type: 'a' }, { txt_content: 'x' })),
    changeFor(declared('KeyPair', { id: 'k' }, { public_key: 'x' })),
    changeFor(declared('User', { id: 'Z' }, { group: 'x' })),
    changeFor(declared('User', { id: 'a' }, { group: 'x' })),
    changeFor(declared('Organization', { id: 'o' }, { label: 'x' })),
  ];
  const sorted = [
    ...['Organization/o', 'Client/c', 'User/Z', 'User/a', 'KeyPair/k'],
    ...['EmailTemplate/b/a', 'EmailTemplate/b/z'],
  ];
  expect(addresses(orderChanges(changes))).toEqual(sorted);
  expect(addresses(orderChanges([...changes].reverse()))).toEqual(sorted);
});

it('keys are rotated before DIDs, which come from the keys of clients', () => {
  const anew = (kind: 'Client' | 'KeyPair'): Change => ({
    ...changeFor(declared(kind, { id: 'a' }, {}, { generation: 2 })),
    action: 'regenerate',
  });
  const gone: Change = { ...changeFor(declared('Scope', { name: 's' }, {})), action: 'delete' };
  const arranged = orderChanges([gone, anew('Client'), anew('KeyPair')]);
  expect(addresses(arranged)).toEqual(['KeyPair/a', 'Client/a', 'Scope/s']);
  expect(level(anew('Client'))).not.toBe(level(anew('KeyPair')));
});

describe('the default key pair', () => {
  it('names the former default, from the plan or the server', () => {
    const losses = (changes: readonly Change[]) =>
      orderChanges(changes).flatMap(({ destructions }) => destructions);
    expect(losses([keyPair('b', true)])).toEqual(['moves the default key pair']);
    const both = losses([keyPair('b', true), keyPair('a', false, true)]);
    expect(both).toEqual(['moves the default key pair from KeyPair/a']);
    const told = (...defaults: string[]): Change => {
      const change = keyPair('b', true);
      return { ...change, apply: { ...change.apply, before: { defaults } } };
    };
    expect(losses([told('c')])).toEqual(['moves the default key pair from KeyPair/c']);
    expect(losses([told()])).toEqual(['moves the default key pair: none is the default now']);
  });

  it('is set on the new key pair before it is cleared on the former one', () => {
    const arranged = orderChanges([
      keyPair('a', false, true),
      keyPair('b', false),
      keyPair('z', true, false),
    ]);
    expect(addresses(arranged)).toEqual(['KeyPair/z', 'KeyPair/a', 'KeyPair/b']);
    expect(arranged.map(({ action }) => action)).toEqual(['update', 'update', 'update']);
  });

  it('is cleared after all other changes', () => {
    const other = changeFor(declared('KeyPair', { id: 'b' }, { public_key: 'x' }));
    const arranged = orderChanges([keyPair('a', false, true), other, keyPair('z', true, false)]);
    expect(addresses(arranged)).toEqual(['KeyPair/z', 'KeyPair/b', 'KeyPair/a']);
  });

  it('is not cleared if no other key pair becomes the default', () => {
    const [change] = orderChanges([keyPair('a', false, true)]);
    expect(change).toMatchObject({ action: 'blocked', requests: [], destructions: [] });
    expect(change?.reason).toContain('no other key pair');
  });

  it('is not cleared with null if no other key pair becomes the default', () => {
    const known = { recorded: recorded({ is_default: true }) };
    const cleared = changeFor(declared('KeyPair', { id: 'a' }, { is_default: null }), known);
    expect(orderChanges([cleared])).toMatchObject([{ action: 'blocked', requests: [] }]);
    expect(addresses(orderChanges([cleared, keyPair('z', true)]))).toEqual(['KeyPair/z', 'KeyPair/a']);
  });

  const successor = keyPair('b', true);
  it.each<[string, Change[], Change['action'][]]>([
    ['is not given up if its present is not known', [keyPair('a', false)], ['blocked']],
    [
      'may be given up if another has it already',
      [keyPair('a', false), keyPair('b', true, true)],
      ['unchanged', 'update'],
    ],
    [
      'is not given up for one that is blocked',
      [keyPair('a', false, true), { ...successor, action: 'blocked', requests: [] }],
      ['blocked', 'blocked'],
    ],
    ['stays with a pair that says of itself what it is already', [keyPair('a', false, false)], ['unchanged']],
  ])('%s', (_, changes, actions) => {
    expect(orderChanges(changes).map(({ action }) => action)).toEqual(actions);
  });
});
