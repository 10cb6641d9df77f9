import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../src/base/pauses.js';
import { composing } from '../../src/source/composed.js';
import { SourceFile } from '../../src/source/file.js';
import type { ParsedFile } from '../../src/source/parsed.js';
import { tapeOf } from '../../src/source/quick.js';
import { parseYaml } from '../../src/source/yaml.js';
import { often } from '../often.js';

/** All that is known of a text: its trees with their places, what is wrong, and its lines as they are shown. */
function known(text: string, parse: (file: SourceFile) => ParsedFile) {
  const file = new SourceFile({ file: 'x.yaml' }, text);
  const { documents, problems } = parse(file);
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index);
  const lines = starts.map((start) => file.place({ start, end: start + 1 }).text);
  return {
    documents: documents.map(({ root, start, broken }) => ({ root, start, broken })),
    problems,
    lines,
  };
}

/** Whether a text was taken apart quickly; where it was, that has to say what the parser's own nodes do. */
function compared(text: string): boolean {
  const isQuick = tapeOf(text) !== undefined;
  if (isQuick) expect(known(text, parseYaml)).toStrictEqual(known(text, (file) => atOnce(composing(file))));
  return isQuick;
}

const piece = fc.constantFrom(
  ...[
    'a',
    'b: ',
    'c:',
    ': ',
    ':',
    '- ',
    '-',
    '? ',
    '\n',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
    '\n---\n',
    '\n...\n',
    '---',
    ' ',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ', ',
    ',',
    ' # note',
    '#',
    '\t',
    '|\n',
    '>-\n',
    '|2\n',
    '"x"',
    "'y'",
    '"',
    "'",
    '"a\\n"',
    "'it''s'",
  ],
  ...[
    '&x ',
    '*x',
    '!!str ',
    '!t ',
    '%YAML 1.2\n',
    'null',
    '~',
    'true',
    'False',
    '12',
    '-0',
    '0x1f',
    '1e3',
    '.inf',
    '1.5',
    '07',
  ],
  ...[
    '<<: ',
    '__proto__: ',
    'password: ',
    'token=abc',
    'auth: ',
    'smtp_password hunter2',
    '${VAR}',
    '\r\n',
    '\uFEFF',
    '@',
    '`',
    '{{x}}',
  ],
);

const scalar = fc.oneof(
  fc.constantFrom(
    'a',
    'a b',
    '1',
    '1.50',
    'true',
    'null',
    '~',
    '',
    '"q"',
    '"q # r"',
    "'s'",
    "'it''s'",
    '"\\u00e9"',
    'x:y',
    '-1',
    'é',
  ),
  fc.constantFrom(
    'token abc',
    'password',
    '${HOST}',
    'http://u:p@h.example',
    '"a: b"',
    'a#b',
    '+',
    '-x',
    '.5',
    '10:20',
  ),
);
const name = fc.constantFrom(
  'kind',
  'id',
  'name',
  'label',
  'password',
  'auth',
  'b c',
  '"q"',
  "'s'",
  'é',
  'a-b',
  'smtp_password',
);
const flow: fc.Memo<string> = fc.memo((depth) =>
  depth <= 1
    ? scalar.filter((text) => !/[:]$/.test(text))
    : fc.oneof(
        scalar,
        fc
          .array(flow(depth - 1), { maxLength: 3 })
          .map((items) => `[${items.filter((item) => item !== '').join(', ')}]`),
        fc
          .uniqueArray(name, { maxLength: 3 })
          .chain((names) =>
            fc
              .tuple(...names.map(() => flow(depth - 1)))
              .map((values) => `{${names.map((one, at) => `${one}: ${values[at]}`).join(', ')}}`),
          ),
      ),
);
const note = fc.constantFrom('', '', '', ' # note', '  # password: x');
const gap = fc.constantFrom('', '', '', '\n', '# note\n', '\n  # further in\n');
const block: (depth: number, indent: string) => fc.Arbitrary<string> = (depth, indent) =>
  fc
    .uniqueArray(name, { minLength: 1, maxLength: 4 })
    .chain((names) => fc.tuple(...names.map((one) => member(one, depth, indent))))
    .map((members) => members.join(''));
