import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readRuns } from '../../src/apply/find-runs.js';
import type { Json } from '../../src/base/values.js';
import { loadProject } from '../../src/project/index.js';
import { planGithub } from '../../src/report/github.js';
import { planHtml } from '../../src/report/html.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { pastRun } from '../../src/report/past.js';
import { runText } from '../../src/report/runs.js';
import { planText } from '../../src/report/text.js';
import { access } from '../../src/session/access.js';
import { readShownPlan, readStoredPlan } from '../../src/session/plan-file.js';
import { fileRuns } from '../../src/state/file/runs.js';
import { afterwards } from '../cleanups.js';
import { ids, journalLines, problemsOf, type Site, site, todo, user } from './site.js';

const ada = `User/${ids.ada}`;
const grace = `User/${ids.grace}`;
const byName = { kind: 'User', username: 'ada@acme.example' };

const organizations = (at: Site, id: string = ids.ada): string[] =>
  user(at, id)
    .organizations.map((one) => String(at.sandbox.data.organizations.find(({ id }) => id === one.id)?.name))
    .sort();

/** Replaces the clock, and returns a function that sets it. */
function clock(start: string): (now: string) => void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(start) });
  afterwards(() => vi.useRealTimers());
  return (now) => vi.setSystemTime(new Date(now));
}

describe('access that ends after the plan was made', () => {
  const until = '2027-01-31T12:00:00Z';
  const dated = { ...byName, organizations: { add: [{ name: 'initech', until }] } };

  test('is not granted by a plan that was shown before its end and is applied after it', async () => {
    const at = await site();
    const set = clock('2027-01-31T11:59:53Z');
    await at.declare(dated);
    const applied = at.applyAfter(() => set('2027-01-31T12:00:00Z'), false);
    expect(await problemsOf(applied)).toEqual(['stale-plan']);
    expect(at.writes()).toEqual([]);
    expect(organizations(at)).not.toContain('initech');
  });

  test('is not granted if it ends during the run, before its own request; the rest is applied', async () => {
    const at = await site({ concurrency: 1 });
    const set = clock('2027-01-31T11:59:53Z');
    at.fault = ({ method }) => {
      if (method === 'PATCH') set('2027-01-31T12:00:00Z');
      return undefined;
    };
    const also = { kind: 'User', id: ids.grace, organizations: { add: [{ name: 'initech', until }] } };
    const { statuses } = await at.apply({ kind: 'Organization', name: 'acme', label: 'Acme' }, dated, also);
    const stale = expect.stringMatching(/^skipped: not sent, stale: .*initech.* ended.* plan again/);
    expect(statuses).toMatchObject({ [ada]: stale, [grace]: expect.stringMatching(/^skipped: /) });
    expect(at.writes()).toEqual([expect.stringMatching(/organizations/)]);
    expect(organizations(at)).not.toContain('initech');
    expect(todo(await at.plan())).toEqual([]);
  });

  test('is not granted by a retry after its end', async () => {
    const at = await site();
    const set = clock('2027-01-31T11:59:53Z');
    at.fault = ({ method }) => {
      if (method !== 'PATCH') return undefined;
      set('2027-01-31T12:00:00Z');
      return { kind: 'answer', status: 503 };
    };
    const { statuses } = await at.apply(dated);
    expect(statuses[ada]).toMatch(/^skipped: not sent, stale: /);
    expect(at.writes()).toHaveLength(1);
  });
});

test('every format of a plan, stored plans and the journal show --now', async () => {
  const at = await site();
  at.now = new Date('2027-02-01T00:00:00Z');
  await at.declare({ ...byName, organizations: { add: ['initech'] } });
  const text = await at.session(async (opened) => await opened.storePlan(await opened.plan()));
  await writeFile(join(at.folder, 'plan.json'), text);
  const stored = await readShownPlan(join(at.folder, 'plan.json'));
  for (const plan of [await at.plan(), stored]) {
    const options = { color: false, debug: false, samples: new Map() };
    expect(planText(plan, options)).toContain('As of:       2027-02-01T00:00:00.000Z (--now)\n');
    expect(planMarkdown(plan, options)).toContain('As of `2027-02-01T00:00:00.000Z` (--now).');
    expect(planHtml(plan, options)).toContain('As of 2027-02-01T00:00:00.000Z (--now)');
    expect(planGithub(plan)).toContain('idops plan as of 2027-02-01T00:00:00.000Z (--now): ');
  }
  await at.apply();
  const [first = ''] = await journalLines(at);
  expect(JSON.parse(first)).toMatchObject({ now: '2027-02-01T00:00:00.000Z' });
  const { runs } = await readRuns(fileRuns(`${at.folder}/.idops/runs`));
  const [run] = await Promise.all(runs.map(pastRun));
  if (run === undefined) throw new Error('no run');
  expect(runText(run, { color: false, debug: false })).toContain(
    'As of:       2027-02-01T00:00:00.000Z (--now)\n',
  );
});

