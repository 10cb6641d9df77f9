import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../src/plan/plan.js';
import { compareBodies } from '../../src/report/bodies.js';
import { planText } from '../../src/report/text.js';
import { inlinePair } from '../../src/report/values.js';
import { changeOf, fieldOf, planOf } from './plans.js';

function textOf(parts: Partial<FieldChange>): string {
  return planText(planOf([changeOf({ fields: [fieldOf(parts)] })]), { color: false, debug: false });
}

describe('bodies that differ', () => {
  const megabyte = (word: string) =>
    [...Array(20_000).keys()]
      .map((index) => `line ${index} of the ${word} text, so long that it counts\n`)
      .join('');

  it('completely, at a megabyte, are shown with all their lines', () => {
    const [before, after] = [megabyte('old'), megabyte('new')];
    const text = textOf({ path: 'html_content', type: 'body', before, after });
    const marked = (mark: string, body: string) =>
      body
        .trim()
        .split('\n')
        .map((line) => mark + line);
    const lines = [...marked('-', before), ...marked('+', after)];
    for (const line of lines.filter((_, index) => index % 97 === 0)) expect(text).toContain(line);
    expect(text).toContain('@@ -1,20000 +1,20000 @@');
  });

  it('in more lines than the diff algorithm handles show all lines from the first to the last difference', () => {
    const lines = megabyte('old').trim().split('\n');
    const after = [...lines.slice(0, 10), ...lines.slice(10, -5).reverse(), ...lines.slice(-5)];
    const { hunks } = compareBodies(lines.join('\n'), after.join('\n'));
    expect(hunks).toMatchObject([{ oldStart: 11, oldLines: lines.length - 15, newStart: 11 }]);
    expect(hunks[0]?.lines).toEqual([
      ...lines.slice(10, -5).map((line) => `-${line}`),
      ...after.slice(10, -5).map((line) => `+${line}`),
    ]);
  });

  it('in half a million similar lines are shown without computing the shortest diff', () => {
    const lines = 'a\n'.repeat(250_000);
    const { hunks } = compareBodies(`${lines}${'b\n'.repeat(900)}`, `${'b\n'.repeat(900)}${lines}`);
    expect(hunks).toMatchObject([{ oldLines: 250_900, newLines: 250_900 }]);
  });

  it('only in their Unicode normal form are described in words', () => {
    const notes = ['the same text in another Unicode normal form'];
    expect(compareBodies('cafe\u0301\n', 'caf\u00e9\n')).toEqual({ notes, hunks: [] });
  });
});

describe('values that differ only in their Unicode normal form', () => {
  it('are described in words', () => {
    expect(inlinePair('Ame\u0301lie', 'Am\u00e9lie', false)).toEqual({
      before: '"Ame\u0301lie"',
      after: '"Am\u00e9lie" (the same text in another Unicode normal form)',
    });
  });
});

describe('the width of the text', () => {
  it("is at most 80 columns for idops's own words", () => {
    const sentence = 'what idops says of the server and of the organizations is as long as this, and more';
    const change = changeOf({
      action: 'blocked',
      reason: sentence,
      destructions: [sentence],
      warnings: [{ code: 'unknown-set', message: sentence }],
      fields: [fieldOf({ before: 'x'.repeat(20), after: 'y'.repeat(20) })],
    });
    const text = planText(planOf([change]), { color: false, debug: false });
    // The last line, which summarizes the rest, is never wrapped.
    const lines = text.trimEnd().split('\n').slice(0, -1);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });
});
