import { describe, expect, it } from 'vitest';
import { planGithub } from '../../src/report/github.js';
import { planHtml } from '../../src/report/html.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { planText } from '../../src/report/text.js';
import { changeOf, fieldOf, planOf } from './plans.js';

const moved = fieldOf({ drift: { recorded: 'left', run: 'run-1' } });
const plan = planOf([
  changeOf({ address: 'Organization/made', fields: [fieldOf({})] }),
  changeOf({
    address: 'Organization/moved',
    fields: [moved],
    destructions: ['its name is lost'],
    warnings: [{ code: 'restores', message: 'nobody knows what was there' }],
  }),
]);

describe.each([
  ['text', (only: 'changes' | 'drift') => planText(plan, { color: false, debug: false, only })],
  ['markdown', (only: 'changes' | 'drift') => planMarkdown(plan, { debug: false, only })],
  ['html', (only: 'changes' | 'drift') => planHtml(plan, { debug: false, only, samples: new Map() })],
  ['github', (only: 'changes' | 'drift') => planGithub(plan, { only })],
])('a share in %s', (_, shown) => {
  it('only counts the changes and warnings that it leaves out', () => {
    // Markdown shows the option as code.
    const changes = shown('changes').replaceAll('`', '');
    expect(changes).toContain('Left out by --only changes: 1 to update, which is destructive.');
    for (const left of ['nobody knows', 'first below', 'shown first', 'its name is lost'])
      expect(changes).not.toContain(left);
    expect(changes).toContain('made');
  });

  it('shows all of its own changes', () => {
    const drift = shown('drift')
      .replaceAll('`', '')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll(/\s+/g, ' ');
    for (const text of ['moved', 'nobody knows', 'its name is lost']) expect(drift).toContain(text);
    expect(drift).toContain('(was "left")');
    expect(drift).toContain('Left out by --only drift: 1 to update.');
  });
});

it('shows a left value in words, with its closing bracket', () => {
  expect(planMarkdown(plan, { debug: false })).toContain('(was "left")');
});