test('a stored plan can be applied with a --now close to other ends', async () => {
  const at = await site();
  at.now = new Date('2027-01-25T00:00:00Z');
  await at.declare({ ...byName, organizations: { add: [{ name: 'initech', until: '2027-01-31' }] } });
  const stored = await at.session(async (opened) => await opened.storePlan(await opened.plan()));
  at.now = new Date('2026-12-01T00:00:00Z');
  const again = await at.session((opened) => opened.planStored(readStoredPlan(stored, 'plan.json')));
  expect(again.problems).toEqual([]);
});

describe('existing access gets an end', () => {
  const add = (member: Json) => ({ ...byName, organizations: { add: [member] } });
  const dated = add({ name: 'initech', until: '2027-01-31' });

  async function isRemovedThen(at: Site): Promise<void> {
    expect(todo(await at.plan())).toEqual([]);
    at.now = new Date('2027-02-01T00:00:00Z');
    await at.apply();
    expect(organizations(at)).toEqual(['acme', 'globex']);
  }

  test('if idops granted it without one', async () => {
    const at = await site();
    at.now = new Date('2027-01-01T00:00:00Z');
    await at.apply(add('initech'));
    const { plan } = await at.apply(dated);
    expect(todo(plan)).toEqual([`adopt ${ada}`]);
    expect(plan.warnings).toEqual([]);
    await isRemovedThen(at);
  });

  test('if idops granted it with an end that was removed', async () => {
    const at = await site();
    at.now = new Date('2027-01-01T00:00:00Z');
    await at.apply(dated);
    await at.apply(add('initech'));
    const { plan } = await at.apply(dated);
    const received = { name: 'initech', at: '2027-01-31T00:00:00.000Z', received: true };
    expect(plan.changes[0]?.apply.until).toEqual({ organizations: { [ids.initech]: received } });
    await isRemovedThen(at);
  });

  test('not if idops removed it and somebody else granted it again', async () => {
    const at = await site();
    at.now = new Date('2027-01-01T00:00:00Z');
    await at.apply(add('initech'));
    await at.apply({ ...byName, organizations: { remove: ['initech'] } });
    user(at).organizations.push({ id: ids.initech, roles: [] });
    const plan = await at.plan(dated);
    expect(todo(plan)).toEqual([]);
    expect(plan.warnings.map(({ code }) => code)).toEqual(['end-not-in-force']);
  });

  test('after it was removed and granted again, as the warning says', async () => {
    const at = await site();
    user(at).organizations.push({ id: ids.initech, roles: [] });
    at.now = new Date('2027-01-01T00:00:00Z');
    await at.apply({ ...byName, organizations: { remove: ['initech'] } });
    await at.apply(dated);
    await isRemovedThen(at);
  });
});

