import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/base/problems.js';
import { approve } from '../../src/plan/approve.js';
import { loadProject, type Project } from '../../src/project/index.js';
import { openForWriting, openSession } from '../../src/session/open.js';
import { readStoredPlan } from '../../src/session/plan-file.js';
import type { WritingSession } from '../../src/session/session.js';
import { applyAll } from '../approving.js';
import { ids, type Site, site } from '../boruta/site.js';
import { gate } from '../e2e/gate.js';

const ada = { kind: 'User', id: ids.ada, group: 'audit' };
const acme = { kind: 'Organization', id: ids.acme, label: 'New' };
const regenerated = (generation: number) => ({ kind: 'Client', id: ids.portal, did_generation: generation });
const any = { maxDestructive: Number.POSITIVE_INFINITY };

async function projectOf({ folder, sandbox }: Site, config = 'idops.yaml'): Promise<Project> {
  return await loadProject({ cwd: folder, variables: { IDOPS_TOKEN: sandbox.token }, config });
}

async function opened(at: Site): Promise<WritingSession> {
  return await openForWriting(await projectOf(at), 'apply');
}

async function codesOf(work: () => unknown): Promise<string[]> {
  try {
    await work();
  } catch (failure) {
    if (failure instanceof ProblemsError) return failure.problems.map(({ code }) => code);
    throw failure;
  }
  return [];
}

describe('only a session for writing can apply', () => {
  test('a session for planning has no apply', async () => {
    const at = await site();
    await at.declare(acme);
    const session = await openSession(await projectOf(at));
    expect(Object.keys(session)).not.toContain('apply');
    // @ts-expect-error: the type has no apply.
    expect(() => session.apply(undefined)).toThrow(TypeError);
    await session.close();
  });

  test('a session for writing holds the lock until it is closed', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await projectOf(at);
    const first = await openForWriting(project, 'apply');
    expect(await codesOf(() => openForWriting(project, 'apply'))).toEqual(['locked']);
    const plan = await first.plan();
    await first.close();
    const second = await openForWriting(project, 'apply');
    await expect(first.apply(approve(plan, { maxDestructive: 0 }))).rejects.toThrow('this session is closed');
    await second.close();
    expect(at.writes()).toEqual([]);
  });

  test("a stale stored plan can't be approved", async () => {
    const at = await site();
    await at.declare(acme);
    const stored = await at.session(async (session) => {
      const plan = await session.plan();
      return readStoredPlan(await session.storePlan(plan), 'plan.json');
    });
    await at.declare({ ...acme, label: 'Newer' });
    await at.writing('apply', async (session) => {
      const { plan, problems } = await session.planStored(stored);
      expect(problems.map(({ code }) => code)).toEqual(['stale-plan']);
      expect(await codesOf(() => approve(plan, { maxDestructive: 100 }))).toEqual(['stale-plan']);
    });
    expect(at.writes()).toEqual([]);
  });

  const template = {
    kind: 'EmailTemplate',
    backend_id: ids.backend,
    type: 'tx_code',
    html_content: '<p>{{ code }}</p>',
    txt_content: '{{ code }}',
  };
  const user = { kind: 'User', id: ids.grace, authorized_scopes: { add: ['billing:read'] } };

  test.each([
    [
      'a check that fails now',
      template,
      { 'html-charset': 'error' },
      {},
      'is blocked now: .*html-charset is an error here',
    ],
    ['`checks`', template, { 'html-charset': 'off' }, {}, 'checks changed in the configuration'],
    ['`safety`', user, {}, { privileged: ['billing:*'] }, 'safety changed in the configuration'],
  ])(
    'a stored plan is stale after a change of the configuration, and the reason names %s',
    async (_, doc, checks, safety, reason) => {
      const at = await site();
      await at.declare(doc);
      const stored = await at.session(async (session) =>
        readStoredPlan(await session.storePlan(await session.plan()), 'plan.json'),
      );
      const file = join(at.folder, 'idops.yaml');
      const before = JSON.parse(await readFile(file, 'utf8'));
      const after = {
        ...before,
        checks: { ...before.checks, ...checks },
        safety: { ...before.safety, ...safety },
      };
      await writeFile(file, JSON.stringify(after));
      const { problems } = await at.session((session) => session.planStored(stored));
      expect(problems).toMatchObject([{ code: 'stale-plan', message: expect.stringMatching(reason) }]);
    },
  );
});

