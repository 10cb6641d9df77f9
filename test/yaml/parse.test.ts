import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringifyJson } from '../../src/base/json.js';
import { parseYaml } from '../../src/yaml/parse.js';
import { resolve } from '../../src/yaml/resolve.js';
import { SourceFile } from '../../src/yaml/source-file.js';

function values(text: string) {
  const file = new SourceFile({ file: 'x.yaml' }, text);
  const { documents, problems } = parseYaml(file);
  return {
    values: documents.map(({ root }) => resolve(root, file, null).value),
    problems: problems.map(({ code, places }) => `${code} ${places[0]?.line}:${places[0]?.column}`),
  };
}

describe('YAML', () => {
  test('is 1.2: no yes and no, no dates, no octal with only a leading zero', () => {
    expect(values('[yes, no, on, 2001-01-01, 010, 0o10, true, null, ~, 1.5, "1"]')).toEqual({
      values: [['yes', 'no', 'on', '2001-01-01', 10, 8, true, null, null, 1.5, '1']],
      problems: [],
    });
  });

  test('that claims to be 1.1 is refused at that place, and other errors are reported too', () => {
    const [first, second] = ['%YAML 1.2\n---\na: 1\n...\n', '%YAML  1.1 # older\n---\nb: yes\n---\nc: [1\n'];
    expect(values(`${first}${second}`).problems).toEqual(['yaml-syntax 5:1', 'yaml-syntax 10:1']);
    expect(values('%YAML 1.1\n---\na: 010\n---\nc: no\n...\n%YAML 1.1\n---\nb: 2\n---\n').problems).toEqual([
      'yaml-syntax 1:1',
      'yaml-syntax 7:1',
    ]);
  });

  test.each([
    ['10.0', '10.0'],
    ['1234567890123456789', '1234567890123456789'],
    ['9007199254740993', '9007199254740993'],
    ['-0', '-0'],
    ['1e3', '1e3'],
    ['1E400', '1E400'],
    ['0.10', '0.10'],
    ['+1', '1'],
    ['+1.50', '1.50'],
    ['.5', '0.5'],
    ['-.50', '-0.50'],
    ['1.', '1'],
    ['1.e5', '1e5'],
    ['007', '7'],
    ['0x1F', '31'],
    ['0o17', '15'],
    ['0xFFFFFFFFFFFFFFFF', '18446744073709551615'],
  ])('the number %s is %s, with every digit', (written, json) => {
    const found = values(`a: ${written}\nb: [&x ${written}, *x] # a comment`);
    expect(found.problems).toEqual([]);
    expect(found.values.map((value) => stringifyJson(value))).toEqual([
      `{"a":${json},"b":[${json},${json}]}`,
    ]);
  });

  test("a text of digits isn't a number, and infinity is refused", () => {
    expect(values('[1_000, "10.0", 1.0.0, 0x, 1e, ., +]').values).toEqual([
      ['1_000', '10.0', '1.0.0', '0x', '1e', '.', '+'],
    ]);
    expect(values('[.inf, -.Inf, .nan]').problems).toEqual([
      'wrong-value 1:2',
      'wrong-value 1:8',
      'wrong-value 1:15',
    ]);
  });

  test.each([
    ['a: b\rc: d\n', '1:5'],
    ['a: |\r\n  b\rc\n', '2:4'],
    ['a: b\n# c\r', '2:4'],
    ['a: b\0\n', '1:5'],
    ['a: "b\\0"\n', '1:4'],
    ['? "a\\x00"\n: b\n', '1:3'],
  ])('NUL and a lone carriage return are refused at their place: %j', (text, place) => {
    expect(values(text).problems).toEqual([`bad-character ${place}`]);
  });

  test('an escaped carriage return stays', () => {
    expect(values('a: "b\\rc"\r\nd: e')).toEqual({ values: [{ a: 'b\rc', d: 'e' }], problems: [] });
  });

  test('aliases are their values', () => {
    expect(values('a: &x {b: [1]}\nc: *x\nd: [*x, *x]')).toEqual({
      values: [{ a: { b: [1] }, c: { b: [1] }, d: [{ b: [1] }, { b: [1] }] }],
      problems: [],
    });
    // A redefined anchor is valid from there on.
    expect(values('[&a 1, *a, &a 2, *a]').values).toEqual([[1, 1, 2, 2]]);
  });

  test('a deeply nested file is refused before it exhausts anything', () => {
    expect(values('['.repeat(1_000_000)).problems).toEqual(['too-deep 1:101']);
    expect(values('- '.repeat(1_000_000)).problems).toEqual([expect.stringMatching(/^too-deep 1:/)]);
    expect(values('{a: '.repeat(10_000)).problems).toEqual([expect.stringMatching(/^too-deep 1:/)]);
  });

  test('exploding aliases are refused once', () => {
    const lines = Array.from({ length: 30 }, (_, index) =>
      index === 0 ? '- &a0 [x, x]' : `- &a${index} [${`*a${index - 1}, `.repeat(9)}x]`,
    );
    expect(values(lines.join('\n')).problems).toEqual([expect.stringMatching(/^alias-explosion/)]);
  });

  test("a large map doesn't take quadratic time", () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `key${index}: ${index}`);
    expect(values(lines.join('\n')).problems).toEqual([]);
  });

  test('the errors of one place are not repeated for each word after it', () => {
    expect(values('a: {b: c\nd: ]\ne: f g: h\n').problems.length).toBeLessThan(4);
  });

  test('the other documents of a file with a broken one are kept', () => {
    expect(values('a: 1\n---\nb: @\n---\nc: 3\n')).toEqual({
      values: [{ a: 1 }, { c: 3 }],
      problems: ['yaml-syntax 3:4'],
    });
  });

  test('any JSON is read back', () => {
    const json = fc
      .jsonValue({ maxDepth: 5 })
      .filter((value) => !JSON.stringify(value).includes('__proto__'));
    fc.assert(
      fc.property(json, (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        const found = values(JSON.stringify(plain));
        expect(found).toEqual({ values: plain === null ? [] : [plain], problems: [] });
      }),
    );
  });

  test('any text gives problems and never an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        values(text);
      }),
    );
  });
});
