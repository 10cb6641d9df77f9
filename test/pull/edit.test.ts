import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/base/values.js';
import { editFields, writtenDocuments } from '../../src/pull/edit.js';
import { comments, documentOf, keptMembers, members, textStyle, valueAt } from './commented.js';

function edited(text: string, fields: { [field: string]: Json }) {
  const edits = Object.entries(fields).map(([field, next]) => ({ document: 0, field, next }));
  const { text: made, refused } = editFields(text, edits);
  return { made, refused: refused.map(({ edit, reason }) => `${edit.field}: ${reason}`) };
}

type Case = [string, string, { [field: string]: Json }, string];

const block: Case[] = [
  [
    'an element that went goes with its line and the comment directly above, nothing else',
    'a:\n  # free\n\n  # one\n  - one # 1\n  # two\n  # more of two\n  - two # 2\n\n  # free too\n\n  # three\n  - three # 3\n  # end\nb: 1\n',
    { a: ['one', 'three'] },
    'a:\n  # free\n\n  # one\n  - one # 1\n\n  # free too\n\n  # three\n  - three # 3\n  # end\nb: 1\n',
  ],
  [
    'a new element is appended with the dash and the braces of its neighbours',
    'a:\n  -   { id: "1", "name": \'x\' } # 1\n  # not yet\nb: 1\n',
    {
      a: [
        { id: '1', name: 'x' },
        { id: '2', name: 'y' },
      ],
    },
    'a:\n  - { id: "1", "name": \'x\' } # 1\n  - { id: "2", name: "y" }\n  # not yet\nb: 1\n',
  ],
  [
    'an element that is a block stays one, with what is indented in it',
    'a:\n- id: 1\n  roles:\n  - id: r # r\n  # of the roles\nb: 1\n',
    {
      a: [
        { id: 1, roles: [{ id: 'r' }, { id: 's' }] },
        { id: 2, roles: [{ id: 't' }] },
      ],
    },
    'a:\n- id: 1\n  roles:\n  - id: r # r\n  - id: s\n  # of the roles\n- id: 2\n  roles:\n  - id: t\nb: 1\n',
  ],
  [
    'elements come before, between and behind, and the last line has no end',
    'a:\n    - b # b\n    - d',
    { a: ['a', 'b', 'c', 'd', 'e'] },
    'a:\n    - a\n    - b # b\n    - c\n    - d\n    - e\n',
  ],
  [
    'an element that stands elsewhere takes its comments along',
    'a:\n  # one\n  - one # 1\n  - two # 2\n  - three # 3\n',
    { a: ['two', 'three', 'one'] },
    'a:\n  - two # 2\n  - three # 3\n  # one\n  - one # 1\n',
  ],
  [
    'what loses its last member keeps what nobody knows whose it is',
    'a: # why\n  # all of them\n\n  # one\n  - one\n  - two\n\n# of b\nb: 1\n',
    { a: [] },
    'a: # why\n  # all of them\n\n  []\n\n# of b\nb: 1\n',
  ],
  [
    'keys of a map that come and go',
    'a:\n  # x\n  x: 1\n  # y\n  "y":\n    # value\n    value: v # v\n    old: o # o\n  z: |+\n    text\n\nb: 1\n',
    { a: { y: { value: 'v', 'new one': ['p'] }, z: 'text\n\n', w: 'w' } },
    'a:\n  # y\n  "y":\n    # value\n    value: v # v\n    new one:\n      - p\n  z: |+\n    text\n\n  w: w\nb: 1\n',
  ],
  [
    'a key that shares its line with a dash',
    'a:\n  - x: 1 # x\n    # w\n    w: 2\n    id: 5 # id\n  - name:   old # n\n    id: 7\n  - x: 1\n    # of id\n    id: 8\n  - x: 1 # 9\n    id: 9\n',
    { a: [{ id: 5 }, { name: 'new', id: 7, more: 'm' }, { id: 8 }] },
    'a:\n  - id: 5 # id\n  - name: new # n\n    id: 7\n    more: m\n  - # of id\n    id: 8\n',
  ],
  [
    'what loses all of its members within a list',
    'a:\n  - - x # x\n    - y # y\n  - z # z\n  - k: 1\n    l: 2\nb: 1\n',
    { a: [[], 'z', {}] },
    'a:\n  - []\n  - z # z\n  - {}\nb: 1\n',
  ],
  [
    'line ends of Windows, of the whole and of a new block of text',
    'a:\r\n  x: "1" # x\r\n  y: 2\r\n',
    { a: { x: '1', z: 'p\nq\n' } },
    'a:\r\n  x: "1" # x\r\n  z: |\r\n    p\r\n    q\r\n',
  ],
  [
    'a text above a comment that would be a part of it',
    'a: |\n       one\n\n\n      # far in\nb: 1\n',
    { a: 'p\nq' },
    'a: |-\n  p\n  q\n\n# far in\nb: 1\n',
  ],
  [
    'a text in lines in the place of one between tabs',
    'a:\t"I"\t# c\nb: 1\n',
    { a: 'one\ntwo\n' },
    'a: | # c\n  one\n  two\nb: 1\n',
  ],
  [
    'a block of text with a remark at its head, and one in the place of a line with a remark',
    'a: |  # why\n  one\n  two\nb: x # because\nc: 1\n',
    { a: 'other', b: 'one\ntwo\n' },
    'a: other # why\nb: | # because\n  one\n  two\nc: 1\n',
  ],
];

