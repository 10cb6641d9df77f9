import { expect, it } from 'vitest';
import { type Doc, ids, site, todo } from './site.js';

const [read, write, reports] = [ids.billingRead, ids.billingWrite, ids.reportsRead];
const scope = (id: string, name: string): Doc => ({ kind: 'Scope', id, name });
const role = (id: string, name: string): Doc => ({ kind: 'Role', id, name });

it.each<[string, readonly Doc[], readonly string[]]>([
  [
    'scopes',
    [scope(read, 'billing:write'), scope(write, 'reports:read'), scope(reports, 'a')],
    [reports, write, read].map((id) => `PATCH /api/scopes/${id}`),
  ],
  [
    'roles, of which one is new',
    [
      { ...role(ids.nobody, 'member'), create: true },
      role(ids.member, 'accountant'),
      role(ids.accountant, 'clerk'),
    ],
    [`PATCH /api/roles/${ids.accountant}`, `PATCH /api/roles/${ids.member}`, 'POST /api/roles'],
  ],
])('a chain of renames of %s begins with the last', async (_, documents, writes) => {
  const at = await site();
  const { plan, results, run } = await at.apply(...documents);
  expect(results.map(({ status }) => status)).toEqual(documents.map(() => 'applied'));
  expect(at.writes()).toEqual(writes);
  expect(results.map(({ address }) => address)).toEqual(plan.changes.map(({ address }) => address));
  expect(todo(await at.plan())).toEqual([]);
  const { left } = await at.undo(run);
  // A role is deleted after all renames.
  const isNew = documents.some(({ create }) => create === true);
  expect(left).toEqual(
    isNew ? Array(2).fill(expect.stringMatching(/in an earlier run|rename that one first/)) : [],
  );
});

it('a change that takes a name is not sent if the object keeps it', async () => {
  const at = await site();
  at.fault = ({ method, path }) =>
    method === 'PATCH' && path.endsWith(write) ? { kind: 'answer', status: 422, body: {} } : undefined;
  const { statuses } = await at.apply(scope(read, 'billing:write'), scope(write, 'a'));
  expect(Object.values(statuses)).toEqual([
    expect.stringMatching(/^failed/),
    'skipped: not sent: Scope/a must be changed first, and it was not',
  ]);
});

it.each<[string, readonly Doc[], string]>([
  [
    'of an object that another document renames to the name that this one had',
    [scope(read, 'billing:write'), scope(write, 'billing:read')],
    'rename one of them to a third name first',
  ],
  [
    'of an object that the plan leaves as it is',
    [scope(read, 'billing:write'), { kind: 'Scope', id: write, label: 'x' }],
    `the server has another scope "billing:write", with the id ${write}: rename that one first`,
  ],
  [
    'of an object that the plan deletes, which comes later',
    [role(ids.member, 'accountant'), { kind: 'Role', id: ids.accountant, state: 'absent' }],
    `the role "accountant" is deleted only after this: delete it in an earlier run`,
  ],
])('a rename to the name %s is blocked', async (_, documents, reason) => {
  const at = await site();
  for (const one of at.sandbox.data.users) Object.assign(one, { roles: [], organizations: [] });
  for (const one of at.sandbox.data.backends) one.roles = [];
  const { changes } = await at.plan(...documents);
  const [blocked] = changes.filter(({ action }) => action === 'blocked');
  expect(blocked?.reason).toContain(reason);
});

it.each<[string, Doc, Doc[]]>([
  [
    'organization of a user',
    { kind: 'User', id: ids.grace, organizations: { add: ['acme'] } },
    [
      { kind: 'Organization', id: ids.acme, name: 'globex' },
      { kind: 'Organization', id: ids.globex, name: 'acme' },
    ],
  ],
  [
    'scope of a user',
    { kind: 'User', id: ids.grace, authorized_scopes: { add: ['billing:write'] } },
    [scope(read, 'billing:write'), scope(write, 'a')],
  ],
  [
    'role of a user',
    { kind: 'User', id: ids.grace, roles: { add: ['accountant'] } },
    [role(ids.member, 'accountant'), role(ids.accountant, 'clerk')],
  ],
  [
    'scope of a client',
    { kind: 'Client', id: ids.portal, authorized_scopes: { add: ['billing:write'] } },
    [scope(read, 'billing:write'), scope(write, 'a')],
  ],
])(
  'a name that one object has and another takes is ambiguous, so the %s is blocked',
  async (_, document, all) => {
    const at = await site();
    expect(todo(await at.plan(document, ...all)).filter((one) => one.startsWith('blocked'))).toEqual([
      expect.stringMatching(new RegExp(`^blocked ${document.kind}/.*2 \\w+s are called`)),
    ]);
  },
);

it('a reference by the live name of an organization that the plan renames is applied', async () => {
  const at = await site();
  const { statuses } = await at.apply(
    { kind: 'Organization', id: ids.initech, name: 'initech 2' },
    { kind: 'User', id: ids.grace, organizations: { add: ['initech'] } },
  );
  expect(Object.values(statuses)).toEqual(['applied', 'applied']);
});

it('organizations and backends may swap their names', async () => {
  const at = await site();
  const { statuses } = await at.apply(
    { kind: 'Organization', id: ids.acme, name: 'globex' },
    { kind: 'Organization', id: ids.globex, name: 'acme' },
  );
  expect(Object.values(statuses)).toEqual(['applied', 'applied']);
});
