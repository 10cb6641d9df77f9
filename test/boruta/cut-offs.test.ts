import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { approve } from '../../src/plan/approve.js';
import {
  always,
  changeOf,
  comparable,
  ids,
  memberships,
  once,
  removeRow,
  type Site,
  site,
  templateOf,
  todo,
  user,
} from './site.js';

const ada = `User/${ids.ada}`;
const newGroup = { kind: 'User', id: ids.ada, group: 'ops' };
/** The server's writes for a PATCH of a user; after the last one, everything is done. */
const steps = [1, 2, 3, 4, 5, 6];

/** Interrupts the server in every PATCH after the given number of writes. */
function cut(at: Site, step = 4): void {
  always(at, 'PATCH', { kind: 'cut', step });
}

/** The expected data at the end: only the group differs from the start. */
function expectedEnd(at: Site) {
  const start = at.sandbox.snapshot();
  const found = start.users.find(({ id }) => id === ids.ada);
  if (found !== undefined) found.group = 'ops';
  return comparable(start);
}

describe.each(['cut', 'drop'] as const)('a PATCH that is cut off (%s)', (kind) => {
  test.each(steps)('after step %i, once: the same run applies everything', async (step) => {
    const at = await site();
    const goal = expectedEnd(at);
    once(at, 'PATCH', { kind, step });
    expect((await at.apply(newGroup)).statuses).toEqual({ [ada]: expect.stringMatching(/^applied/) });
    expect(comparable(at.sandbox.snapshot())).toEqual(goal);
    expect(todo(await at.plan())).toEqual([]);
  });

  test.each(steps)(
    'after step %i, each time: the loss is a pending restore until it is restored',
    async (step) => {
      const at = await site({ retries: 1 });
      const goal = expectedEnd(at);
      always(at, 'PATCH', { kind, step });
      const ran = await at.apply(newGroup);
      const { authorized_scopes, organizations, roles } = user(at);
      const lost = [authorized_scopes, organizations, roles].some((list) => list.length === 0);
      if (lost) {
        expect(ran.statuses[ada]).toMatch(
          /^failed: .*; read back: group: asked .*; lost: .*, which the next apply that includes it restores$/,
        );
      }
      // Only the group was requested, and the server writes it first.
      else expect(ran.statuses[ada]).toBe('applied');
      at.fault = undefined;
      if (lost) {
        const change = changeOf(await at.plan(), ada);
        expect(change.warnings.map(({ code }) => code)).toContain('restores');
      }
      expect((await at.apply()).statuses[ada] ?? 'applied').toBe('applied');
      expect(comparable(at.sandbox.snapshot())).toEqual(goal);
      expect(todo(await at.plan())).toEqual([]);
    },
  );
});