describe('undo', () => {
  const add = (until: string) => ({ ...byName, organizations: { add: [{ name: 'initech', until }] } });
  const remove = { ...byName, organizations: { remove: ['initech'] } };
  const before = new Date('2027-01-01T00:00:00Z');
  const after = new Date('2027-02-01T00:00:00Z');

  test("doesn't restore access that a run removed before its end and that has ended since", async () => {
    const at = await site();
    at.now = before;
    await at.apply(add('2027-01-31'));
    const { run } = await at.apply(remove);
    at.now = after;
    const left = [`${ada}: access that has ended is not restored`];
    expect(await at.undo(run)).toMatchObject({ statuses: {}, left });
    expect(organizations(at)).not.toContain('initech');
  });

  test.each([
    ['a single member', remove],
    ['a whole set', { ...byName, organizations: ['acme', 'globex'] }],
  ])("restores access that hasn't ended, with its end: %s", async (_, without) => {
    const at = await site();
    at.now = before;
    await at.apply(add('2027-01-31'));
    const { run } = await at.apply(without);
    expect(await at.undo(run)).toMatchObject({ statuses: { [ada]: 'applied' }, left: [] });
    expect(organizations(at)).toContain('initech');
    at.now = after;
    await at.apply(add('2027-01-31'));
    expect(organizations(at)).not.toContain('initech');
  });

  test.each([
    ['a single member', (until: string) => add(until)],
    ['a whole set', (until: string) => ({ ...byName, organizations: ['acme', { name: 'initech', until }] })],
  ])('of a run that only changed an end restores the end: %s', async (_, until) => {
    const at = await site();
    at.now = before;
    await at.apply(until('2027-01-31'));
    const { run } = await at.apply(until('2027-06-30'));
    const undone = await at.undo(run);
    expect(undone).toMatchObject({ statuses: { [ada]: 'applied' }, left: [] });
    expect(undone.plan.changes[0]?.fields).toMatchObject([
      { before: '2027-06-30T00:00:00.000Z', after: '2027-01-31T00:00:00.000Z' },
    ]);
    at.writes();
    expect(todo(await at.plan())).toEqual([`adopt ${ada}`]);
    expect(todo(await at.plan(until('2027-01-31')))).toEqual([]);
  });

  test('leaves an end that was changed since or has passed, and grants nobody access', async () => {
    const at = await site();
    at.now = before;
    await at.apply(add('2027-01-31'));
    const { run } = await at.apply(add('2027-06-30'));
    at.now = after;
    const left = [`${ada}: its end before the run has passed`];
    expect(await at.undo(run)).toMatchObject({ statuses: {}, left });
    at.now = before;
    await at.apply(add('2027-07-31'));
    expect((await at.undo(run)).left).toEqual([expect.stringContaining('changed since the run')]);
    await at.apply(add('2027-06-30'));
    user(at).organizations = [];
    expect(await at.undo(run)).toMatchObject({ statuses: {} });
    expect(organizations(at)).toEqual([]);
  });
});

describe('under the profile documented, which shows no user', () => {
  const scope = (id: string, name: string) => ({ id, name, label: name });
  const whole = (...scopes: Json[]) => ({ kind: 'User', id: ids.grace, authorized_scopes: scopes });
  const dated = { ...scope(ids.reportsRead, 'reports:read'), until: '2027-01-31' };
  const scopes = (at: Site) => user(at, ids.grace).authorized_scopes.map(({ id }) => id);

  test('--ended removes ended access from a whole set, and sends no other declared value', async () => {
    const at = await site({ profile: 'documented' });
    at.now = new Date('2027-01-01T00:00:00Z');
    await at.apply(whole(scope('kept', 'kept'), dated));
    await at.declare({ ...whole(scope('other', 'other'), dated), group: 'not now' });
    at.now = new Date('2027-02-01T00:00:00Z');
    const { statuses, plan } = await at.end();
    expect(statuses).toEqual({ [grace]: 'applied' });
    expect(plan.changes).toMatchObject([
      { destructions: [expect.stringMatching(/^removes the scope "reports:read"/)] },
    ]);
    expect(scopes(at)).toEqual(['kept']);
    expect(user(at, ids.grace).group).not.toBe('not now');
    expect((await at.end()).plan.changes).toEqual([]);
  });

  test('--ended keeps labels and roles that answers leave out', async () => {
    const at = await site({ profile: 'documented' });
    const [kept, ended] = [ids.billingRead, ids.reportsRead].map((id) => ({ id, name: id }));
    const held = { id: ids.acme, roles: [{ id: ids.member, name: 'member' }] };
    const answer = (...authorized_scopes: readonly (object | undefined)[]) => {
      const data = { id: ids.ada, authorized_scopes, organizations: [{ id: ids.acme, name: 'acme' }] };
      at.fault = ({ method }) =>
        method === 'PATCH' ? { kind: 'answer', status: 200, body: { data } } : undefined;
    };
    const authorized_scopes = [
      { ...kept, label: 'Read' },
      { ...ended, label: 'R', until: '2027-01-31' },
    ];
    answer(kept, ended);
    await at.apply({ kind: 'User', id: ids.ada, authorized_scopes, organizations: [held] } as never);
    answer(kept);
    at.now = new Date('2027-02-01');
    const { plan } = await at.end();
    expect(plan.changes[0]?.requests[0]?.body).toEqual({ authorized_scopes: [{ ...kept, label: 'Read' }] });
    expect(todo(await at.plan())).toEqual([]);
  });

  test('undo restores a member of a whole set with its end, unless that has passed', async () => {
    const at = await site({ profile: 'documented' });
    at.now = new Date('2027-01-01T00:00:00Z');
    await at.apply(whole(scope('kept', 'kept'), dated));
    const { run } = await at.apply(whole(scope('kept', 'kept')));
    const undone = await at.undo(run);
    expect(undone).toMatchObject({ statuses: { [grace]: 'applied' }, left: [] });
    expect(scopes(at)).toEqual(['kept', ids.reportsRead]);
    at.now = new Date('2027-02-01T00:00:00Z');
    await at.apply(whole(scope('kept', 'kept'), dated));
    expect(scopes(at)).toEqual(['kept']);
  });
});