const text = fc.constantFrom('|\n', '>\n', '|-\n', '>+\n', '|  # note\n');
const member = (one: string, depth: number, indent: string): fc.Arbitrary<string> => {
  const inner = `${indent}  `;
  const plain = fc.tuple(flow(2), note).map(([value, end]) => `${indent}${one}: ${value}${end}\n`);
  const told = text.map((head) => `${indent}${one}: ${head}${inner}first\n\n${inner}  second # no note\n`);
  if (depth === 0) return fc.oneof(plain, told);
  const list = (at: string) =>
    fc
      .array(
        fc.oneof(
          flow(2).map((value) => `${at}- ${value}\n`),
          block(depth - 1, `${at}  `).map((below) => `${at}- ${below.trimStart()}`),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((items) => `${indent}${one}:\n${items.join('')}`);
  return fc
    .tuple(
      gap,
      fc.oneof(
        { weight: 4, arbitrary: plain },
        told,
        block(depth - 1, inner).map((below) => `${indent}${one}:\n${below}`),
        list(indent),
        list(inner),
      ),
    )
    .map(([before, rest]) => before + rest);
};

describe('YAML taken apart quickly', () => {
  it('says of every manifest here what the parser says', () => {
    const files = globSync(
      ['examples/**/*.{yml,yaml}', 'test/projects/**/*.{yml,yaml}', '.github/**/*.yml'],
      { dot: true },
    );
    const quick = files.filter((file) => compared(readFileSync(file, 'utf8')));
    expect(quick.length).toBeGreaterThan(files.length / 2);
  });

  it.each([
    ['an anchor', 'a: &x 1\nb: *x\n'],
    ['a tag', 'a: !!str 1\n'],
    ['a directive', '%YAML 1.2\n---\na: 1\n'],
    ['an end of a document', 'a: 1\n...\n'],
    ['a tab', 'a:\t1\n'],
    ['a key of lines', '? a\n: 1\n'],
    ['a key that is no text', '1: a\n'],
    ['a key that is there twice', 'a: 1\na: 2\n'],
    ['a key that is not closed', '{a: 1\n'],
    ['braces', 'a: {{x}}\n'],
    ['a list at the top', '- a\n'],
    ['a mistake', 'a: b: c\n'],
    ['a key that is far from its colon', `a${' '.repeat(1100)}: 1\n`],
    ['a value that is no number', 'a: .inf\n'],
  ])('leaves %s to the parser', (_, written) => {
    expect(known(written, parseYaml)).toStrictEqual(known(written, (file) => atOnce(composing(file))));
  });

  it('says of documents what the parser says', () => {
    let quick = 0;
    let all = 0;
    fc.assert(
      fc.property(
        fc.array(block(2, ''), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '---\n', '# note\n---\n'),
        (documents, first) => {
          all += 1;
          if (compared(first + documents.join('---\n'))) quick += 1;
        },
      ),
      { numRuns: often(300) },
    );
    // About a half of them are plain: so few as a tenth never are by chance.
    expect(quick).toBeGreaterThan(all / 10);
  });

  it('says of whatever is written what the parser says', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        compared(pieces.join(''));
      }),
      { numRuns: often(1000) },
    );
  });

  it('says of documents with something strange in them what the parser says', () => {
    fc.assert(
      fc.property(block(1, ''), fc.nat(), piece, fc.nat(3), (document, at, strange, gone) => {
        const index = at % (document.length + 1);
        compared(document.slice(0, index) + strange + document.slice(index + gone));
      }),
      { numRuns: often(1000) },
    );
  });
});
