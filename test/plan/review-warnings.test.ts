import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../src/plan/plan.js';
import { warnOfMixedScripts } from '../../src/plan/review-warnings.js';
import { changeOf, fieldOf } from '../report/plans.js';

function messages(...fields: Partial<FieldChange>[]): string[] {
  return warnOfMixedScripts(changeOf({ fields: fields.map(fieldOf) })).warnings.map(({ message }) => message);
}

describe('a key or a name that mixes alphabets', () => {
  it.each<[string, Partial<FieldChange>]>([
    ['a key of metadata', { path: 'metadata.d\u0435pt', before: null, after: { value: 'x' } }],
    ['a key that a path quotes', { path: 'metadata["d\u0435pt"]', before: null, after: 1 }],
    ['a key within a value', { path: 'metadata', before: {}, after: { d\u0435pt: 1 } }],
    ['the name of an element', { path: 'roles', type: 'set', before: [], after: [{ name: 'd\u0435pt' }] }],
    [
      'the name of a removed element',
      { path: 'roles', type: 'set', before: [{ name: 'd\u0435pt' }], after: [] },
    ],
    ['the name of the object', { path: 'name', before: 'a', after: 'd\u0435pt' }],
  ])('is reported: %s', (_, field) => {
    expect(messages(field)).toEqual(['"d\u0435pt" mixes Latin and Cyrillic letters, and looks like "dept"']);
  });

  it('is reported with the name that it looks like, if that exists', () => {
    const [before, after] = [[{ name: 'admin' }], [{ name: '\u03b1dmin' }, { name: 'admin' }]];
    expect(messages({ path: 'roles', type: 'set', before, after })).toEqual([
      '"\u03b1dmin" mixes Latin and Greek letters, and looks like "admin", which is there as well',
    ]);
  });

  it("is reported without what it looks like, if that isn't known", () => {
    expect(messages({ path: 'name', after: 'depa\u0433t' })).toEqual([
      '"depa\u0433t" mixes Latin and Cyrillic letters',
    ]);
  });

  it('is not reported in words of one alphabet, in values and in secrets', () => {
    expect(
      messages(
        { path: 'metadata.\u043e\u0442\u0434\u0435\u043b IT', after: { value: 'd\u0435pt' } },
        { path: 'label', after: 'd\u0435pt' },
        { path: 'name', after: '\u65e5\u672cx' },
        { path: 'metadata.d\u0435pt', sensitive: true },
      ),
    ).toEqual([]);
  });
});
