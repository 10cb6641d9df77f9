import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/plan/plan.js';
import { planGithub } from '../../src/report/github.js';
import { planHtml } from '../../src/report/html.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { planText } from '../../src/report/text.js';
import { changeOf, planOf } from './plans.js';

const pendingRestore = { warnings: [{ code: 'restores-left-out' as const, message: 'still owed' }] };
const unchanged = changeOf({ action: 'unchanged' });

/** Plans without changes, and the sentence that every format shows for each. */
const plans: readonly [string, Plan, RegExp][] = [
  ['nothing is declared', planOf([]), /nothing is declared/i],
  ['nothing selected is declared', planOf([], { leavesOut: true }), /no selected object is declared/i],
  [
    'a restore is pending outside the selection',
    planOf([], { ...pendingRestore, leavesOut: true }),
    /nothing to change in the selection; outside it, something must still be restored/i,
  ],
  [
    'a restore is pending, and the selection is unchanged',
    planOf([unchanged], pendingRestore),
    /nothing to change in the selection(, 1 unchanged)?; outside it, something must still be restored/i,
  ],
  ['no access has ended', planOf([], { leavesOut: 'ended' }), /no access has ended/i],
  ['everything is unchanged', planOf([unchanged]), /nothing to change/i],
  ['nothing is to be undone', planOf([], { undoes: 'r1' }), /nothing to put back/i],
];

describe('a plan with nothing to do', () => {
  it.each(plans)('says the same in every format: %s', (_, plan, words) => {
    const texts = [
      planText(plan, { color: false, debug: false }),
      planMarkdown(plan, { debug: false }),
      planHtml(plan, { debug: false, samples: new Map() }),
      planGithub(plan),
    ];
    for (const text of texts) {
      expect(text).toMatch(words);
      if (plan.leavesOut === true) expect(text).not.toMatch(/nothing is declared/i);
    }
  });
});
