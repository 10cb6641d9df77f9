import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/base/values.js';
import { appendDocuments, editFields } from '../../src/pull/splice.js';

function edited(text: string, fields: { [field: string]: Json }, document = 0) {
  const edits = Object.entries(fields).map(([field, next]) => ({ document, field, next }));
  const { text: made, refused } = editFields(text, edits);
  return { made, refused: refused.map(({ edit, reason }) => `${edit.field}: ${reason}`) };
}

describe('a field is written anew, and all else stays to the character', () => {
  const cases: [string, string, { [field: string]: Json }, string][] = [
    ['a scalar with its remark', "a:   'x'   # why\nb: 1_0\n", { a: 'y z' }, 'a: y z   # why\nb: 1_0\n'],
    [
      'line ends of Windows',
      'a: x\r\n# c\r\nb: y\r\n',
      { a: ['p', 'q'] },
      'a:\r\n  - p\r\n  - q\r\n# c\r\nb: y\r\n',
    ],
    [
      'line ends of the place, where documents of one file differ',
      'a:\n  - {id: 1}\n---\r\nb: 1\r\n',
      { a: [{ id: 1 }, { id: 2 }] },
      'a:\n  - {id: 1}\n  - {id: 2}\n---\r\nb: 1\r\n',
    ],
    ['a text without an end of line', 'b: 1\na: x', { a: 'z' }, 'b: 1\na: z'],
    ['braces', '{a: "x", b: [1, 2]} # c\n', { b: [2, 3] }, '{a: "x", b: [2, 3]} # c\n'],
    ['nothing at all', 'a:\nb: 1\n', { a: 'x' }, 'a: x\nb: 1\n'],
    [
      'a list, with what is said in it',
      'a:\n# one\n- {id: 1, n: 1.50} # first\n# two\n- {id: 2}\nb: 1\n',
      { a: [{ id: 1, n: 'new' }, { id: 3 }] },
      'a:\n# one\n- {id: 1, n: new} # first\n- {id: 3}\nb: 1\n',
    ],
    [
      'within maps and lists, the members that differ alone',
      "a:\n    x:   # why\n        value:  'old'   # v\n        status:   valid # s\n    y: {value: [1,   2], status: 'b'} # y\nb: 1\n",
      { a: { x: { value: 'new', status: 'valid' }, y: { value: [1, 2], status: 'c' } } },
      'a:\n    x:   # why\n        value: new   # v\n        status:   valid # s\n    y: {value: [1,   2], status: c} # y\nb: 1\n',
    ],
    [
      'a member of an element of a list',
      "a:\n-   id: 1\n    n:   'x'   # n\n-   id:   2 # two\n",
      { a: [{ id: 1, n: 'new' }, { id: 2 }] },
      'a:\n-   id: 1\n    n: new   # n\n-   id:   2 # two\n',
    ],
    ['a block', 'a: |\n  one\n  two\nb: 1\n', { a: 'one\nthree\n' }, 'a: |\n  one\n  three\nb: 1\n'],
    ['a list in the place of null', 'a: null # none\n', { a: [{ id: '1' }] }, 'a:\n  - id: "1" # none\n'],
  ];
  it.each(cases)('%s', (_, text, fields, wanted) => {
    expect(edited(text, fields)).toEqual({ made: wanted, refused: [] });
  });
});

it('an anchor or an alias is left alone, and the other fields are changed', () => {
  const text = 'a: &x one\nb: *x\nc: two\n';
  expect(edited(text, { a: 'p', b: 'q', c: 'r' })).toEqual({
    made: 'a: &x one\nb: *x\nc: r\n',
    refused: [
      'a: it is, or has in it, an anchor or an alias',
      'b: it is, or has in it, an anchor or an alias',
    ],
  });
});

it('what can not be changed in place is left as it is', () => {
  expect(edited('? a\n: x\nb: 1\n', { a: 'y', b: 'z' })).toEqual({
    made: '? a\n: x\nb: z\n',
    refused: ["a: it is written in a way that can't be changed in place"],
  });
});

it('documents go behind those that are there, which say what they said', () => {
  expect(appendDocuments('', ['a: 1\n', 'b: 2\n'])).toBe('a: 1\n---\nb: 2\n');
  expect(appendDocuments('# all of them\n', ['a: 1\n'])).toBe('# all of them\na: 1\n');
  expect(appendDocuments('x: 1', ['a: 1\n'])).toBe('x: 1\n---\na: 1\n');
  expect(appendDocuments('x: 1\n...\n', ['a: 1\n'])).toBe('x: 1\n...\n---\na: 1\n');
  expect(appendDocuments('x: 1\r\n', ['a: 1\n'])).toBe('x: 1\r\n---\r\na: 1\r\n');
  expect(appendDocuments('x: [', ['a: 1\n'])).toBeUndefined();
});
