import { describe, expect, it } from 'vitest';
import type { Change, FieldChange } from '../../src/plan/plan.js';
import { planHtml } from '../../src/report/html.js';
import { planComment } from '../../src/report/markdown.js';
import { problemsText } from '../../src/report/problems.js';
import { planText } from '../../src/report/text.js';
import { changeOf, fieldOf, planOf } from './plans.js';

const plain = { color: false, debug: false };

function id(index: number): string {
  return `40000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

/** Changes of `count` users, numbered from `first`. */
function users(count: number, parts: Partial<Change>, first = 0): Change[] {
  return [...Array(count).keys()].map((at) => {
    const index = first + at;
    return changeOf({
      kind: 'User',
      address: `User/${id(index)}`,
      label: `user${index}@acme.example`,
      declaredAt: { file: `manifests/${index % 2}.yaml`, line: index + 1 },
      ...parts,
    });
  });
}

const group = (before: string) => ({ fields: [fieldOf({ path: 'group', before, after: `${before} vpn` })] });

describe('equal changes of many objects', () => {
  const plan = planOf([...users(1333, group('staff')), ...users(667, group('ops'), 1333)]);

  it('are two folds of 2,000 users in text, with as many names as fit', () => {
    const text = planText(plan, plain);
    expect(text.split('\n').length).toBeLessThan(60);
    expect(text).toContain(
      '~ update 1,333 users: group "staff" → "staff vpn"  in manifests/0.yaml, manifests/1.yaml',
    );
    expect(text).toContain('~ update 667 users: group "ops" → "ops vpn"');
    expect(text).toMatch(
      / {4}user0@acme\.example, user1@acme\.example,[^~]* and 1,32\d more;\s+--format json\s+lists all of them/,
    );
    expect(text).toContain('Plan: 2000 to update');
  });

  it('are a comment that shows every value, and can be approved', () => {
    const { text, isWhole } = planComment(plan, plain);
    expect(text).toContain('### Users (2000)');
    expect(text).toContain('- **update** **1,333 users**: `group` `"staff"` → `"staff vpn"`');
    expect(text).toContain('- **update** **667 users**: `group` `"ops"` → `"ops vpn"`');
    expect(isWhole).toBe(true);
  });

  it('are two boxes on a page, which lists every object with its place', () => {
    const html = planHtml(plan, { ...plain, samples: new Map() });
    expect(html.match(/<details class="change/g)).toHaveLength(2);
    for (const { address, label } of plan.changes) {
      expect(html).toContain(`<code>${address}</code> (${label})`);
    }
    expect(html).toContain('manifests/1.yaml:2000');
    expect(html).toContain('<h2>Users (2000)</h2>');
  });

  it('are shown one by one with debug, or if there are few', () => {
    expect(planText(plan, { ...plain, debug: true })).toContain(
      `~ update User/${id(1999)} (user1999@acme.example)`,
    );
    expect(planText(planOf(users(3, group('staff'))), plain)).not.toMatch(/\d users\b/);
  });

  it('are listed with all names in every format if they are destructive', () => {
    const plan = planOf(
      users(200, {
        fields: [fieldOf({ path: 'blocked', before: false, after: true })],
        destructions: ['blocks the user'],
      }),
    );
    const text = planText(plan, plain).replaceAll(/\s+/g, ' ');
    const comment = planComment(plan, plain);
    for (const { address, label } of plan.changes) {
      expect(text).toContain(` ${address} (${label})`);
      expect(comment.text).toContain(`\`${address}\` (\`${label}\`)`);
    }
    expect(text).toContain('~ update 200 users: blocked false → true');
    // If names don't fit, the comment says so.
    const short = planComment(plan, { ...plain, budget: 3000 });
    expect(short.isWhole).toBe(false);
    expect(short.text).toMatch(/> \*\*[1-9]\d of 200 differences are shown\*\*/);
    expect(short.text).toMatch(
      /\*\*update\*\* 1\d\d users — \*\*destructive\*\* — `user[1-9]\d@acme\.example`/,
    );
  });

  it.each([
    ['a value on its line', group('x')],
    ['details', { fields: [fieldOf({ path: 'a' }), fieldOf({ path: 'b' })] }],
  ])('are shown in a comment with as many names as fit if they are privileged and have %s', (_, parts) => {
    const privileges = ['gives the scope users:manage:all'];
    const changes = [
      ...users(2000, { ...parts, privileges }),
      ...users(1, { ...parts, destructions: ['d'] }, 2000),
    ];
    const { text, isWhole } = planComment(planOf(changes), plain);
    const named = changes.filter(({ address }) => text.includes(`\`${address}\``)).length;
    const fields = parts.fields.length;
    expect(isWhole).toBe(false);
    expect(text.length).toBeGreaterThan(58_000);
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toContain(`> **${named * fields} of ${2001 * fields} differences are shown**`);
    const rest = (2001 - named).toLocaleString('en');
    expect(text).toContain(`**update** **${(named - 1).toLocaleString('en')} users**: \``);
    expect(text).toContain('**privileged:** gives the scope');
    expect(text).toContain(`**update** ${rest} users — **privileged** — \`user${named - 1}@`);
  });

  it.each<[string, (index: number) => Partial<Change>]>([
    ['a value', (index) => ({ fields: [fieldOf({ before: 'a', after: `b${index}` })] })],
    ['what was there', (index) => ({ fields: [fieldOf({ before: `a${index}`, after: 'b' })] })],
    ['another field', (index) => ({ fields: [fieldOf({ path: `metadata.k${index}` })] })],
    ['where the value comes from', (index) => ({ observed: index < 3 ? 'live' : 'unknown' })],
    ['a loss', (index) => ({ destructions: [`removes the membership of org${index}`] })],
    ['a reason', (index) => ({ action: 'blocked', reason: `the organization org${index} is not there` })],
    ['what a run left', (index) => ({ fields: [fieldOf({ drift: { run: 'r1', recorded: `x${index}` } })] })],
    ['a warning', (index) => ({ warnings: [{ code: 'not-in-list', message: `no role r${index}` }] })],
  ])('are not folded if they differ in %s', (_, parts) => {
    const changes = [0, 1, 2, 3, 4, 5].flatMap((index) =>
      users(1, { ...group('x'), ...parts(index) }, index),
    );
    const text = planText(planOf(changes), plain);
    expect(text).not.toMatch(/\d users\b/);
    for (const { address } of changes) expect(text).toContain(address);
  });

  it('are folded if only their names and the times of their records differ', () => {
    const changes = users(5, {}).map((change, index) => ({
      ...change,
      ...group('x'),
      observed: 'recorded' as const,
      recordedAt: `2026-01-0${index + 1}T00:00:00Z`,
      destructions: [`blocks ${change.label}`],
    }));
    const text = planText(planOf(changes), plain);
    expect(text).toContain('~ update 5 users  in');
    expect(text).toContain('recorded 2026-01-01T00:00:00Z to 2026-01-05T00:00:00Z,');
    expect(text).toContain('destructive: blocks …');
  });
});

