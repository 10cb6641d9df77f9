import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/values.js';
import type { Change } from '../../src/plan/plan.js';
import { planMarkdown, prose } from '../../src/report/markdown.js';
import { reviewGroups } from '../../src/report/review.js';
import { leastBudget } from '../../src/report/words.js';
import { often } from '../often.js';
import { hostilePlan, invisible, workflowCommand } from './hostile-plans.js';
import { changeOf, fieldOf, planOf } from './plans.js';
import { treeOf } from './trees.js';

const plain = { debug: false };
const reader = new MarkdownIt({ html: true, linkify: true });

function manyChanges(count: number, parts: (index: number) => Partial<Change> = () => ({})): Change[] {
  return [...Array(count).keys()].map((index) =>
    changeOf({
      address: `Organization/org-${index}`,
      fields: [
        fieldOf({ path: 'name', before: `Organization ${index}`, after: `Company ${index}` }),
        fieldOf({ path: 'label', before: 'x'.repeat(50), after: 'y'.repeat(50) }),
      ],
      declaredAt: { file: 'manifests/organizations.yaml', line: index + 1 },
      ...parts(index),
    }),
  );
}

describe('the Markdown of a plan', () => {
  it('marks a quotation as a whole, or not at all', () => {
    expect(prose('declare it with "whole: [metadata]", or not')).toBe(
      'declare it with `"whole: [metadata]"`, or not',
    );
    expect(prose('the label is "Acme and others" now')).toBe('the label is "Acme and others" now');
    expect(prose('it says "see #12 there".')).toBe('it says `"see #12 there"`.');
  });

  it('reads as a whole', () => {
    const text = planMarkdown(
      planOf(
        [
          changeOf({
            fields: [fieldOf({ before: 'ACME', after: 'ACME Corp' })],
            declaredAt: { file: 'manifests/organizations.yaml', line: 3 },
          }),
          changeOf({
            kind: 'User',
            address: 'User/9b1d',
            observed: 'recorded',
            recordedAt: '2026-01-30T12:00:00Z',
            destructions: ['removes the membership of globex'],
            fields: [
              fieldOf({
                path: 'organizations',
                type: 'set',
                before: [
                  { id: '1', name: 'acme' },
                  { id: '2', name: 'globex' },
                ],
                after: [{ id: '1', name: 'acme' }],
              }),
              fieldOf({ path: 'backend.smtp_password', before: undefined, after: 'x', sensitive: true }),
            ],
          }),
          changeOf({ action: 'blocked', address: 'Organization/initech', reason: 'no such organization' }),
          changeOf({ action: 'unchanged' }),
        ],
        { environment: 'production', warnings: [{ code: 'too-large', message: 'this is a large plan' }] },
      ),
      plain,
    );
    expect(text).toBe(`## idops plan: 2 to update, 1 blocked, 1 unchanged

Server \`https://id.example.com\`, profile \`documented\`, environment \`production\`.

**1 destructive change**, first below; 1 warning, last below.

### Destructive (1)

<details><summary><b>update</b> <code>User/9b1d</code>: <code>organizations</code>, <code>backend.smtp_password</code> — <b>destructive:</b> removes the membership of globex</summary>

compared with what was recorded \`2026-01-30T12:00:00Z\`, not read from the server

\`\`\`diff
  organizations:
-   globex (id 2)
    (1 unchanged)
! backend.smtp_password: (unknown) → (sensitive)
\`\`\`

</details>


### Blocked (1)

<p><b>blocked</b> <code>Organization/initech</code> — no such organization</p>


### Organization (1)

<p><b>update</b> <code>Organization/acme</code>: <code>label</code> <code>"ACME"</code> → <code>"ACME Corp"</code> — <code>manifests/organizations.yaml:3</code></p>


### Warnings (1)

- this is a large plan (\`too-large\`)

---

Digest \`sha256:0123\`${'  '}
Required scopes: \`users:manage:all\`${'  '}
idops \`0.1.0\`, \`2026-01-31T12:00:00Z\`
`);
  });

  it('says that there is nothing to change', () => {
    expect(planMarkdown(planOf([changeOf({ action: 'unchanged' })]), plain)).toContain(
      '## idops plan: nothing to change, 1 unchanged\n',
    );
    expect(planMarkdown(planOf([]), plain)).toContain('## idops plan: nothing is declared\n');
  });

  it('shows bodies as a diff, in a fence that is longer than any in them', () => {
    const text = planMarkdown(
      planOf([
        changeOf({
          fields: [
            fieldOf({ path: 'txt_content', type: 'body', before: 'a\n```\nb\n', after: 'a\n```\nc\n' }),
          ],
        }),
      ]),
      plain,
    );
    expect(text).toContain(
      '`txt_content`: 1 line added, 1 removed\n\n````diff\n@@ -1,3 +1,3 @@\n a\n ```\n-b\n+c\n````\n',
    );
  });

  it('shows requests, unchanged objects and whole values with debug', () => {
    const change = changeOf({
      requests: [{ operation: 'updateOrganization', params: { organization_id: 'a b' }, body: {} }],
      fields: [fieldOf({ before: 'x'.repeat(300), after: 'y'.repeat(300) })],
    });
    const text = planMarkdown(planOf([change, changeOf({ action: 'unchanged', address: 'User/1' })]), {
      debug: true,
    });
    expect(text).toContain('y'.repeat(300));
    expect(text).toContain('Sends `PATCH /api/organizations/a%20b`');
    expect(text).toContain('<code>User/1</code>');
  });

  it('holds no secret', () => {
    const secret = new Sensitive('hunter22');
    const fields = [fieldOf({ before: secret, after: [{ id: '1', name: secret }], sensitive: false })];
    expect(planMarkdown(planOf([changeOf({ fields })]), { debug: true })).not.toContain('hunter22');
  });
});

