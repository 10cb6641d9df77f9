import fc from 'fast-check';
import { expect, it } from 'vitest';
import { safeName, VariableNames } from '../../src/pull/names.js';

const hostile = [
  '../x',
  '..',
  '.',
  '',
  'CON',
  'con',
  'con.txt',
  'a/b',
  'a\\b',
  'a:b',
  'x'.repeat(300),
  'A',
  'a',
  'a.',
  'ä',
  '~',
  '\0',
  '-',
];

it('an id becomes one step of a path that stays where it is, and no two have the same on any file system', () => {
  const ids = fc.uniqueArray(
    fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 5 })),
    {
      maxLength: 30,
    },
  );
  fc.assert(
    fc.property(ids, (some) => {
      const names = some.map(safeName);
      expect(new Set(names.map((name) => name.toLowerCase().normalize())).size).toBe(some.length);
      for (const name of names) {
        expect(name).toMatch(/^[a-z0-9_~][a-z0-9_.~-]{0,79}$/);
        expect(name).not.toMatch(/^(?:con|nul|aux|prn)(?:\.|$)|\.$/);
      }
    }),
    { numRuns: 100 },
  );
  expect(safeName('20000000-0000-4000-8000-000000000001')).toBe('20000000-0000-4000-8000-000000000001');
  // What looks like the name of another id becomes another name.
  expect(safeName(safeName('CON'))).not.toBe(safeName('CON'));
});

it('each secret has a variable of its own, the same each time, whatever it is called', () => {
  const names = new VariableNames();
  const all = [['a b'], ['a-b'], ['a.b'], ['ä'], ['x'.repeat(300)], ['x'.repeat(301)]].map((path) =>
    names.of('User/1', path),
  );
  expect(new Set(all).size).toBe(all.length);
  for (const name of all) expect(name).toMatch(/^IDOPS_USER_1(?:_[A-Z0-9_]+)?$/);
  expect(names.of('User/1', ['a-b'])).toBe(all[1]);
});
