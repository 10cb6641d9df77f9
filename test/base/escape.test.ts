import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  displayWidth,
  escapeLines,
  escapeText,
  jsonText,
  quote,
  quoteIfNeeded,
  shellWord,
} from '../../src/base/escape.js';
import { hostileText } from '../report/hostile.js';

describe('escapeText', () => {
  it.each([
    ['\u001b[2J', '\\u001b[2J'],
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\u0000\u007f\u009b', '\\u0000\\u007f\\u009b'],
    ['\u202egnp.exe\u2066', '\\u202egnp.exe\\u2066'],
    ['a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['ac\u200bme\ufeff', 'ac\\u200bme\\ufeff'],
    ['\ud800', '\\ud800'],
    ['\u{e0041}', '\\u{e0041}'],
    ['a\u00a0b', 'a\\u00a0b'],
    ['\u3164', '\\u3164'],
  ])('shows %j as %s', (text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  it('leaves ordinary text unchanged', () => {
    for (const text of ['ACME Corp', 'Zoë', '日本 東京', 'шеф', '🎉 done', 'a\\b "c" #1 ##2 :: [x]']) {
      expect(escapeText(text)).toBe(text);
    }
  });

  it.each(['##[error]x', 'a ##vso[task.complete]', '##TeamCity[x]', '###[group]'])(
    'takes the force out of the log command %s',
    (text) => {
      expect(escapeText(text)).not.toMatch(/##(\[|vso\[|teamcity\[)/i);
    },
  );
});

describe('escapeLines', () => {
  it('keeps only line breaks', () => {
    expect(escapeLines('one\ntwo\u001b\r')).toBe('one\ntwo\\u001b\\r');
  });

  it('disarms workflow commands at the start of a line', () => {
    expect(escapeLines('x ::y\n  ::error::z\n::a')).toBe('x ::y\n  \\u003a:error::z\n\\u003a:a');
  });
});

describe('jsonText', () => {
  it('parses to the same value and contains nothing hostile', () => {
    fc.assert(
      fc.property(fc.dictionary(hostileText, hostileText), (value) => {
        const text = jsonText(value);
        expect(JSON.parse(text)).toEqual(value);
        expect(text.replaceAll('\n', '')).toBe(escapeText(text.replaceAll('\n', '')));
        for (const line of text.split('\n')) expect(line.trimStart()).not.toMatch(/^::/);
      }),
    );
  });
});

describe('names', () => {
  it('have no quotes if nothing in them misleads', () => {
    expect(quoteIfNeeded('Organization/acme-1_é')).toBe('Organization/acme-1_é');
    expect(quoteIfNeeded('acme (roles: admin)')).toBe('"acme (roles: admin)"');
    expect(quoteIfNeeded('')).toBe('""');
    expect(quoteIfNeeded('ac\u3164me')).toBe('"ac\\u3164me"');
    expect(quote('a "b"\n')).toBe('"a \\"b\\"\\n"');
  });

  it('have the width that a terminal gives them', () => {
    expect([displayWidth('abc'), displayWidth('日本'), displayWidth('e\u0301'), displayWidth('ｱ')]).toEqual([
      3, 4, 1, 1,
    ]);
  });
});

describe('a word for a shell', () => {
  it.each(['a/b.txt', ':/state.json'])('%s stays as it is', (word) => {
    expect(shellWord(word)).toBe(word);
  });

  it.each(["my key's.txt", '$(touch x)', '`a`', "a\nb\\'c\u001b[31m", '*', '~/a', '#a', '', 'ä'])(
    '%j is taken whole',
    (word) => {
      expect(execFileSync('bash', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
      expect(shellWord(word)).not.toMatch(/[\n\u001b]/);
    },
  );

  it("can't be an option", () => {
    expect(shellWord('-rf')).toBe('./-rf');
  });
});
