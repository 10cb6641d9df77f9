import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { problemCodes } from '../../src/base/problem-codes.js';
import { error, type Place, warning } from '../../src/base/problems.js';
import { problemsText } from '../../src/report/problems.js';
import { hostileText, marker } from './hostile.js';

function placeOf(parts: Partial<Place> = {}): Place {
  return { file: 'a.yaml', line: 4, column: 1, length: 1, ...parts };
}

function snippetOf(parts: Partial<Place>): string[] {
  const lines = problemsText([error('internal', 'y', [placeOf(parts)])], { color: false }).split('\n');
  return lines.slice(3, 5).map((line) => line.slice(5));
}

describe('the text of problems', () => {
  it('is empty if there are none', () => {
    expect(problemsText([], { color: false })).toBe('');
  });

  it('shows the place, the line and a caret', () => {
    const problem = error('unknown-field', 'unknown field "lable" in Organization, did you mean "label"?', [
      placeOf({ file: 'manifests/organizations.yaml', length: 5, text: 'lable: ACME Corporation' }),
    ]);
    expect(problemsText([problem], { color: false })).toBe(
      `error[unknown-field]: unknown field "lable" in Organization, did you mean "label"?
  --> manifests/organizations.yaml:4:1
   |
 4 | lable: ACME Corporation
   | ^^^^^

1 error
`,
    );
  });

  it.each([
    'x: [##[error]pwn',
    'x: [##vso[task.setvariable variable=x]y',
    "x: [##teamcity[message text='y']",
  ])('removes commands to a CI system from a source line: %s', (text) => {
    expect(snippetOf({ text })[0]).toBe(text.replace('##', '\\u0023#'));
  });

  it('has a block for each place, with one gutter, and counts by severity', () => {
    const declared = { text: 'kind: Organization', length: 4 };
    const twice = [placeOf(declared), placeOf({ ...declared, file: 'b.yaml', line: 120 })];
    const problems = [
      error('duplicate-object', 'Organization/acme is declared twice', twice, 'remove one of the two'),
      error('no-match', 'something general'),
      warning('body-unreadable', 'no line is known', [placeOf()]),
    ];
    expect(problemsText(problems, { color: false })).toBe(
      `error[duplicate-object]: Organization/acme is declared twice
    --> a.yaml:4:1
     |
   4 | kind: Organization
     | ^^^^
    --> b.yaml:120:1
     |
 120 | kind: Organization
     | ^^^^
     = help: remove one of the two

error[no-match]: something general

warning[body-unreadable]: no line is known
  --> a.yaml:4:1

2 errors, 1 warning
`,
    );
  });

  it('colours by severity', () => {
    const text = problemsText([error('internal', 'b'), warning('no-list', 'd')], { color: true });
    expect(text).toContain('\u001b[31merror[internal]');
    expect(text).toContain('\u001b[33mwarning[no-list]');
  });

  it('marks further lines of a message', () => {
    expect(problemsText([error('internal', 'one\n::error::two', [], 'x\ny')], { color: false })).toBe(
      'error[internal]: one\n   | ::error::two\n   = help: x\n   | y\n\n1 error\n',
    );
  });
});

describe('the caret', () => {
  it.each<[string, Partial<Place>, string[]]>([
    ['a tab', { text: '\tid: 1', column: 2, length: 2 }, ['  id: 1', '  ^^']],
    ['wide characters', { text: '東京: x', column: 5, length: 1 }, ['東京: x', '      ^']],
    ['a wide character itself', { text: 'a 東', column: 3, length: 1 }, ['a 東', '  ^^']],
    ['an escaped character', { text: '\u202ex', column: 2, length: 1 }, ['\\u202ex', '      ^']],
    ['half a surrogate pair', { text: '🎉x', column: 2, length: 1 }, ['🎉x', '^^']],
    ['the end of the line', { text: 'abc', column: 4, length: 1 }, ['abc', '   ^']],
    ['far behind the end', { text: 'abc', column: 90, length: 9 }, ['abc', '   ^']],
    ['more than the line', { text: 'abc', column: 2, length: 99 }, ['abc', ' ^^']],
    ['an empty line', { text: '', column: 1, length: 0 }, ['', '^']],
    ['a line with its line ending', { text: 'ab\r\n', column: 2, length: 1 }, ['ab', ' ^']],
  ])('is under %s', (_, place, shown) => {
    expect(snippetOf(place)).toEqual(shown);
  });

  it('stays visible in a line that is cut around it', () => {
    for (const [column, length] of [
      [1, 3],
      [100, 3],
      [300, 3],
      [295, 200],
    ] as const) {
      const text = `${'a'.repeat(99)}BBB${'c'.repeat(198)}`;
      const [source = '', caret = ''] = snippetOf({ text, column, length });
      expect(source.length).toBeLessThanOrEqual(75);
      expect(source.length).toBeGreaterThan(70);
      const under = source.slice(caret.indexOf('^'), caret.length);
      expect(under.replace('…', '')).toBe(text.slice(column - 1).slice(0, under.replace('…', '').length));
      expect(caret.length).toBeLessThanOrEqual(source.length);
    }
  });
});

it('a line of megabytes is cut around its caret', () => {
  const far = 5_000_000;
  const line = `${'a'.repeat(far)}BBB${'c'.repeat(far)}`;
  const place = placeOf({ line: 1, column: far + 1, length: 3, text: line });
  const text = problemsText([error('wrong-value', 'no', [place])], { color: false });
  expect(text).toMatch(/^ 1 \| …a+BBBc+…$/m);
  expect(text.length).toBeLessThan(500);
});

describe('hostile text', () => {
  it('forges nothing', () => {
    const [line, column] = [fc.integer({ min: 1, max: 100000 }), fc.integer({ min: 1, max: 200 })];
    const place = fc.record({ file: hostileText, line, column, length: fc.nat(200), text: hostileText });
    const problem = fc.record({
      code: fc.constantFrom(...problemCodes),
      severity: fc.constantFrom('error', 'warning'),
      message: hostileText,
      hint: hostileText,
      places: fc.array(place, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(problem, { maxLength: 3 }), (problems) => {
        const text = problemsText(problems, { color: false });
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
        for (const line of text.split('\n')) {
          expect(line).toMatch(/^(|(error|warning)\[.*| .*|\d+ (error|warning).*)$/u);
          expect(line.trimStart()).not.toMatch(/^::/);
          expect(line.startsWith(marker)).toBe(false);
        }
      }),
    );
  });
});
