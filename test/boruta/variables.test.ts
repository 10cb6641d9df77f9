import { describe, expect, it } from 'vitest';
import { type Doc, ids, problemsOf, type SiteOptions, site, todo } from './site.js';

/** Documents whose values come from process variables. */
const from = (variables: NonNullable<SiteOptions['variables']>, options: SiteOptions = {}) =>
  site({ ...options, variables });
const yes = { IDOPS_B: 'true' };
const B = '${IDOPS_B}';
const grace: Doc = { kind: 'User', id: ids.grace };

describe('a guard uses the value of a process variable', () => {
  it.each<[string, 'documented' | 'boruta', Doc, string]>([
    ['blocks a user', 'documented', { ...grace, blocked: B }, 'blocks the user'],
    [
      'moves the default key pair',
      'boruta',
      { kind: 'KeyPair', id: ids.secondKey, is_default: B },
      `moves the default key pair from KeyPair/${ids.firstKey}`,
    ],
  ])('that %s: it is destructive', async (_, profile, document, destruction) => {
    const at = await from(yes, { profile });
    const { plan, statuses } = await at.apply(document);
    expect(plan.changes.flatMap(({ destructions }) => destructions)).toEqual([destruction]);
    expect(Object.values(statuses)).toEqual(['applied']);
    expect(at.writes()).toHaveLength(1);
    expect(todo(await at.plan())).toEqual([]);
  });

  it('that renames a scope to a privileged name, and hides it', async () => {
    const at = await from({ IDOPS_N: 'users:manage:all' });
    const rename: Doc = { kind: 'Scope', id: ids.billingRead, name: '${IDOPS_N}' };
    const { changes } = await at.plan(
      rename,
      { ...grace, roles: { add: [{ id: ids.member }] } },
      { kind: 'Role', id: ids.member, scopes: { add: [{ id: ids.billingRead }] } },
    );
    const given = changes.flatMap(({ kind, privileges = [] }) => privileges.map((one) => `${kind} ${one}`));
    expect(given).toEqual([
      'Scope gives the scope (sensitive)',
      `Role gives the scope "${ids.billingRead}"`,
      `User gives the scope "${ids.billingRead}" by the role "member"`,
    ]);
    expect(JSON.stringify(given)).not.toContain('manage');
  });

  it('that renames a scope of safety.keep', async () => {
    const safety = { keep: [{ scope: 'billing:read', at_least: 1 }] };
    const at = await from({ IDOPS_N: 'bills:read' }, { safety });
    const { changes } = await at.plan({ kind: 'Scope', id: ids.billingRead, name: '${IDOPS_N}' });
    expect(changes.map(({ action, reason }) => `${action}: ${reason}`)).toEqual([
      expect.stringMatching(/^blocked: this plan would leave 0 with the scope "billing:read"/),
    ]);
  });

  it('that keeps the name of a protected scope', async () => {
    const at = await from({ IDOPS_N: 'billing:read' }, { safety: { protect: ['Scope/billing:read'] } });
    const { changes } = await at.plan({
      kind: 'Scope',
      id: ids.billingRead,
      name: '${IDOPS_N}',
      label: 'new',
    });
    expect(changes.map(({ action, reason }) => `${action}: ${reason}`)).toEqual([
      expect.stringMatching(/^blocked: safety.protect has Scope\/billing:read/),
    ]);
  });

  it('that takes the name of another scope, and hides it', async () => {
    const at = await from({ IDOPS_N: 'billing:write' });
    const rename: Doc = { kind: 'Scope', id: ids.billingRead, name: '${IDOPS_N}' };
    const { changes } = await at.plan(rename);
    expect(changes.map(({ reason }) => reason)).toEqual([
      expect.stringContaining(`the server has another scope "(sensitive)", with the id ${ids.billingWrite}`),
    ]);
    const typo: Doc = { ...grace, authorized_scopes: { add: ['billing:writess'] } };
    const suggested = await at.plan({ ...rename, name: '${IDOPS_N}s' }, typo);
    const reasons = suggested.changes.map(({ reason }) => reason);
    expect(reasons).toEqual([null, expect.stringContaining('did you mean "billing:write"?')]);
  });

  it('that gives an id a wrong name beside it', async () => {
    const at = await from({ IDOPS_N: 'bills:read' });
    const rename: Doc = { kind: 'Scope', id: ids.billingRead, name: '${IDOPS_N}' };
    const wrong = { id: ids.billingRead, name: 'harmless' };
    const { changes } = await at.plan(rename, {
      ...grace,
      kind: 'User',
      authorized_scopes: { add: [wrong] },
    });
    expect(changes.map(({ kind, action }) => `${kind} ${action}`)).toEqual(['Scope update', 'User blocked']);
  });
});

it.each(['KeyPair', 'Backend'])(
  'two defaults of a %s are refused, also from process variables',
  async (kind) => {
    const at = await from(yes);
    const pair = kind === 'KeyPair' ? [ids.firstKey, ids.secondKey] : [ids.backend, ids.nobody];
    const found = problemsOf(at.plan(...pair.map((id): Doc => ({ kind, id, is_default: B }))));
    expect((await found).map((one) => one.split(' ')[0])).toEqual(['two-defaults']);
  },
);

describe('a body with a value from a process variable', () => {
  const tx: Doc = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code' };

  it.each<[string, string, Doc]>([
    [
      'without its code',
      'missing-link',
      { ...tx, txt_content: 'no code ${IDOPS_X}', html_content: '<p>${IDOPS_X}</p>' },
    ],
    [
      'that is no template',
      'template-syntax',
      { ...tx, txt_content: '{{ user.backend.name }} {{# ${IDOPS_X} }}' },
    ],
  ])('%s is blocked, and shown nowhere', async (_, code, document) => {
    const at = await from({ IDOPS_X: 'hunter' }, { settings: { checks: {} } });
    const { changes } = await at.plan(document);
    expect(changes.map(({ action, reason }) => `${action} ${reason}`)).toEqual([
      expect.stringMatching(`^blocked .*\\(${code} is an error here\\)`),
    ]);
    expect(JSON.stringify(changes)).not.toContain('hunter');
  });
});

it('a member of a nested set that the server decides makes no second update', async () => {
  const scopes = [{ id: ids.billingRead, name: 'billing:read', public: B }];
  const roles = [{ id: ids.member, name: 'member', scopes }];
  const at = await from(yes, { profile: 'documented' });
  await at.apply({ ...grace, organizations: [{ id: ids.acme, roles }] });
  expect(todo(await at.plan())).toEqual([]);
});

it('an access_token_ttl that the server refuses is blocked without its value', async () => {
  const at = await from({ IDOPS_T: '900' });
  const { changes } = await at.plan({ kind: 'Client', id: ids.portal, access_token_ttl: '${IDOPS_T}' });
  expect(changes.map(({ action, reason }) => `${action}: ${reason}`)).toEqual([
    expect.stringMatching(/^blocked: .*access_token_ttl of \(sensitive\) seconds/),
  ]);
});
