import { describe, expect, test } from 'vitest';
import { SourceFile } from '../../src/source/file.js';
import { parseYaml } from '../../src/source/yaml.js';

function problemsOf(text: string) {
  return parseYaml(new SourceFile({ file: 'x.yaml' }, text)).problems;
}

describe('a slip in YAML is told once, in plain words, where it was made', () => {
  test.each([
    [
      'kind: O\nname: acme\n label: x\n',
      '3:2',
      '"label" is indented below "name", which has a value already',
    ],
    ['kind: O\nname: "acme"\n label: x\n', '3:2', 'this line is indented otherwise than the keys beside it'],
    ['kind: O\nname:\n  acme\n label: x\n', '3:3', 'this line is no "key: value", and the one after it is'],
    ['kind: O\n name: acme\nlabel: x\n', '2:2', '"name" is indented below "kind", which has a value already'],
    [' kind: O\nname: acme\n', '2:1', 'this line is indented so that it belongs to none of the lines above'],
    [
      '  kind: O\n name: acme\n',
      '2:2',
      'this line is indented so that it belongs to none of the lines above',
    ],
    [
      'kind: U\norganizations:\n  - id: x\n     roles: []\n',
      '4:6',
      '"roles" is indented below "id", which has a value already',
    ],
    [
      'kind: U\norganizations:\n  - id: x\n   roles: []\n',
      '4:4',
      'this line is no item of the list above, and is not indented like the keys of its last item',
    ],
    [
      'kind: U\norganizations:\n  - id: x\n  roles: []\n',
      '4:3',
      'this line is indented otherwise than the keys beside it',
    ],
    ['kind: U\norganizations:\n  - a\n - b\n', '4:2', 'the items of a list have to begin in the same column'],
    ['kind: U\norganizations: - a\n', '2:16', "a list can't begin on the line of its key"],
    ['kind: U\norganizations: - a\n  - b\n', '2:16', "a list can't begin on the line of its key"],
    [
      'kind: U\nmetadata:\n  department:\n    value: x\n   status: y\n',
      '5:4',
      'this line is indented otherwise than the keys beside it',
    ],
    [
      'kind: U\nmetadata: department\n  value: x\n',
      '3:3',
      '"value" is indented below "metadata", which has a value already',
    ],
    ['kind: U\nmetadata:\n  a: 1\n   b: 2\n', '4:4', '"b" is indented below "a", which has a value already'],
    ['kind: O\nlabel: a: b\n', '2:8', 'a value without quotes holds a colon with a space after it'],
    [
      'kind: O\nlabel: Note: this is: x\nname: y\n',
      '2:8',
      'a value without quotes holds a colon with a space after it',
    ],
    ['kind: O\nlabel: a: b: c\n', '2:8', 'a value without quotes holds a colon with a space after it'],
    ['kind: O\nname: "acme\nlabel: x\n', '2:7', 'the quote that opens here is never closed'],
    ['kind: O\nname: "acme\nlabel: "x"\n', '2:7', 'the quote that opens here is never closed'],
    ["kind: O\nname: 'acme\nlabel: 'x'\n", '2:7', 'the quote that opens here is never closed'],
    ['kind: O\nlabel: "say "hi" now"\n', '2:14', 'something stands behind the quote that closes the value'],
    ["kind: O\nlabel: 'it's me'\n", '2:12', 'something stands behind the quote that closes the value'],
    ['kind: O\nlabel: "x" y\n', '2:12', 'something stands behind the quote that closes the value'],
    [
      'kind: O\nlabel: "C:\\path"\n',
      '2:11',
      'in double quotes a backslash begins an escape, and there is none of this name',
    ],
    ['kind: U\n\tid: x\n', '2:1', 'a line is indented with a tab, which YAML does not allow'],
    [
      'kind: U\nid: x\norganizations:\n\t- a\n',
      '4:1',
      'a line is indented with a tab, which YAML does not allow',
    ],
    [
      'kind: U\nmetadata:\n  a:\n\t  b: 1\n',
      '4:1',
      'a line is indented with a tab, which YAML does not allow',
    ],
    ['kind: U\norganizations: [a, b\nblocked: true\n', '2:16', 'the "[" that opens here is not closed'],
    ['kind: U\norganizations: [a, b\n', '2:16', 'the "[" that opens here is not closed'],
    ['kind: U\norganizations: [\n  a,\n  b\n]\nx: {a: b\n', '6:4', 'the "{" that opens here is not closed'],
    ['kind: U\norganizations: [\na,\nb\n]\n', '2:16', 'the "[" that opens here is not closed'],
    ['kind: U\norganizations: {id: x\nblocked: true\n', '2:16', 'the "{" that opens here is not closed'],
    ['kind: U\norganizations: [a]]\n', '2:19', 'this "]" closes nothing'],
    ['kind: U\norganizations: {a: b}}\n', '2:22', 'this "}" closes nothing'],
    ['kind: U\norganizations: [a,, b]\n', '2:19', 'nothing stands before this comma'],
    [
      'kind: U\nx: {id: x name: y}\n',
      '2:9',
      'a comma is missing between the members in brackets, or quotes around a value with a colon',
    ],
    ['kind: U\nx: {"id":"x" "name":"y"}\n', '2:14', 'a comma is missing before this'],
    ['kind: O\nname: %acme\n', '2:7', 'a text without quotes can\'t begin with "%"'],
    ['kind: O\nname: @acme\n', '2:7', 'a text without quotes can\'t begin with "@"'],
    ['kind: O\nname: `acme`\n', '2:7', 'a text without quotes can\'t begin with "`"'],
    ['%kind: O\nname: x\n', '1:1', 'a line can\'t begin with "%", but for a directive of YAML'],
    ['@kind: O\n', '1:1', 'a text without quotes can\'t begin with "@"'],
    ['kind: O\nname acme\n', '2:1', 'this line is no "key: value"'],
    ['kind: O\nname:acme\n', '2:1', 'a space is missing behind the colon'],
    ['kind: O\nname acme\nlabel: x\n', '2:1', 'this line is no "key: value", and the one after it is'],
    ['kind: O\nname:acme\nlabel: x\n', '2:1', 'a space is missing behind the colon'],
    ['{"kind": "O", "name": "x"\n', '1:1', 'the "{" that opens here is not closed'],
    ['{"kind": "O" "name": "x"}\n', '1:14', 'a comma is missing before this'],
    ['kind: O\nname: {{name}}\n', '2:7', 'a text without quotes can\'t begin with "{{"'],
    ['kind: O\nname: {{ name }}\n', '2:7', 'a text without quotes can\'t begin with "{{"'],
    ['kind: O\nname: ${NAME}\nlist: [${A}, b]\n', '3:8', 'a variable inside {} or [] has no quotes'],
    ['kind: O\nmap: {a: ${A}}\n', '2:10', 'a variable inside {} or [] has no quotes'],
    [
      'kind: O\nname: | text\n  more\n',
      '2:7',
      'a text that begins with "|" starts on the next line, and something stands behind the mark',
    ],
    ['kind: O\nname: |\nmore\n', '3:1', 'the text that "|" announces on the line above is not indented'],
    [
      'kind: O\nname: |\nhello\nthere\n',
      '3:1',
      'the text that "|" announces on the line above is not indented',
    ],
    [
      'kind: O\nname: >-\nhello\n\nthere you\nlabel: x\n',
      '3:1',
      'the text that ">" announces on the line above is not indented',
    ],
    [
      'kind: O\nname: |  # text\n\n- one\n',
      '4:1',
      'the text that "|" announces on the line above is not indented',
    ],
    [
      'kind: O\nname: |\n*bold*\nlabel: x\n',
      '3:1',
      'the text that "|" announces on the line above is not indented',
    ],
    ['kind: O\nname: |\n@all\n', '3:1', 'the text that "|" announces on the line above is not indented'],
    [
      'a:\n  name: |\n  more\n  b: c\n',
      '3:3',
      'the text that "|" announces on the line above is not indented',
    ],
    [
      'kind: O\ntext: |\n  ok\nhello\nthere {{x}}\n',
      '4:1',
      'this line is no "key: value", and not indented as the text that "|" announces above',
    ],
    [
      'kind: O\ntext: >\n  ok\n\nhello\nlabel: x\n',
      '5:1',
      'this line is no "key: value", and not indented as the text that ">" announces above',
    ],
    ['kind: O\ntext: |\n  ok\nname:acme\nlabel: x\n', '4:1', 'a space is missing behind the colon'],
    ['kind: O\ntext: |\n  ok\n- a\n', '4:1', 'an item of a list ("- ") stands where a key is due'],
    [
      'kind: O\ntext: |2-\n hello\n',
      '3:2',
      'the text that "|" announces on the line above is not indented so far',
    ],
    ['kind: O\nname: |\nlabel: a: b\n', '3:8', 'a value without quotes holds a colon with a space after it'],
    ['a:\n  - b: |\n  - "c\n', '3:5', 'the quote that opens here is never closed'],
    [
      'kind: O\nname: >x\n  more\n',
      '2:7',
      'a text that begins with ">" starts on the next line, and something stands behind the mark',
    ],
    ['kind: O\nname: "x"#comment\n', '2:10', 'a space is missing before the "#" of a comment'],
    ['--- kind: O\nname: x\n', '1:5', 'a key can\'t stand on the line of "---"'],
    ['kind: O\n--\nkind: U\n', '2:1', 'this line is no YAML'],
    ['kind: O\n----\nkind: U\n', '2:1', 'this line is no YAML'],
    ['kind: O\n===\nkind: U\n', '2:1', 'this line is no YAML'],
    [
      'kind: O\nname: x\n<<<<<<< HEAD\nlabel: a\n=======\nlabel: b\n>>>>>>> branch\n',
      '3:1',
      'a merge conflict is not resolved: git left its marks here',
    ],
    ['kind: O\n- name: x\n', '2:1', 'an item of a list ("- ") stands where a key is due'],
    [
      '- kind: O\n  name: x\nkind: U\n',
      '3:1',
      'this line is indented so that it belongs to none of the lines above',
    ],
    ['kind: O\nname: - x\n', '2:7', "a list can't begin on the line of its key"],
    ['kind: O\nname: ? x\n', '2:7', 'a value without quotes can\'t begin with "? "'],
    ['kind: O\nname: ,x\n', '2:7', 'a text without quotes can\'t begin with ","'],
    ['kind: O\nname: ]x\n', '2:7', 'this "]" closes nothing'],
    [
      'kind: O\nname: |2x\n',
      '2:7',
      'a text that begins with "|" starts on the next line, and something stands behind the mark',
    ],
    ['kind: O\n  name: x\n  label: y\n', '2:3', '"name" is indented below "kind", which has a value already'],
    ['kind:\n  O\n  name: x\n', '2:3', 'this line is no "key: value", and the one after it is'],
    [
      'kind: O\nname: "a\\qb"\n',
      '2:9',
      'in double quotes a backslash begins an escape, and there is none of this name',
    ],
    [
      'kind: O\nname: a\n\n\n   label: b\n',
      '5:4',
      '"label" is indented below "name", which has a value already',
    ],
    [
      'kind: EmailTemplate\ntxt_content: Hello {{user}},\n  reset here: http://x\n',
      '3:3',
      '"reset here" is indented below "txt_content", which has a value already',
    ],
    [
      'kind: EmailTemplate\ntxt_content: Hello,\n\n  Note: x\nhtml_content: y\n',
      '4:3',
      '"Note" is indented below "txt_content", which has a value already',
    ],
  ])('%j', (text, place, message) => {
    expect(
      problemsOf(text).map(({ code, places: [at], ...said }) => [
        code,
        `${at?.line}:${at?.column}`,
        said.message,
      ]),
    ).toEqual([['yaml-syntax', place, message]]);
  });

  test('two mistakes that have nothing to do with each other are both told', () => {
    const found = problemsOf('kind: O\nname: @a\nlabel: x\nnote: a: b\n');
    expect(found.map(({ places: [at] }) => at?.line)).toEqual([2, 4]);
  });

  test('the key that is told is the one that was written', () => {
    expect(problemsOf('label: a: b\n')[0]?.hint).toBe('put quotes around the value: label: "…"');
    expect(problemsOf('a: 1\nname:acme\n')[0]?.hint).toBe('write it as "name: …"');
    expect(problemsOf('a: "x\nb: [\n')[0]?.hint).toBe('write " where the value ends');
    expect(problemsOf("a: 'x\n")[0]?.hint).toBe("write ' where the value ends");
  });

  test('nothing of a secret is told', () => {
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

  test('many slips take no quadratic time', () => {
    const many = 2_000;
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
  });
});