const flow: Case[] = [
  [
    'JSON',
    '{"kind": "x", "a": "I", "b": {"c": "d", "l": ["x"], "n": null}}\n',
    { a: 'II', b: { c: 'e', l: ['y', 'x'], n: 'm' } },
    '{"kind": "x", "a": II, "b": {"c": e, "l": ["y", "x"], "n": m}}\n',
  ],
  ['the first of a line', '{ a: [ "x", y, z ] }\n', { a: ['y', 'z'] }, '{ a: [ y, z ] }\n'],
  ['all of a line', "a: [ x, 'y' ] # a\n", { a: [] }, 'a: [] # a\n'],
  ['one more', 'a: ["x", "y"] # a\n', { a: ['x', 'y', 'z'] }, 'a: ["x", "y", z] # a\n'],
  ['one of several lines', 'a: [x] # a\n', { a: ['x', 'y\nz\n'] }, 'a: [x, "y\\nz\\n"] # a\n'],
  ['one before', 'a: [x, y] # a\n', { a: ['w', 'x', 'y'] }, 'a: [w, x, y] # a\n'],
  [
    'members of a map',
    '{"a": {"x": 1, "y": {"z": [1, 2]}}}\n',
    { a: { y: { z: [2, 3], w: 'q' }, v: null } },
    '{"a": {"y": {"z": [2, 3], w: q}, v: null}}\n',
  ],
  [
    'lines with comments, of which the last has no comma',
    'a: [ # all\n  # x\n  x, # 1\n\n  # free\n\n  # y\n  y, # 2\n  z # 3\n  # end\n]\n',
    { a: ['x', 'z', 'w'] },
    'a:\n  [\n    # all\n  # x\n    x, # 1\n    # free\n\n    z,\n      # 3\n      # end\n    w\n  ]\n',
  ],
  ['a comment that comes to stand last', 'a: [x, # 1\n  y]\n', { a: ['x'] }, 'a:\n  [\n    x # 1\n  ]\n'],
  ['an empty one with a comment in it', 'a: [\n  # none yet\n]\n', { a: ['x'] }, 'a:\n  - x\n  # none yet\n'],
];

const anchors: [string, string, Json, string, string[]][] = [
  [
    'in a member that stays are no matter',
    'a:\n  - &one {id: 1} # 1\n  - {id: 2}\nb: [*one]\n',
    [{ id: 1 }, { id: 3 }],
    'a:\n  - &one {id: 1} # 1\n  - {id: 3}\nb: [*one]\n',
    [],
  ],
  ['of a member that goes can be aliases', 'b: &x 1\na: [*x, y]\n', ['y'], 'b: &x 1\na: [y]\n', []],
  ...['a: &a [x]\nb: *a\n', 'a: [&x x, y]\nb: *x\n', 'b: &x {id: 1, n: [p]}\na: [*x]\n'].map(
    (text): [string, string, Json, string, string[]] => [
      `stay where a change would touch them: ${text.trim()}`,
      text,
      text.includes('id') ? [{ id: 1, n: ['q'] }] : ['z'],
      text,
      ['a: it contains an anchor or an alias'],
    ],
  ),
];

describe('anchors and aliases', () => {
  it.each(anchors)('%s', (_, text, next, wanted, refused) => {
    expect(edited(text, { a: next })).toEqual({ made: wanted, refused });
  });
});

it('keys with explicit marks are normal keys', () => {
  const text = 'a:\n  ? x # x\n  : 1\n  # y\n  "y": 2\n';
  const made = 'a:\n  x: # x\n    2\n  # y\n  "y": 2\n';
  expect(edited(text, { a: { x: 2, y: 2 } })).toEqual({ made, refused: [] });
});