test('access that idops granted is removed even if its first end has already passed', async () => {
  const at = await site();
  await at.apply({ ...byName, organizations: { add: ['initech'] } });
  at.now = new Date('2027-02-01');
  const late = { ...byName, organizations: { add: [{ name: 'initech', until: '2027-01-31' }] } };
  expect(todo(await at.plan(late))).toEqual([`update ${ada}`]);
  await at.end();
  expect(organizations(at)).not.toContain('initech');
});

test('access that an unfinished update removed stays removed if it has ended since', async () => {
  const at = await site({ retries: 1 });
  const dated = { ...byName, organizations: { add: [{ name: 'initech', until: '2027-01-31' }] } };
  await at.apply(dated);
  at.fault = ({ method }) => (method === 'PATCH' ? { kind: 'cut', step: 4 } : undefined);
  await at.apply({ ...dated, group: 'other' });
  at.fault = undefined;
  expect(organizations(at)).toEqual([]);
  at.now = new Date('2027-02-01');
  await at.apply();
  expect(organizations(at)).toEqual(['acme', 'globex']);
});

test('safety.keep is counted again before a removal', async () => {
  const at = await site({ safety: { keep: [{ scope: 'billing:read', at_least: 1 }] } });
  const scope = user(at).authorized_scopes.find(({ name }) => name === 'billing:read');
  if (scope !== undefined) user(at, ids.grace).authorized_scopes.push({ ...scope });
  await at.declare({ ...byName, authorized_scopes: { remove: ['billing:read'] } });
  const { statuses } = await at.applyAfter(() => user(at, ids.grace).authorized_scopes.splice(0));
  expect(statuses).toEqual({ [ada]: expect.stringMatching(/^skipped: .*would leave 0/) });
  expect(at.writes()).toEqual([]);
});

test('the plan of a new user shows the ends, and access shows which run gave what', async () => {
  const at = await site();
  const { plan, run } = await at.apply(
    { kind: 'Backend', name: 'Staff', create: true },
    {
      kind: 'User',
      username: 'new@acme.example',
      backend: 'Staff',
      create: true,
      password: 'correct horse battery',
      organizations: { add: [{ name: 'initech', until: '2027-01-31' }] },
    },
  );
  const path = 'organizations["initech"].until';
  expect(plan.changes.flatMap(({ fields }) => fields)).toContainEqual(
    expect.objectContaining({ path, before: null, after: '2027-01-31T00:00:00.000Z' }),
  );
  expect(planText(plan, { color: false, debug: false })).toContain(path);
  const project = await loadProject({ cwd: at.folder, variables: { IDOPS_TOKEN: at.sandbox.token } });
  const wanted = { user: ['new@acme.example'], organization: ['initech'], scope: [], role: [] };
  expect((await access(project, {}, wanted)).grants).toMatchObject([{ run, since: expect.any(String) }]);
});

test('--ended with a target of which nothing has ended does nothing', async () => {
  const at = await site();
  await at.declare({ ...byName, group: 'other' });
  const plan = (target: string) => at.session((opened) => opened.plan({ ended: true, targets: [target] }));
  expect(todo(await plan('User/ada@acme.example'))).toEqual([]);
  expect(await problemsOf(plan('User/grace@acme.example'))).toEqual(['no-such-target']);
});

test('an until may be written with small letters', async () => {
  const at = await site();
  await at.apply({ ...byName, organizations: { add: [{ name: 'initech', until: '2027-01-31t12:00:00z' }] } });
  expect((await at.plan()).holdsUntil).toBe('2027-01-31T12:00:00.000Z');
});

test('a run shows the ends that it set and changed', async () => {
  const at = await site();
  await at.apply({ ...byName, organizations: { add: [{ name: 'initech', until: '2027-01-31' }] } });
  await at.apply({ ...byName, organizations: { add: [{ name: 'initech', until: '2027-06-30' }] } });
  const { runs } = await readRuns(fileRuns(`${at.folder}/.idops/runs`));
  const last = (await Promise.all(runs.map(pastRun))).at(-1);
  expect(last?.changes[0]?.change.fields).toMatchObject([
    { before: '2027-01-31T00:00:00.000Z', after: '2027-06-30T00:00:00.000Z' },
  ]);
});