describe('folded lines', () => {
  const drift = (recorded: string) => ({ fields: [fieldOf({ drift: { run: 'r1', recorded } })] });

  it('show drift, in text too', () => {
    expect(planText(planOf(users(5, drift('Old'))), plain)).toContain(
      'changed on the server since run r1 (was "Old")',
    );
  });

  it('name objects by address if several have the same name', () => {
    const same = users(5, group('x')).map((change) => ({ ...change, label: 'ada' }));
    expect(planText(planOf(same), plain)).toMatch(new RegExp(`User/${id(0)},\\s+User/${id(1)},`));
  });
});

describe('the members of a set that are sent', () => {
  const role = (...names: string[]) => [
    { id: '9', name: 'member', scopes: names.map((name, index) => ({ id: `s${index}`, name })) },
  ];
  const textOf = (before: FieldChange['before'], after: FieldChange['after']) =>
    planText(
      planOf([
        changeOf({
          fields: [fieldOf({ path: 'organizations', type: 'set', confirmed: true, before, after })],
        }),
      ]),
      plain,
    );

  it('are shown down to the scopes of added roles, or of all if the present set is unknown', () => {
    const added = [{ id: '1', name: 'acme', label: 'A label', roles: role('users:manage:all') }];
    for (const before of [[], undefined]) {
      expect(textOf(before, added)).toContain(
        'acme (label: "A label"; roles: member (scopes: users:manage:all))',
      );
    }
  });

  it('are shown as recorded if they are sent again', () => {
    const recorded = [{ id: '1', name: 'acme' }];
    expect(textOf(recorded, recorded)).toContain('= acme');
  });
});

describe('a problem that many documents have', () => {
  const place = (line: number) => ({ file: 'a.yaml', line, column: 1, length: 4, text: `grup: ${line}` });
  const problem = (line: number, message = 'unknown field "grup"') =>
    ({ severity: 'error', code: 'unknown-field', message, places: [place(line)] }) as const;

  it('is reported once, with its places', () => {
    const text = problemsText(
      [...Array(2000).keys()].map((index) => problem(index + 1)),
      plain,
    );
    expect(text.split('\n').length).toBeLessThan(20);
    expect(text.match(/error\[unknown-field\]/g)).toHaveLength(1);
    expect(text).toContain('also at a.yaml:4:1, 5:1,');
    expect(text).toContain(' and 1987 more');
    expect(text).toContain('2000 errors');
  });

  it('is reported each time if the message differs', () => {
    const text = problemsText(
      [1, 2, 3, 4, 5].map((line) => problem(line, `unknown field "f${line}"`)),
      plain,
    );
    expect(text.match(/error\[unknown-field\]/g)).toHaveLength(5);
  });
});