describe('a pending restore', () => {
  async function owing(step = 4): Promise<Site> {
    const at = await site({ retries: 1 });
    cut(at, step);
    await at.apply(newGroup);
    at.fault = undefined;
    return at;
  }

  test('that is cut off again is reported without a gap', async () => {
    const at = await owing();
    cut(at);
    const { statuses } = await at.apply({ kind: 'User', id: ids.ada, group: 'staff finance' });
    expect(statuses[ada]).toMatch(
      /^failed: .*; read back: lost: organizations \(.*\), which the next apply that includes it restores$/,
    );
  });

  test.each([
    ['another kind', { kinds: ['Organization'] }],
    ['another object', { targets: ['Organization/*'] }],
  ])('is reported if only %s is selected, and the run exits 1', async (_, selection) => {
    const at = await owing();
    await at.declare(newGroup, { kind: 'Organization', name: 'acme', label: 'New' });
    const told = { code: 'restores-left-out', message: expect.stringMatching(`1 object .*\\(${ada}\\)`) };
    expect((await at.session((opened) => opened.plan(selection))).warnings).toEqual([told]);
    const run = () =>
      at.writing(
        'apply',
        async (opened) => await opened.apply(approve(await opened.plan(selection), { maxDestructive: 10 })),
      );
    const first = await run();
    expect(first.result.results.map(({ status }) => status)).toEqual(['applied']);
    expect(first.problems).toEqual([expect.objectContaining({ ...told, severity: 'error' })]);
    const idle = await run();
    expect(idle.result.run).toBeNull();
    expect(idle.problems).toEqual([expect.objectContaining(told)]);
    expect((await at.apply()).statuses).toEqual({ [ada]: 'applied' });
    expect((await at.session((opened) => opened.plan(selection))).warnings).toEqual([]);
    expect((await run()).problems).toEqual([]);
  });

  test('is planned even if no manifest names the object any more', async () => {
    const start = comparable((await site()).sandbox.snapshot());
    const at = await owing();
    await at.declare({ kind: 'Organization', name: 'acme' });
    const plan = await at.plan();
    expect(changeOf(plan, ada)).toMatchObject({ action: 'update', declaredAt: null });
    expect((await at.apply()).statuses).toEqual({ [ada]: 'applied' });
    expect(todo(await at.plan())).toEqual([]);
    const after = at.sandbox.snapshot();
    const left = after.users.find(({ id }) => id === ids.ada);
    // The undo keeps the group, because its change was requested and done.
    if (left !== undefined) left.group = 'staff finance';
    expect(comparable(after)).toEqual(start);
  });

  test('shows the restored members, even if a document names others', async () => {
    const at = await owing();
    const plan = await at.plan({ kind: 'User', id: ids.ada, organizations: { add: ['initech'] } });
    const after = changeOf(plan, ada).fields.find(({ path }) => path === 'organizations')?.after;
    const given = (after as { id: string }[]).map(({ id }) => id);
    expect(given.sort()).toEqual([ids.acme, ids.globex, ids.initech]);
  });

  test('is dropped only for a field that somebody set since', async () => {
    const at = await owing();
    expect(user(at)).toMatchObject({ organizations: [] });
    const lostScopes = user(at).authorized_scopes.length === 0;
    user(at).organizations = [{ id: ids.initech, roles: [] }];
    expect((await at.plan()).warnings).toMatchObject([
      { code: 'restores-dropped', message: expect.stringMatching(/"acme".*isn't restored/) },
    ]);
    await at.apply();
    expect(user(at).organizations.map(({ id }) => id)).toEqual([ids.initech]);
    if (lostScopes) expect(user(at).authorized_scopes).not.toEqual([]);
    // A pending restore that was given up doesn't return if the field changes.
    user(at).organizations = [];
    expect(todo(await at.plan())).toEqual([]);
  });

  test('survives another failed run', async () => {
    const at = await owing();
    cut(at);
    await at.apply();
    at.fault = undefined;
    await at.apply();
    expect(memberships(at)).toEqual([ids.acme, ids.globex]);
  });

  test('is restored by undoing the run too', async () => {
    const at = await site({ retries: 1 });
    const start = comparable(at.sandbox.snapshot());
    cut(at);
    const ran = await at.apply(newGroup);
    at.fault = undefined;
    await at.undo(ran.run);
    expect(comparable(at.sandbox.snapshot())).toEqual(start);
  });

  test('undoing the run that restored it restores the former values, not the gap', async () => {
    const start = comparable((await site()).sandbox.snapshot());
    const at = await owing();
    const mended = await at.apply();
    await at.undo(mended.run);
    const after = at.sandbox.snapshot();
    const left = after.users.find(({ id }) => id === ids.ada);
    if (left !== undefined) left.group = 'staff finance';
    expect(comparable(after)).toEqual(start);
  });

  test.each([
    ['organizations', 4, ids.acme],
    ['scopes', 2, ids.billingRead],
    ['roles', 6, ids.member],
  ] as const)('comes back without what the server has no longer: %s', async (list, step, gone) => {
    const at = await owing(step);
    const rows: { id: string }[] = at.sandbox.data[list];
    removeRow(rows, gone);
    for (const membership of user(at).organizations) {
      if (list === 'roles') membership.roles = membership.roles.filter(({ id }) => id !== gone);
    }
    expect(
      Object.values((await at.apply(newGroup)).statuses).filter((statuses) => statuses !== 'applied'),
    ).toEqual([]);
    const left = user(at);
    const all = [...left.organizations, ...left.authorized_scopes, ...left.roles].map(({ id }) => id);
    expect(all).not.toContain(gone);
    if (list === 'organizations') expect(all).toContain(ids.globex);
    if (list === 'scopes') expect(all).toContain(ids.billingWrite);
    expect(todo(await at.plan())).toEqual([]);
  });

  test('of a deleted user blocks nothing', async () => {
    const at = await owing();
    removeRow(at.sandbox.data.users, ids.ada);
    await at.declare({ kind: 'Organization', name: 'acme' });
    expect(todo(await at.plan())).toEqual([]);
  });

  test('is found in the journals after the state was lost', async () => {
    const at = await owing();
    rmSync(join(at.folder, '.idops', 'state.json'));
    const change = changeOf(await at.plan(), ada);
    expect(change.warnings.map(({ code }) => code)).toContain('restores');
    expect((await at.apply()).statuses).toEqual({ [ada]: 'applied' });
    expect(user(at).organizations.map(({ id }) => id)).toEqual([ids.acme, ids.globex]);
    rmSync(join(at.folder, '.idops', 'state.json'));
    // A restored value is no longer pending.
    user(at).organizations = [];
    expect(todo(await at.plan())).toEqual([]);
  });

  test('of a template is found after the state was lost too', async () => {
    const at = await site({ retries: 0 });
    const type = 'reset_password_instructions';
    const html = templateOf(at)?.html_content;
    always(at, 'PATCH', { kind: 'answer', status: 500, body: {} });
    await at.apply({ kind: 'EmailTemplate', backend_id: ids.backend, type, txt_content: 'own' });
    at.fault = undefined;
    rmSync(join(at.folder, '.idops', 'state.json'));
    await at.apply();
    expect(templateOf(at)).toMatchObject({ txt_content: 'own', html_content: html });
  });

  test('is restored by undoing the run, after the state was lost too', async () => {
    const at = await owing();
    const [run = ''] = readdirSync(join(at.folder, '.idops', 'runs')).slice(-1);
    rmSync(join(at.folder, '.idops', 'state.json'));
    await at.undo(run.replace('.jsonl', ''));
    expect(memberships(at)).toEqual([ids.acme, ids.globex]);
  });
});
