import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../src/plan/plan.js';
import { planHtml } from '../../src/report/html.js';
import { resultHtml } from '../../src/report/result-page.js';
import { changeOf, fieldOf, planOf } from './plans.js';

const middle = 'what nobody should miss';
const long = (half: number): string => `${'a'.repeat(half)} ${middle} ${'b'.repeat(half)}`;

function pagesOf(...fields: FieldChange[]): string[] {
  const plan = planOf([changeOf({ fields })]);
  const result = {
    address: 'Organization/acme',
    action: 'update',
    status: 'applied',
    httpStatus: 200,
    attempts: 1,
    unverified: [],
    error: null,
  } as const;
  const options = { samples: new Map(), debug: false };
  return [
    planHtml(plan, options),
    resultHtml({ run: 'r', results: [result], interrupted: false }, plan, options),
  ];
}

describe('a long value in a page', () => {
  it.each([60, 150, 400, 100_000])('is there whole: twice %i characters and more', (half) => {
    const text = long(half);
    for (const page of pagesOf(fieldOf({ after: text }))) {
      expect(page).toContain(text);
      expect(page).not.toContain('…a');
    }
  });

  it('is there whole where a map, an element of a set, a line of a body or what a run left holds it', () => {
    const before: FieldChange['before'] = [{ id: '1', name: 'x', note: 'short' }];
    const fields = [
      fieldOf({ path: 'metadata', type: 'map', before: {}, after: { a: { value: long(100) } } }),
      fieldOf({ path: 'roles', type: 'set', before, after: [{ id: '1', name: 'x', note: long(101) }] }),
      fieldOf({ path: 'txt_content', type: 'body', before: `x${long(3000)}y`, after: `x${long(3001)}y` }),
      fieldOf({ drift: { run: 'r1', recorded: long(102) } }),
    ];
    for (const page of pagesOf(...fields).map((one) => one.replaceAll(/<\/?(?:ins|del)>/g, ''))) {
      for (const half of [100, 101, 102, 3000, 3001]) expect(page).toContain(long(half));
    }
  });
});
