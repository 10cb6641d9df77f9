import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../src/plan/plan.js';
import { planHtml } from '../../src/report/html.js';
import { planComment } from '../../src/report/markdown.js';
import { planText } from '../../src/report/text.js';
import { often } from '../often.js';
import { changeOf, fieldOf, planOf } from './plans.js';

const plain = { color: false, debug: false };

/** A text before and after word replacements. Every removed and added word is unique. */
interface Pair {
  readonly before: string;
  readonly after: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** A line of about `length` characters with an edit at each spot, which is a fraction of the length. */
function edited(length: number, spots: readonly number[], words: readonly string[]): Pair {
  const tokens = [...Array(Math.ceil(length / 6)).keys()].map(
    (index) => words[index % words.length] ?? 'word',
  );
  const at = [...new Set(spots.map((spot) => Math.floor(spot * tokens.length)))];
  const side = (name: string) =>
    tokens.map((token, index) => (at.includes(index) ? `${name}${at.indexOf(index)}end` : token)).join(' ');
  return {
    before: side('old'),
    after: side('evil'),
    removed: at.map((_, index) => `old${index}end`),
    added: at.map((_, index) => `evil${index}end`),
  };
}

const pair = fc
  .tuple(
    fc.constantFrom(20, 150, 300, 600, 2_000, 10_000),
    fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 5 }),
    fc.array(fc.constantFrom('lorem', '<td>', 'x', 'href="https://a.example/"', 'ü😀', '{{ url }}'), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map((parts) => edited(...parts));

/** A changed field of each type that can contain the text. */
const fieldsOf = ({ before, after }: Pair): { readonly [name: string]: FieldChange } => ({
  value: fieldOf({ path: 'label', before, after }),
  body: fieldOf({ path: 'html_content', type: 'body', before, after }),
  lines: fieldOf({
    path: 'txt_content',
    type: 'body',
    before: before.replaceAll(' x ', '\n'),
    after: after.replaceAll(' x ', '\n'),
  }),
  map: fieldOf({ path: 'metadata.note', type: 'map', before: { value: before }, after: { value: after } }),
  element: fieldOf({
    path: 'authorized_scopes',
    type: 'set',
    before: [{ id: '1', name: 'a', label: before }],
    after: [{ id: '1', name: 'a', label: after }],
  }),
});

function missing({ removed, added }: Pair, text: string): string[] {
  return [...removed, ...added].filter((word) => !text.includes(word));
}

describe('a difference', () => {
  it('is visible in every format, in any field and at any position', () => {
    fc.assert(
      fc.property(pair, (made) => {
        for (const [name, field] of Object.entries(fieldsOf(made))) {
          const plan = planOf([changeOf({ fields: [field] })]);
          const comment = planComment(plan, plain);
          expect(missing(made, planText(plan, plain)), name).toEqual([]);
          expect(missing(made, planComment(plan, { ...plain, budget: 800_000 }).text), name).toEqual([]);
          const html = planHtml(plan, { ...plain, samples: new Map() });
          expect(missing(made, html.replaceAll(/<\/?(?:ins|del)>/g, '')), name).toEqual([]);
          // If the comment is too short, it says so, and can't approve the plan.
          if (comment.isWhole) expect(missing(made, comment.text), name).toEqual([]);
          else expect(comment.text).toContain('> **0 of 1 difference are shown**');
        }
      }),
      { numRuns: often(60) },
    );
  });

  it.each<[string, { budget?: number; partial?: true; only?: 'changes' }]>([
    ['a plan without room', { budget: 2_000 }],
    ['a part of what is declared', { partial: true }],
    ['what is the own of the manifests', { only: 'changes' }],
  ])('carries no approval in %s', (_, { budget, partial, only }) => {
    const fields = [
      fieldOf({ type: 'body', path: 'txt_content', before: 'a\n', after: 'b\n'.repeat(2_000) }),
    ];
    const plan = planOf([changeOf({ fields })], partial === undefined ? {} : { partial });
    const options = { ...plain, ...(budget && { budget }), ...(only && { only }) };
    const { text, isWhole } = planComment(plan, options);
    expect(isWhole).toBe(false);
    expect(text).toContain('carries no approval');
  });
});
