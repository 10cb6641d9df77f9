import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planHtml } from '../../src/report/html.js';
import { planText } from '../../src/report/text.js';
import { changedWords, type Span, shorten, textOf } from '../../src/report/values.js';
import { viewField } from '../../src/report/view.js';
import { hostileText } from './hostile.js';
import { changeOf, fieldOf, planOf } from './plans.js';

/** The text with the changed parts in brackets. */
function marked(spans: readonly Span[]): string {
  return spans.map(({ text, change }) => (change === null ? text : `[${text}]`)).join('');
}

function both(before: string, after: string): string[] {
  const words = changedWords(before, after);
  return [marked(words.before), marked(words.after)];
}

describe('the changed words within a line', () => {
  it.each([
    [
      'in the middle',
      'works for one hour:',
      'works for 30 minutes:',
      ['works for [one] [hour]:', 'works for [30] [minutes]:'],
    ],
    ['that come', 'Hello Ada', 'Hello dear Ada', ['Hello Ada', 'Hello [dear ]Ada']],
    ['in several places', 'a b c d e', 'a x c y e', ['a [b] c [d] e', 'a [x] c [y] e']],
    ['a character of two halves, whole', 'hi 😀!', 'hi 😁!', ['hi [😀]!', 'hi [😁]!']],
  ])('are marked: %s', (_, before, after, expected) => {
    expect(both(before, after)).toEqual(expected);
  });

  it('leave both lines unchanged, whatever they contain', () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (start, one, other) => {
        const [before, after] = [`${start}${one}`, `${start}${other}`];
        const words = changedWords(before, after);
        expect([textOf(words.before), textOf(words.after)]).toEqual([before, after]);
      }),
    );
  });

  it('span from the first to the last in a line of a megabyte', () => {
    const words = (n: number) => `${'word '.repeat(100_000)}`.replaceAll('word', `w${n}`);
    const [before, after] = [`<p>${words(1)}</p>`, `<p>${words(2)}</p>`];
    expect(changedWords(before, after).before).toHaveLength(3);
    const one = `${'word '.repeat(200_000)}`;
    expect(marked(changedWords(`${one}old ${one}`, `${one}new ${one}`).after).match(/\[.*\]/)?.[0]).toBe(
      '[new]',
    );
  });
});

describe('a long text', () => {
  it('is cut only between its differences', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 6 }), (texts) => {
        const spans = texts.map((text, at): Span => ({ text, change: at % 2 === 0 ? null : '+' }));
        const shown = shorten(spans);
        for (const span of spans) if (span.change !== null) expect(shown).toContain(span);
        const kept = spans.filter(({ text, change }) => change === null && text.length <= 80);
        for (const span of kept) expect(shown).toContain(span);
        expect(textOf(shown).length).toBeLessThanOrEqual(textOf(spans).length + 30);
      }),
    );
    const alike = 'a'.repeat(100);
    const cut = `${'a'.repeat(40)}…${'a'.repeat(40)}`;
    const text = (word: string) => `${alike}${word}${alike}${word}${alike}`;
    expect(textOf(shorten(changedWords(text('x'), text('y')).after))).toBe(
      `${cut}y${alike}y${cut} (302 characters)`,
    );
  });
});

describe('a body', () => {
  const body = fieldOf({
    path: 'txt_content',
    type: 'body',
    before: 'Hello,\nthe link works for one hour:\nbye\n',
    after: 'Hello,\nthe link works for 30 minutes:\nbye\n',
  });
  const plan = planOf([changeOf({ fields: [body] })]);

  it('shows them inverse on a terminal with colours, and unmarked without', () => {
    const [on, off] = ['\u001b[7m', '\u001b[27m'];
    const colored = planText(plan, { color: true, debug: false });
    expect(colored).toContain(`│ -the link works for ${on}one${off} ${on}hour${off}:`);
    expect(colored).toContain(`│ +the link works for ${on}30${off} ${on}minutes${off}:`);
    const text = planText(plan, { color: false, debug: false });
    expect(text).toContain(
      '\n      │ -the link works for one hour:\n      │ +the link works for 30 minutes:\n',
    );
  });

  it('shows them as insertions and deletions on a page', () => {
    const html = planHtml(plan, { samples: new Map(), debug: false });
    expect(html).toContain('-the link works for <del>one</del> <del>hour</del>:');
    expect(html).toContain('+the link works for <ins>30</ins> <ins>minutes</ins>:');
  });

  it('marks none in lines that have little in common, or if more lines are added than removed', () => {
    const spansOf = (before: string, after: string) => {
      const view = viewField(fieldOf({ type: 'body', before, after }), { whole: false, medium: 'terminal' });
      if (view.view !== 'body') throw new Error('no body');
      return view.hunks.flatMap(({ lines }) => lines.flatMap(({ spans = [] }) => spans));
    };
    expect(spansOf('one two\nx\n', 'and three\nx\n')).toEqual([]);
    expect(spansOf('one two three\n', 'one two four\none two five\n')).toEqual([]);
  });
});