describe('the lock of a session', () => {
  test('prevents writing if it was lost, and no run is journalled', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await projectOf(at);
    const first = await openForWriting(project, 'apply');
    const approved = approve(await first.plan(), { maxDestructive: 0 });
    await rm(join(at.folder, '.idops/state.json.lock'));
    expect(await codesOf(() => first.apply(approved))).toEqual(['locked']);
    const second = await openForWriting(project, 'undo');
    const again = approve(await first.plan(), { maxDestructive: 0 });
    const failure = await first.apply(again).catch((thrown: unknown) => thrown);
    expect(String(failure)).toMatch(/lock.*undo by/);
    await first.close();
    expect(await codesOf(() => openForWriting(project, 'apply'))).toEqual(['locked']);
    await second.close();
    expect(at.writes()).toEqual([]);
    expect(await readdir(join(at.folder, '.idops'))).toEqual([]);
  });

  test.skipIf(process.platform === 'win32')('is the same through any symbolic links', async () => {
    const at = await site();
    const folder = join(at.folder, '.idops');
    await at.apply(acme);
    await mkdir(join(at.folder, 'kept'));
    await rename(join(folder, 'state.json'), join(at.folder, 'kept/real.json'));
    await rename(join(folder, 'runs'), join(at.folder, 'kept/runs'));
    await symlink('../kept/real.json', join(folder, 'state.json'));
    const config = JSON.parse(await readFile(join(at.folder, 'idops.yaml'), 'utf8'));
    const other = JSON.stringify({ ...config, state: { path: 'kept/real.json' } });
    await writeFile(join(at.folder, 'other.yaml'), other);
    const [linked, direct] = [await projectOf(at), await projectOf(at, 'other.yaml')];
    const session = await openForWriting(linked, 'apply');
    expect(await codesOf(() => openForWriting(direct, 'apply'))).toEqual(['locked']);
    const run = await session.lastRun();
    await session.close();
    const second = await openForWriting(direct, 'apply');
    expect(await codesOf(() => openForWriting(linked, 'apply'))).toEqual(['locked']);
    expect(await second.lastRun()).toBe(run);
    await second.close();
    expect(await readdir(folder)).toEqual(['state.json']);
  });
});

describe('an approval', () => {
  test.each(['documented', 'boruta'] as const)(
    'is valid for one apply: a DID is regenerated once (%s)',
    async (profile) => {
      const at = await site({ profile });
      await at.apply(regenerated(1));
      await at.declare(regenerated(2));
      at.writes();
      await at.writing('apply', async (session) => {
        const plan = await session.plan();
        const approved = approve(plan, any);
        await session.apply(approved);
        await expect(session.apply(approved)).rejects.toThrow(TypeError);
        await expect(session.apply(approve(plan, any))).rejects.toThrow('before an apply in this one');
      });
      expect(at.writes()).toEqual([`POST /api/clients/${ids.portal}/regenerate_did`]);
    },
  );

  test('is invalid after an apply with unknown outcome, as is an earlier plan', async () => {
    const at = await site();
    await at.apply(regenerated(1));
    await at.declare(regenerated(2), acme);
    at.writes();
    at.fault = ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'after' } : undefined);
    await at.writing('apply', async (session) => {
      const all = await session.plan();
      const some = await session.plan({ kinds: ['Client'] });
      const { result } = await session.apply(approve(all, any));
      expect(result.results.map(({ status }) => status)).toContain('unknown');
      await expect(session.apply(approve(some, any))).rejects.toThrow(TypeError);
      const again = await session.plan();
      expect(again.changes.find(({ kind }) => kind === 'Client')?.action).toBe('blocked');
    });
    expect(at.writes().filter((write) => write.startsWith('POST'))).toHaveLength(1);
  });

  test('is invalid if its plan began before an apply ended', async () => {
    const at = await site();
    await at.declare(acme);
    await at.writing('apply', async (session) => {
      const approved = approve(await session.plan(), any);
      const before = session.plan();
      const applying = session.apply(approved);
      const during = session.plan();
      await applying;
      for (const plan of [await before, await during]) {
        await expect(session.apply(approve(plan, any))).rejects.toThrow(TypeError);
      }
      await session.apply(approve(await session.plan(), any));
    });
    expect(at.writes()).toHaveLength(1);
  });

  test('is refused while another apply runs', async () => {
    const at = await site();
    await at.declare(ada, acme);
    await at.writing('apply', async (session) => {
      const users = approve(await session.plan({ kinds: ['User'] }), any);
      const others = approve(await session.plan({ kinds: ['Organization'] }), any);
      const [first, second] = await Promise.allSettled([session.apply(users), session.apply(others)]);
      expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
      const plan = await session.plan();
      expect(plan.changes.map(({ kind, action }) => [kind, action])).toEqual([
        ['Organization', 'update'],
        ['User', 'unchanged'],
      ]);
    });
    expect(at.writes()).toEqual([`PATCH /api/users/${ids.ada}`]);
  });
});

