import { expect, it } from 'vitest';
import {
  accessCsv,
  accessHtml,
  accessText,
  type ShownAccess,
  type ShownGrant,
} from '../../src/report/access.js';
import { treeOf } from './trees.js';

const grant: ShownGrant = {
  user: { id: 'u1', username: 'ada@acme.example' },
  type: 'scope',
  id: 's1',
  name: 'billing:read',
  via: null,
  privileged: false,
  blocked: false,
  since: null,
  run: null,
  declaredAt: null,
  until: null,
  ended: false,
};

function shown(...grants: Partial<ShownGrant>[]): ShownAccess {
  return {
    server: 'https://id.example.com',
    profile: 'boruta',
    environment: null,
    source: 'live',
    asOf: '2026-01-31T12:00:00.000Z',
    users: 2,
    grants: grants.map((one) => ({ ...grant, ...one })),
    notes: [],
    byGrant: false,
    isComplete: true,
  };
}

it.each([
  ['a formula', '=1+1', `"'=1+1"`],
  ['a sum', '+1', `"'+1"`],
  ['a difference', '-1', `"'-1"`],
  ['a function of old', '@SUM(A1)', `"'@SUM(A1)"`],
  ['a formula after white space', ' =1', `"' =1"`],
  ['a formula of full width', '＝1', `"'＝1"`],
  ['a comma and a quotation mark', 'a,"b"', '"a,""b"""'],
  ['a line break and an escape sequence', 'a\n\u001b[31m', 'a\\n\\u001b[31m'],
  ['a plain name', 'billing:read', 'billing:read'],
])('writes %s into a CSV cell', (_, name, cell) => {
  const [, line] = accessCsv(shown({ name })).split('\n');
  expect(line).toBe(`u1,ada@acme.example,scope,s1,${cell},,false,false,,,,`);
});

it('shows hostile text safely', () => {
  const user = { id: 'u1', username: '"><i>' };
  const hostile = shown({ name: '<b>x</b>\u001b[31m', via: '<script>', user });
  const { elements } = treeOf(accessHtml(hostile));
  expect(elements.filter(({ tag }) => ['b', 'i', 'script'].includes(tag))).toEqual([]);
  expect(accessText(hostile, { color: false })).not.toContain('\u001b');
});

it('groups by user, and marks privileged, blocked and inherited grants', () => {
  const place = { file: 'manifests/users.yaml', line: 4, column: 3, length: 1, text: '' };
  const given = { since: '2026-01-30T10:00:00.000Z', run: 'r1', declaredAt: place };
  const ended = { user: { id: 'u2', username: null }, until: '2026-01-31', ended: true };
  const access = shown(
    { type: 'organization', id: 'o1', name: 'acme', blocked: true },
    { privileged: true, via: 'admin', blocked: true, ...given },
    { type: 'role', name: null, id: 'ro1', ...ended },
  );
  const text = accessText(access, { color: false });
  expect(text).toContain(`Source:      live, 2026-01-31T12:00:00.000Z

ada@acme.example (u1) blocked
    organization acme
    scope billing:read privileged  via role admin, since 2026-01-30 by run r1, manifests/users.yaml:4

u2
    role ro1  ended 2026-01-31

2 of 2 users, 3 grants, 1 privileged (1 user), 1 ended.
`);
});