describe('the document of a changed field keeps its comments, order and quotes, and all else keeps every byte', () => {
  const cases: Case[] = [
    ['a scalar with its remark', "a:   'x'   # why\nb: 1_0\n", { a: 'y z' }, 'a: y z # why\nb: 1_0\n'],
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
    ['a text without an end of line', 'b: 1\na: x', { a: 'z' }, 'b: 1\na: z\n'],
    ['braces', '{a: "x", b: [1, 2]} # c\n', { b: [2, 3] }, '{a: "x", b: [2, 3]} # c\n'],
    ['nothing at all', 'a:\nb: 1\n', { a: 'x' }, 'a: x\nb: 1\n'],
    [
      'a list and its comments',
      'a:\n# one\n- {id: 1, n: 1.50} # first\n# two\n- {id: 2}\nb: 1\n',
      { a: [{ id: 1, n: 'new' }, { id: 3 }] },
      'a:\n# one\n- {id: 1, n: new} # first\n- {id: 3}\nb: 1\n',
    ],
    [
      'only the members that differ, within maps and lists',
      "a:\n    x:   # why\n        value:  'old'   # v\n        status:   valid # s\n    y: {value: [1,   2], status: 'b'} # y\nb: 1\n",
      { a: { x: { value: 'new', status: 'valid' }, y: { value: [1, 2], status: 'c' } } },
      'a:\n    x: # why\n        value: new # v\n        status: valid # s\n    y: {value: [1, 2], status: c} # y\nb: 1\n',
    ],
    [
      'a member of an element of a list',
      "a:\n-   id: 1\n    n:   'x'   # n\n-   id:   2 # two\n",
      { a: [{ id: 1, n: 'new' }, { id: 2 }] },
      'a:\n- id: 1\n  n: new # n\n- id: 2 # two\n',
    ],
    ['a block', 'a: |\n  one\n  two\nb: 1\n', { a: 'one\nthree\n' }, 'a: |\n  one\n  three\nb: 1\n'],
    ['a list in the place of null', 'a: null # none\n', { a: [{ id: '1' }] }, 'a:\n  # none\n  - id: "1"\n'],
  ];
  it.each(cases)('%s', (_, text, fields, wanted) => {
    expect(edited(text, fields)).toEqual({ made: wanted, refused: [] });
  });
});

it('an anchor or an alias stays, and the other fields are changed', () => {
  const text = 'a: &x one\nb: *x\nc: two\n';
  const refused = ['a', 'b'].map((field) => `${field}: it contains an anchor or an alias`);
  const made = 'a: &x one\nb: *x\nc: r\n';
  expect(edited(text, { a: 'p', b: 'q', c: 'r' })).toEqual({ made, refused });
});

it('an edit that would be read differently is not made', () => {
  const text = 'a: &x {id: 1}\nb: [*x, {id: 2}]\nc: 1\n';
  expect(edited(text, { b: [{ id: 2 }, { id: 3 }], c: 2 })).toEqual({
    made: 'a: &x {id: 1}\nb: [{id: 2}, {id: 3}]\nc: 2\n',
    refused: [],
  });
  expect(edited('%TAG ! tag:x,1:\n---\na: x\n', { a: 'y' }).made).toContain('a:');
  expect(editFields('a: [', [{ document: 0, field: 'a', next: 1 }])).toMatchObject({ text: 'a: [' });
});

it('other documents of the file, and the text between them, keep every byte', () => {
  const [first, last] = ['# one\n\n\na:   1\n...\n# between\n', '--- # three\r\nc:    {x:   1}\r\n\r\n'];
  const edits = [{ document: 1, field: 'b', next: 'new' }];
  const text = `${first}---\nb: new\n${last}`;
  expect(editFields(`${first}---\nb:   old\n${last}`, edits)).toEqual({ text, refused: [] });
});

describe('remaining members keep their text, their comments and their order', () => {
  it.each([...block, ...flow])('%s', (_, text, fields, wanted) => {
    expect(edited(text, fields)).toEqual({ made: wanted, refused: [] });
  });
});

it('whatever is added or removed, remaining members keep their comments and order', () => {
  fc.assert(
    fc.property(members, textStyle, (all, style) => {
      const text = documentOf(all, style);
      expect(writtenDocuments(text)).toEqual([{ a: valueAt(all, 'before'), b: 1 }]);
      const { made, refused } = edited(text, { a: valueAt(all, 'after') });
      expect(refused).toEqual([]);
      expect(writtenDocuments(made)).toEqual([{ a: valueAt(all, 'after'), b: 1 }]);
      const named = (one: string) => [...one.matchAll(/# ([a-z]+-m?\w+)/g)].map(([, name = '']) => name);
      const { kept, removed } = comments(all);
      if (style.style !== 'block') return;
      expect(named(text)).toHaveLength(kept.length + removed.length + 1);
      expect(named(made)).toEqual(named(text).filter((name) => !removed.includes(name)));
      for (const { id, hasOwnComment, hasTrailing } of keptMembers(all)) {
        const line = `(?:- )?(?:\\{?\\s*["']?id["']?: )?["']?${id}["']?[:,}]?[^\\n]*`;
        if (hasOwnComment) expect(made).toMatch(new RegExp(`# own-${id}\\r?\\n *${line}`));
        if (hasTrailing) expect(made).toMatch(new RegExp(`${line}# trail-${id}\\r?\\n`));
      }
      expect(made.includes('\r')).toBe(style.crlf);
      expect(/[^\r]\n/.test(made)).toBe(!style.crlf);
    }),
    { numRuns: 100 },
  );
});
