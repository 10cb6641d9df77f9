import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/values.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { prose } from '../../src/report/markdown-escape.js';
import { reviewGroups } from '../../src/report/review.js';
import { groupWarnings } from '../../src/report/warnings.js';
import { often } from '../often.js';
import { hostilePlan, invisible, workflowCommand } from './hostile-plans.js';
import { manyTemplates, manyUsers } from './many-plans.js';
import { changeOf, fieldOf, mixedPlan, planOf } from './plans.js';
import { treeOf } from './trees.js';

const plain = { debug: false };
/** The target of links. */
const forge = { files: `https://forge.example/acme/id/blob/${'0'.repeat(40)}`, folder: 'infra' };
const reader = new MarkdownIt({ html: true, linkify: true });

describe('the Markdown of a plan', () => {
  it('keeps the comma after a quotation outside it', () => {
    expect(prose('there is no "nope", and none is made')).toBe('there is no "nope", and none is made');
  });

  it('marks a quotation as a whole, or not at all', () => {
    expect(prose('with "whole: [metadata]", or not')).toBe('with `"whole: [metadata]"`, or not');
    expect(prose('the label is "Acme and others" now')).toBe('the label is "Acme and others" now');
    expect(prose('it says "see #12 there".')).toBe('it says `"see #12 there"`.');
  });

  it('marks a whole quotation with brackets, quotation marks or a placeholder in it too', () => {
    expect(prose('(was "ACME Corp"), and in the manifest')).toBe('(was "ACME Corp"), and in the manifest');
    expect(prose('(was "**bold** x y"), and so on')).toBe('(was `"**bold** x y"`), and so on');
    expect(prose('(was {"value": "by hand", "x": "y"}), so')).toBe(
      '(was `{"value": "by hand", "x": "y"}`), so',
    );
    expect(prose('(was "a \\"b c\\" @d e")')).toBe('(was `"a \\"b c\\" @d e"`)');
    expect(prose('(was "Hi {{ name }} @all")')).toBe('(was `"Hi {{ name }} @all"`)');
    expect(prose('(was "{brackets} @all")')).toBe('(was `"{brackets} @all"`)');
  });

  it('counts destructive changes by object, as the text does, and gives the total of losses', () => {
    const summary = (destructions: readonly (readonly string[])[]) =>
      planMarkdown(planOf(destructions.map((one) => changeOf({ destructions: one }))), plain).split('\n')[4];
    expect(summary([['blocks the user', 'removes the membership of acme']])).toBe(
      '**1 destructive change** (2 things in all), first below.',
    );
    expect(summary([['a', 'b'], ['c']])).toBe('**2 destructive changes** (3 things in all), first below.');
    expect(summary([['a'], ['c']])).toBe('**2 destructive changes**, first below.');
  });

  it('reads as a whole', () => {
    expect(planMarkdown(mixedPlan, plain)).toBe(`## idops plan: 2 to update, 1 blocked, 2 unchanged

Server \`https://id.example.com\`, profile \`documented\`, environment \`production\`.

**1 destructive change**, first below; 1 warning, last below.

### Destructive (1)

- **update** \`User/9b1d\`: \`organizations\`, \`backend.smtp_password\` — **destructive:** removes the membership of globex

<details><summary>Differences</summary>

recorded \`2026-01-30T12:00:00Z\`, not read from the server

\`\`\`diff
  organizations:
-   globex (id 2)
    (1 unchanged)
! backend.smtp_password: (unknown) → (sensitive)
\`\`\`

</details>


### Blocked (1)

- **blocked** \`Organization/initech\` — the server has no organization "initech", and no operation creates one

### Organization (1)

- **update** \`Organization/acme\`: \`label\` \`"ACME"\` → \`"ACME Corp"\` — \`manifests/organizations.yaml:3\`

### Warnings (1)

- this is a large plan (\`too-large\`)

---

Digest \`sha256:0123\`${'  '}
Required scopes: \`users:manage:all\`${'  '}
idops \`0.1.0\`, \`2026-01-31T12:00:00Z\`
`);
  });

  it('links places to the forge, except those outside the repository', () => {
    const at = (file: string) => changeOf({ fields: [fieldOf()], declaredAt: { file, line: 7 } });
    const plan = planOf([at('a b/[x](y)#1?.yaml'), at('../top.yaml'), at('../../out.yaml')]);
    const text = planMarkdown(plan, { ...plain, forge });
    expect(text).toContain(
      `[\`"a b/[x](y)#1?.yaml":7\`](${forge.files}/infra/a%20b/%5Bx%5D%28y%29%231%3F.yaml#L7)`,
    );
    expect(text).toContain(`[\`../top.yaml:7\`](${forge.files}/top.yaml#L7)`);
    expect(text).toContain('— `../../out.yaml:7`\n');
  });

  it('shows bodies as a diff, in a fence that is longer than any inside', () => {
    const bodies = { before: 'a\n```\nb\n', after: 'a\n```\nc\n' };
    const fields = [fieldOf({ path: 'txt_content', type: 'body', ...bodies })];
    const text = planMarkdown(planOf([changeOf({ fields })]), plain);
    expect(text).toContain(
      '`txt_content`: 1 line added, 1 removed\n\n````diff\n@@ -1,3 +1,3 @@\n a\n ```\n-b\n+c\n````\n',
    );
  });

  it('shows requests, unchanged objects and whole values with debug', () => {
    const change = changeOf({
      requests: [{ operation: 'updateOrganization', params: { organization_id: 'a b' }, body: {} }],
      fields: [fieldOf({ before: 'x'.repeat(300), after: 'y'.repeat(300) })],
    });
    const unchanged = changeOf({ action: 'unchanged', address: 'User/1' });
    const text = planMarkdown(planOf([change, unchanged]), { debug: true });
    expect(text).toContain('y'.repeat(300));
    expect(text).toContain('Sends `PATCH /api/organizations/a%20b`');
    expect(text).toContain('- **unchanged** `User/1`');
  });

  it('holds no secret', () => {
    const secret = new Sensitive('hunter22');
    const fields = [fieldOf({ before: secret, after: [{ id: '1', name: secret }], sensitive: false })];
    expect(planMarkdown(planOf([changeOf({ fields })]), { debug: true })).not.toContain('hunter22');
  });
});

