import { describe, expect, test, vi } from 'vitest';
import { parseYaml } from '../../src/yaml/parse.js';
import { SourceFile } from '../../src/yaml/source-file.js';

function problemsOf(text: string) {
  return parseYaml(new SourceFile({ file: 'x.yaml' }, text)).problems;
}

describe('a syntax error of YAML', () => {
  test.each([
    ['kind: U\n\tid: x\n', '2:1', 'a line is indented with a tab', 'indent it with spaces'],
    ['text: |\n\thello\n', '2:1', 'a line is indented with a tab', 'indent it with spaces'],
    ['kind: O\nname:acme\n', '2:1', 'a space is missing after the colon', '"key: value"'],
    ['kind: O\nname:acme\nlabel: x\n', '2:1', 'a space is missing after the colon', '"key: value"'],
    ['kind: O\nname: "acme\nlabel: x\n', '2:7', 'the quote that opens here is never closed', 'write "'],
    ['kind: O\nname: "acme\nlabel: "x"\n', '2:7', 'the quote that opens here is never closed', 'write "'],
    ["kind: O\nname: 'it''s\nlabel: x\n", '2:7', 'the quote that opens here is never closed', "write '"],
    ['name: "a\\"\n', '1:7', 'the quote that opens here is never closed', 'write "'],
    ['kind: O\nname: "acme"\n label: x\n', '3:1', 'wrong indentation', 'like the keys'],
    ['kind: U\norganizations: [a, b\nx: y\n', '3:1', 'an unclosed bracket above', 'like the keys'],
    ['kind: O\nname: acme\n label: x\n', '2:7', 'unexpected key', 'indent keys and items equally'],
    ['kind: O\nlabel: a: b\n', '2:8', 'unexpected key', 'quotes around a value that contains ": "'],
    ['kind: O\nname: @acme\n', '2:7', 'begin with "@"', 'put quotes around the value'],
    ['kind: O\nname: %acme\n', '2:7', 'begin with "%"', 'put quotes around the value'],
    ['%kind: O\nname: x\n', '1:1', 'begin with "%"', 'put quotes around the key'],
    ['kind: O\nname: *bold* text\n', '2:14', 'begin with "*"', 'put quotes around the value'],
    ['kind: O\nname: {{ name }} there\n', '2:18', 'begin with "{{"', 'put quotes around the value'],
    ['- kind: O\n  name: x\nkind: U\nid: x\n\n# more\ngroup: y\n', '3:1', 'unexpected text', 'indent keys'],
    ['kind: O\ntext: |\nhello\nthere\n', '3:1', 'expected "key: value"', 'more than its key'],
  ])('is reported once, with a hint: %j', (text, place, message, hint) => {
    const found = problemsOf(text).map(({ places: [at], ...said }) => ({
      ...said,
      at: `${at?.line}:${at?.column}`,
    }));
    expect(found).toEqual([
      expect.objectContaining({
        code: 'yaml-syntax',
        at: place,
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }),
    ]);
  });

  test('two mistakes on different lines are both reported', () => {
    const found = problemsOf('kind: O\nname: @a\nlabel: x\nnote: a: b\n');
    expect(found.map(({ places: [at] }) => at?.line)).toEqual([2, 4]);
  });

  test('shows no secret', () => {
    const texts = [
      'smtp_password: abc\n  hunter2: x\n',
      'smtp_password: hunter2: x\n',
      'smtp_password: "abc\n  hunter2: x\n',
      'smtp_password: @hunter2\n',
      'smtp_password:\n  hunter2:x\n  a: b\n',
      'smtp_password: [hunter2\nb: c\n',
      'smtp_password: "a" hunter2\n',
      'smtp_password: ${hunter2\n',
    ];
    for (const text of texts) {
      const found = problemsOf(text);
      expect(JSON.stringify(found)).not.toContain('hunter2');
    }
  });

  test("many of them don't take quadratic time", () => {
    const many = 2_000;
    const split = vi.spyOn(String.prototype, 'split');
    const wholes = () => split.mock.contexts.filter((text) => String(text).length > many).length;
    for (const slip of [
      'a: b: c\n',
      'a: [\n---\n',
      '%a: b\n---\n',
      'a:\n  - b\n - c\n---\n',
      'a: "\n---\n',
      '[a: b c: d],\n',
    ])
      expect(problemsOf(slip.repeat(many)).length).toBeGreaterThan(0);
    expect(problemsOf(`[${',a b: c'.repeat(many)}]`).length).toBeGreaterThan(0);
    expect(problemsOf(`a: b\n${'  # c\n'.repeat(many)}  d: e\n`).length).toBeGreaterThan(0);
    expect(wholes()).toBeLessThan(30);
    split.mockRestore();
  });
});