describe('closing a session', () => {
  test.each([1, 2])('waits for apply, which finishes and records (%i in flight)', async (count) => {
    const { arrived, open, intercept } = gate(count);
    const at = await site({ profile: 'boruta' });
    at.fault = ({ method }) => (method === 'PATCH' ? intercept() : undefined);
    const before = at.sandbox.snapshot().users.find(({ id }) => id === ids.ada);
    await at.declare(ada, { ...ada, id: ids.grace });
    const session = await opened(at);
    const plan = await session.plan();
    let ended = false;
    const applying = session.apply(approve(plan, any)).finally(() => {
      ended = true;
    });
    await arrived;
    expect(await codesOf(() => opened(at))).toEqual(['locked']);
    const closing = session.close();
    open();
    await closing;
    expect(ended).toBe(true);
    const { result, problems } = await applying;
    expect(problems).toEqual([]);
    for (const { status } of result.results) expect(['applied', 'skipped']).toContain(status);
    const user = at.sandbox.snapshot().users.find(({ id }) => id === ids.ada);
    expect(user?.organizations).toEqual(before?.organizations);
    expect(user?.authorized_scopes).toEqual(before?.authorized_scopes);
    const next = await opened(at);
    expect(next.notes).toEqual([]);
    await next.close();
  });

  test('can be repeated, and then all other methods throw', async () => {
    const at = await site();
    await at.declare(acme);
    const session = await opened(at);
    const approved = approve(await session.plan(), any);
    await Promise.all([session.close(), session.close()]);
    await session.close();
    const calls = [
      () => session.plan(),
      () => session.apply(approved),
      () => session.lastRun(),
      () => session.planUndo('1'),
      () => session.planRegeneration(ids.portal),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(new TypeError('this session is closed'));
    expect(at.writes()).toEqual([]);
  });
});

test('a journal names the command that was applied, not that of the session', async () => {
  const at = await site();
  await at.declare(acme);
  await at.writing('regenerate-did', async (session) => {
    const { result } = await applyAll(session, await session.plan());
    const { plan } = await session.planUndo(result.run ?? '');
    await applyAll(session, plan);
    await applyAll(session, await session.planRegeneration(ids.portal));
    // @ts-expect-error: JavaScript programs may pass anything.
    await expect(session.planRegeneration(undefined)).rejects.toThrow(TypeError);
  });
  const runs = join(at.folder, '.idops/runs');
  const names = (await readdir(runs)).filter((name) => name.endsWith('.jsonl')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(runs, name), 'utf8')));
  const commands = texts.map((text) => JSON.parse(text.split('\n')[0] ?? '').command);
  expect(commands.sort()).toEqual(['apply', 'regenerate-did', 'undo']);
});