/** The longest comment that GitHub accepts, in characters. */
const commentLimit = 65_536;

/** The lines that name changes, without the warnings after them. */
function changeLines(text: string): string[] {
  const [changes = ''] = text.split('\n### Warnings');
  return changes.split('\n').filter((line) => /^- \*\*/.test(line));
}

describe('the budget of the Markdown', () => {
  it.each([
    ['users', manyUsers(300)],
    ['email templates', manyTemplates(500)],
  ])(
    'names every one of many changed %s before anything else, and says how much of them is shown',
    (_, plan) => {
      // The hidden first line of a comment takes up to 12,000 characters.
      for (const budget of [commentLimit, commentLimit - 12_500]) {
        const text = planMarkdown(plan, { ...plain, budget, forge });
        expect(text.length).toBeLessThanOrEqual(budget);
        expect(text.length).toBeGreaterThan(budget * 0.95);
        expect(changeLines(text)).toHaveLength(plan.changes.length);
        for (const { address } of plan.changes) expect(text).toContain(address);
        const count = plan.changes.reduce((sum, { fields }) => sum + Math.max(1, fields.length), 0);
        expect(text).toMatch(
          new RegExp(
            `> \\*\\*\\d+ of ${count} differences and \\d+ of \\d+ warnings? are shown\\*\\*.*no approval`,
          ),
        );
        // All changes precede the warnings.
        expect(text.indexOf('### Warnings')).toBeGreaterThan(text.lastIndexOf('**update**'));
      }
    },
  );

  it('reports what many objects share once, and names the first of them', () => {
    const text = planMarkdown(manyUsers(300), { ...plain, budget: commentLimit });
    expect(text).toContain('; 1 warning, last below.');
    const [, warnings = ''] = text.split('### Warnings (1)');
    expect(warnings.match(/^- /gm)).toHaveLength(1);
    expect(warnings).toMatch(
      /^\n\n- \*\*300 objects\*\*: the user has the role .* \(`not-in-list`\) — `User\/4.*` \(`firstname.lastname0@.*`\), .* and 297 more\n/,
    );
  });

  it('shows losses with their places before other changes get more than their names', () => {
    const plan = manyUsers(300);
    const text = planMarkdown(plan, { ...plain, budget: 30_000, forge });
    expect(changeLines(text)).toHaveLength(300);
    expect(text).toMatch(
      /^- \*\*update\*\* `User\/\S+` \(`firstname.lastname299@.*\*\*destructive:\*\* removes the membership of globex.*users%20of%20the%20whole%20company.yaml#L3589\)$/m,
    );
  });

  it("counts changes that don't fit by name too", () => {
    const text = planMarkdown(manyUsers(300), { ...plain, budget: 5000 });
    const lines = changeLines(text);
    expect(text).toMatch(/… and \d+ more/);
    expect(text).toMatch(/> \*\*0 of \d+ differences and 0 of 1 warning are shown\*\*/);
    expect(lines.length).toBeLessThan(300);
    expect(text).toContain('**destructive:** removes the membership of globex');
  });

  it('shows everything if it fits, without a note about omissions', () => {
    const text = planMarkdown(manyTemplates(3), { ...plain, forge });
    expect(text).not.toContain('are shown**');
    expect(text.match(/^<details>/gm)).toHaveLength(3);
    expect(text.match(/^- .*\]\(https:\/\/forge.example\//gm)?.length).toBeGreaterThanOrEqual(3);
  });

  it('omits a body before the other values', () => {
    const body = (text: string) => `${text}\n`.repeat(400);
    const fields = [
      fieldOf({ path: 'label', before: 'x'.repeat(60), after: 'y'.repeat(60) }),
      fieldOf({ path: 'html_content', type: 'body', before: body('old'), after: body('new') }),
    ];
    const text = planMarkdown(planOf([changeOf({ fields })]), { ...plain, budget: 2000 });
    expect(text).toContain('`html_content`: 400 lines added, 400 removed; left out for length');
    expect(text).toContain('+ label: ');
  });

  it('is kept for every plan and every budget', () => {
    fc.assert(
      fc.property(hostilePlan, fc.integer({ min: 0, max: 4000 }), fc.boolean(), (plan, budget, debug) => {
        expect(planMarkdown(plan, { budget, debug }).length).toBeLessThanOrEqual(budget);
      }),
    );
  });

  it('always has room for the headline', () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        expect(planMarkdown(plan, { budget: 1_000, debug: false })).toMatch(/^## idops plan: /);
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

  it('links only to the named file, whatever its name', () => {
    fc.assert(
      fc.property(hostilePlan, fc.boolean(), (plan, debug) => {
        const text = planMarkdown(plan, { debug, budget: 1_000_000, forge });
        const { elements, comments } = treeOf(reader.render(text));
        const found = elements.filter(({ tag }) => !known.has(tag));
        for (const { tag, attributes } of found) {
          expect(tag).toBe('a');
          expect(Object.keys(attributes)).toEqual(['href']);
          expect(attributes.href).toMatch(
            /^https:\/\/forge\.example\/acme\/id\/blob\/0{40}(?:\/(?!\.\.?[/#])(?:[\w.-]|%[0-9A-F]{2})+)+#L\d+$/,
          );
        }
        const placed = reviewGroups(plan, { debug }).flatMap(({ changes }) =>
          changes.flatMap(({ declaredAt }) => declaredAt ?? []),
        );
        expect(found.length).toBeLessThanOrEqual(placed.length);
        expect(comments).toBe(0);
        expect(text).not.toMatch(workflowCommand);
      }),
      { numRuns: often(300) },
    );
  });

  it('adds no heading, no fold and no list item', () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const { elements } = treeOf(reader.render(planMarkdown(plan, { ...plain, budget: 1_000_000 })));
        const count = (tag: string) => elements.filter((element) => element.tag === tag).length;
        const warnings = groupWarnings(plan).length;
        const groups = reviewGroups(plan, plain);
        expect(count('h2')).toBe(1);
        expect(count('h3')).toBe(groups.length + (warnings > 0 ? 1 : 0));
        expect(count('details')).toBe(count('summary'));
        expect(count('li')).toBe(groups.flatMap(({ changes }) => changes).length + warnings);
        expect(count('hr')).toBe(1);
      }),
      { numRuns: often(300) },
    );
  });
});
