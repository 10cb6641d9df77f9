import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../src/base/escape.js';
import { error } from '../../src/base/problems.js';
import { fold, foldText } from '../../src/report/fold.js';
import { problemsText } from '../../src/report/problems.js';
import { resultText } from '../../src/report/result-text.js';
import { planText } from '../../src/report/text.js';
import { wrap } from '../../src/report/words.js';
import { hostilePlan } from './hostile-plans.js';
import { changeOf, fieldOf, planOf } from './plans.js';

/** Lines that are wider than the terminal though a space in them could have been a break. */
function tooWide(text: string, columns: number): string[] {
  return text.split('\n').filter((line) => displayWidth(line) > columns && line.trim().includes(' '));
}

describe('a line', () => {
  it('is folded between words, below its own beginning, and stays as it is where no terminal is known', () => {
    const parts = [{ text: '  one two ' }, { text: 'three four' }];
    expect(fold(parts, 4, 12)).toBe('  one two\n    three\n    four');
    expect(fold(parts, 4, undefined)).toBe('  one two three four');
  });

  it('counts wide characters as a terminal does, and never breaks a word', () => {
    expect(fold([{ text: '東京 東京 👍👍 x' }], 2, 9)).toBe('東京 東京\n  👍👍 x');
    const digest = `sha256:${'0'.repeat(64)}`;
    expect(fold([{ text: `the digest ${digest} is` }], 2, 20)).toBe(`the digest\n  ${digest}\n  is`);
  });

  it('keeps each colour to its own part, over a break too', () => {
    const tint = (text: string): string => `<${text}>`;
    expect(fold([{ text: 'a ' }, { text: 'b c', tint }], 0, 3)).toBe('a <b>\n<c>');
  });

  it('never begins with what a CI log takes for a command', () => {
    expect(fold([{ text: 'word ' }, { text: ':', tint: String }, { text: ':error::x' }], 2, 8)).toBe(
      'word\n  \\u003a:error::x',
    );
  });
});

describe('a message', () => {
  it('keeps commands whole, so that they can be copied', () => {
    const command = `idops apply 'plans/of march.json' --config "x" --env 'it'\\''s'`;
    expect(foldText(`The plan is stored. To apply exactly it: ${command}`, 30)).toBe(
      `The plan is stored. To apply\n  exactly it:\n  ${command}`,
    );
    expect(foldText('To go on: idops apply plans anew, and sends what is left.', 26)).toBe(
      'To go on:\n  idops apply plans anew,\n  and sends what is left.',
    );
  });

  it('that has lines keeps them', () => {
    expect(foldText('one two\n  three four\n', 8)).toBe('one two\n  three\n    four\n');
  });
});

describe('problems', () => {
  const place = {
    file: 'manifests/a.yaml',
    line: 12,
    column: 40,
    length: 3,
    text: `${'k'.repeat(39)}abc: ${'v'.repeat(300)}`,
  };
  const problem = error(
    'unknown-field',
    'unknown field "lable" in Organization, did you mean "label"?\nand what the server said of it besides',
    [place],
    'write label, or run idops schema manifest to see all that there are',
  );

  it.each([20, 40, 300])('fit a terminal of %i columns', (columns) => {
    const text = problemsText([problem], { color: false, columns });
    const own = text.split('\n').filter((line) => !/^ +12 \||^ +\| +\^|-->/.test(line));
    expect(tooWide(own.join('\n'), columns).filter((line) => !line.includes('idops schema'))).toEqual([]);
    const source = text.split('\n').find((line) => line.startsWith(' 12 |')) ?? '';
    expect(displayWidth(source)).toBeLessThanOrEqual(columns);
    expect(text).toContain('idops schema manifest');
  });

  it('stay as they are where no terminal is known', () => {
    expect(problemsText([problem], { color: false })).toContain(
      'error[unknown-field]: unknown field "lable" in Organization, did you mean "label"?\n',
    );
  });
});

describe('a plan', () => {
  const plan = planOf(
    [
      changeOf({
        address: 'User/40000000-0000-4000-8000-000000000001',
        kind: 'User',
        label: 'ada@acme.example',
        declaredAt: { file: 'manifests/users.yaml', line: 2 },
        destructions: ['removes the role "accountant" within the membership "acme"'],
        fields: [
          fieldOf({
            path: 'organizations',
            type: 'set',
            before: [
              {
                id: '1',
                name: 'acme',
                roles: [
                  { id: '1', name: 'accountant' },
                  { id: '2', name: '会計' },
                ],
              },
            ],
            after: [{ id: '1', name: 'acme', roles: [] }],
          }),
        ],
        warnings: [{ code: 'by-server', message: 'nothing is sent for it: the server does it by itself' }],
      }),
    ],
    { requiredScopes: ['users:manage:all', 'identity-providers:manage:all'] },
  );

  it.each([20, 40, 140, 300])('fits a terminal of %i columns', (columns) => {
    const text = planText(plan, { color: false, debug: false, columns });
    // What stands by itself and may be copied isn't folded.
    const own = tooWide(text, columns).filter(
      (line) => !/^(?:~|Server:|Profile:|Digest:| {4}at) /.test(line),
    );
    expect(own).toEqual([]);
    expect(text).toMatch(/^~ update User\/40000000-0000-4000-8000-000000000001/m);
    const unfolded = text.replaceAll(/\s+/g, ' ');
    expect(unfolded).toBe(planText(plan, { color: false, debug: false }).replaceAll(/\s+/g, ' '));
    const lines = text.trimEnd().split('\n');
    if (columns === 300) expect(lines.at(-1)).toMatch(/^Plan: .*\(ada@acme\.example\)\.$/);
    if (columns === 140) expect(text).toContain('(ada@acme.example)  at manifests/users.yaml:2\n');
    if (columns === 40) expect(text).toContain('\n    at manifests/users.yaml:2\n');
  });

  it('says the same on a terminal of any width, whatever is in it', () => {
    fc.assert(
      fc.property(hostilePlan, fc.integer({ min: 20, max: 300 }), (hostile, columns) => {
        const text = planText(hostile, { color: false, debug: false, columns });
        for (const line of text.split('\n')) expect(line.trimStart().startsWith('::')).toBe(false);
        const words = (it: string) => it.replaceAll(/\s+/g, '').replaceAll('\\u003a', ':');
        expect(words(text)).toBe(words(planText(hostile, { color: false, debug: false })));
      }),
      { numRuns: 60 },
    );
  });

  it('has a result that fits as well', () => {
    const text = resultText(
      {
        run: 'r1',
        interrupted: true,
        results: [
          {
            address: 'Organization/acme',
            action: 'update',
            status: 'failed',
            httpStatus: 503,
            attempts: 4,
            unverified: ['label', 'name'],
            error: 'update an organization: the server is not available',
          },
        ],
      },
      { color: false, debug: false, columns: 24 },
    );
    expect(tooWide(text, 24)).toEqual([]);
    expect(text).not.toContain('0 failed');
  });
});

describe('prose', () => {
  it('breaks within what leads to it, where the terminal is that narrow', () => {
    expect(wrap('    not in the answer, so unverified: ', 'group, metadata', 20)).toEqual([
      '    not in the',
      '      answer, so',
      '      unverified:',
      '      group,',
      '      metadata',
    ]);
  });
});
