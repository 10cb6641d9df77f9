import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shorten } from '../../src/report/values.js';
import { often } from '../often.js';

/** The same with a list of all the characters, which takes a hundred bytes for each. */
function byList(text: string, other: string, limit: number): string {
  const list = (it: string): string[] => it.match(/\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\.|./gsu) ?? [];
  const parts = list(text);
  if (text.length <= limit || parts.length <= limit) return text;
  const others = list(other);
  const focus = Math.max(
    0,
    parts.findIndex((part, index) => part !== others[index]),
  );
  const third = Math.floor(limit / 3);
  const near = [focus - Math.floor(third / 2), focus + Math.ceil(third / 2)] as const;
  const kept = parts.map(
    (_, at) => at < third || (at >= near[0] && at < near[1]) || at >= parts.length - third,
  );
  const shown = parts.map((part, at) => (kept[at] ? part : kept[at - 1] ? '…' : '')).join('');
  return `${shown} (${parts.length} characters)`;
}

describe('a text that is too long', () => {
  const part = fc.oneof(
    fc.constantFrom('\\n', '\\', '\\u{1f600}', '\\u{', '\\u00e9', '\\u12', '😀', '\ud83d', '\n', 'a', 'b'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  );
  const text = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''));

  it('is cut between its characters, and shows where it begins to differ', () => {
    fc.assert(
      fc.property(text, text, text, fc.integer({ min: 3, max: 30 }), (start, one, other, limit) => {
        expect(shorten(start + one, start + other, limit)).toBe(byList(start + one, start + other, limit));
      }),
      { numRuns: often(2000) },
    );
  });
});