describe('the budget of the Markdown', () => {
  it('leaves details out first, and says so', () => {
    const text = planMarkdown(planOf(manyChanges(300)), plain);
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toMatch(
      /^> \*\*Shortened\*\* to stay within 60,000 characters\. Left out: details of \d+ changes\.$/m,
    );
    expect(text).toContain('Organization/org-299');
  });

  it('keeps what is destructive longest', () => {
    const changes = manyChanges(400, (index) => (index === 399 ? { destructions: ['is lost'] } : {}));
    const text = planMarkdown(planOf(changes), { ...plain, budget: 5000 });
    expect(text).toContain('Organization/org-399');
    expect(text).toMatch(/… and \d+ more/);
    expect(text).toMatch(/Left out: details of \d+ changes, \d+ changes\./);
  });

  it('leaves a body out before the values beside it', () => {
    const body = (text: string) => `${text}\n`.repeat(400);
    const change = changeOf({
      fields: [
        fieldOf({ path: 'label', before: 'x'.repeat(60), after: 'y'.repeat(60) }),
        fieldOf({ path: 'html_content', type: 'body', before: body('old'), after: body('new') }),
      ],
    });
    const text = planMarkdown(planOf([change]), { ...plain, budget: 2000 });
    expect(text).toContain('`html_content`: 400 lines added, 400 removed; left out for length');
    expect(text).toContain('+ label: ');
  });

  it('holds for every plan and every budget', () => {
    fc.assert(
      fc.property(hostilePlan, fc.integer({ min: 0, max: 4000 }), fc.boolean(), (plan, budget, debug) => {
        expect(planMarkdown(plan, { budget, debug }).length).toBeLessThanOrEqual(budget);
      }),
    );
  });

  it('always has room for the headline', () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        expect(planMarkdown(plan, { budget: leastBudget, debug: false })).toMatch(/^## idops plan: /);
      }),
    );
  });
});

describe('hostile text in Markdown', () => {
  const known = new Set(
    'html head body h2 h3 p details summary code b pre hr br ul li strong blockquote'.split(' '),
  );

  it('makes no element, link, mention, reference or command', () => {
    fc.assert(
      fc.property(hostilePlan, fc.boolean(), (plan, debug) => {
        const text = planMarkdown(plan, { debug, budget: 1_000_000 });
        const { elements, prose, comments } = treeOf(reader.render(text));
        expect(elements.map(({ tag }) => tag).filter((tag) => !known.has(tag))).toEqual([]);
        const attributes = elements.flatMap((element) => Object.entries(element.attributes));
        expect(attributes.filter(([, value]) => value !== 'language-diff')).toEqual([]);
        expect(comments).toBe(0);
        expect(prose).not.toMatch(/@|#\d|GH-\d|[A-Z]+-\d|:\/\/|www\.|[0-9a-f]{7}|:\w+:|\$/i);
        expect(text.replaceAll('\n', '')).not.toMatch(invisible);
        expect(text).not.toMatch(workflowCommand);
      }),
      { numRuns: often(500) },
    );
  });

  it('adds no heading, no fold and no line of a list', () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const { elements } = treeOf(reader.render(planMarkdown(plan, { ...plain, budget: 1_000_000 })));
        const count = (tag: string) => elements.filter((element) => element.tag === tag).length;
        const warnings = plan.warnings.length + plan.changes.flatMap((change) => change.warnings).length;
        const groups = reviewGroups(plan, plain);
        expect(count('h2')).toBe(1);
        expect(count('h3')).toBe(groups.length + (warnings > 0 ? 1 : 0));
        expect(count('li')).toBe(warnings);
        expect(count('details')).toBe(count('summary'));
        expect(count('details')).toBeLessThanOrEqual(groups.flatMap(({ changes }) => changes).length);
        expect(count('hr')).toBe(1);
      }),
      { numRuns: often(300) },
    );
  });
});
