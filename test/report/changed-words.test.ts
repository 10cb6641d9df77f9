import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedWords, pairsOf } from '../../src/report/changed-words.js';
import { planHtml } from '../../src/report/html.js';
import { type Span, textOf } from '../../src/report/spans.js';
import { planText } from '../../src/report/text.js';
import { viewField } from '../../src/report/view.js';
import { hostileText } from './hostile.js';
import { changeOf, fieldOf, planOf } from './plans.js';

/** What changes in brackets. */
function marked(spans: readonly Span[] | undefined): string | undefined {
  return spans?.map(({ text, change }) => (change === null ? text : `[${text}]`)).join('');
}

function both(before: string, after: string): (string | undefined)[] {
  const words = changedWords(before, after);
  return [marked(words?.before), marked(words?.after)];
}

describe('the words that change within a line', () => {
  it.each([
    [
      'in the middle',
      'works for one hour:',
      'works for 30 minutes:',
      ['works for [one hour]:', 'works for [30 minutes]:'],
    ],
    ['that come', 'Hello Ada', 'Hello dear Ada', ['Hello Ada', 'Hello [dear ]Ada']],
    ['whole ones alone', 'reset it', 'resets it', ['[reset] it', '[resets] it']],
    ['in several places', 'a b c d e', 'a x c y e', ['a [b] c [d] e', 'a [x] c [y] e']],
    ['and spaces', 'a b', 'a  b', ['a b', 'a [ ]b']],
    ['an escape, whole', 'a\\u200bb c', 'a\\u200cb c', ['a[\\u200bb] c', 'a[\\u200cb] c']],
    ['a character of two halves, whole', 'hi 😀!', 'hi 😁!', ['hi [😀]!', 'hi [😁]!']],
  ])('are marked: %s', (_, before, after, expected) => {
    expect(both(before, after)).toEqual(expected);
  });

  it('leave both lines as they are, whatever is in them', () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (start, one, other) => {
        const [before, after] = [`${start}${one}`, `${start}${other}`];
        const words = changedWords(before, after);
        if (before === after) expect(words).toBeUndefined();
        else expect([textOf(words?.before ?? []), textOf(words?.after ?? [])]).toEqual([before, after]);
      }),
    );
  });

  it('of a line of a megabyte are those from the first to the last', () => {
    const words = (n: number) => `${'word '.repeat(100_000)}`.replaceAll('word', `w${n}`);
    const [before, after] = [`<p>${words(1)}</p>`, `<p>${words(2)}</p>`];
    expect(changedWords(before, after)?.before).toHaveLength(3);
    const one = `${'word '.repeat(200_000)}`;
    expect(marked(changedWords(`${one}old ${one}`, `${one}new ${one}`)?.after)?.match(/\[.*\]/)?.[0]).toBe(
      '[new]',
    );
    // One word of a megabyte.
    expect(changedWords('x'.repeat(1e6), `${'x'.repeat(1e6)}y`)?.after).toHaveLength(1);
  });
});

describe('the lines that go and those that come', () => {
  it('are paired where they are alike, in their order', () => {
    expect(
      pairsOf(['Dear Ada,', 'your link:'], ['Your account', 'Dear Ada Lovelace,', 'your new link:']),
    ).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(pairsOf(['old'], ['new'])).toEqual([]);
    const many = (word: string) => Array.from({ length: 60 }, (_, at) => `line ${at} is ${word}`);
    expect(pairsOf(many('old'), many('new'))).toHaveLength(60);
  });
});

describe('a body', () => {
  const body = fieldOf({
    path: 'txt_content',
    type: 'body',
    before: 'Hello,\nthe link works for one hour:\nbye\n',
    after: 'Hello,\nplease note:\nthe link works for 30 minutes:\nbye\n',
  });
  const plan = planOf([changeOf({ fields: [body] })]);

  it('has them inverse on a terminal with colours, and no mark without', () => {
    const [on, off] = ['\u001b[7m', '\u001b[27m'];
    const colored = planText(plan, { color: true, debug: false });
    expect(colored).toContain(`│ -the link works for ${on}one hour${off}:`);
    expect(colored).toContain(`│ +the link works for ${on}30 minutes${off}:`);
    expect(colored).toContain('│ +please note:');
    const text = planText(plan, { color: false, debug: false });
    expect(text).toContain('\n      │ -the link works for one hour:\n      │ +please note:\n');
  });

  it('has them as insertions and deletions on a page', () => {
    const html = planHtml(plan, { samples: new Map(), debug: false });
    expect(html).toContain('-the link works for <del>one hour</del>:');
    expect(html).toContain('+the link works for <ins>30 minutes</ins>:');
  });

  it('keeps them in the part that is shown of a line that is cut, and shows the same text', () => {
    const long = 'word '.repeat(400);
    const view = viewField(
      fieldOf({ type: 'body', before: `${long}old ${long}\n`, after: `${long}new ${long}\n` }),
      { whole: false, room: 'terminal' },
    );
    if (view.view !== 'body') throw new Error('no body');
    const lines = view.hunks.flatMap((hunk) => hunk.lines);
    expect(lines.map(({ spans }) => spans?.filter(({ change }) => change !== null))).toEqual([
      [{ text: 'old', change: '-' }],
      [{ text: 'new', change: '+' }],
    ]);
    for (const { text, spans } of lines) {
      expect(textOf(spans ?? [])).toBe(text);
      expect(text).toMatch(/…\S* .* (old|new) .*…/);
    }
  });

  it('is marked by nobody in a comment', () => {
    const view = viewField(body, { whole: false, room: 'comment' });
    expect(JSON.stringify(view)).not.toContain('spans');
  });
});
