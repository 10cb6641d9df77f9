import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  approve,
  changesServer,
  createRedactor,
  failuresIn,
  loadProject,
  openForWriting,
  openSession,
  ProblemsError,
  type Project,
  planReport,
  problemsOf,
  readPlanFile,
  refusalsOf,
  resultReport,
  ServerFailure,
  type Session,
  show,
  summarize,
  summarizeResult,
  validateProject,
} from '../../src/index.js';
import { ids, type Site, site } from '../boruta/site.js';

const acme = { kind: 'Organization', id: ids.acme, label: 'New' };

function optionsOf({ folder, sandbox }: Site) {
  return { cwd: folder, variables: { IDOPS_TOKEN: sandbox.token } };
}

async function within<T>(project: Project, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession(project);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

describe('a plan of the library', () => {
  test('contains what the command prints as JSON', async () => {
    const at = await site();
    await at.declare(acme, { kind: 'User', id: ids.ada, metadata: null });
    const plan = await within(await loadProject(optionsOf(at)), (session) => session.plan());
    const json = JSON.parse(await show(planReport, 'json', { plan }, createRedactor()));
    expect(plan.digest).toBe(json.digest);
    expect(summarize(plan)).toMatchObject(json.summary);
    expect(changesServer(plan)).toBe(true);
    expect(plan.changes[0]).toMatchObject({
      address: 'Organization/acme',
      action: 'update',
      observed: 'live',
      requests: [{ operation: 'updateOrganization' }],
      fields: [{ path: 'label', after: 'New', sensitive: false }],
      declaredAt: { line: 2 },
    });
  });

  test('is stored, read, approved and applied, and then the plan is empty', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await loadProject(optionsOf(at));
    const file = join(at.folder, 'plan.json');
    await within(project, async (session) => {
      await writeFile(file, await session.storePlan(await session.plan()));
    });
    const session = await openForWriting(project, 'apply');
    const { plan, problems } = await session.planStored(await readPlanFile(file));
    expect(problems).toEqual([]);
    const { result } = await session.apply(approve(plan, { maxDestructive: 0 }));
    expect(summarizeResult(result)).toMatchObject({ applied: 1, failed: 0 });
    expect(await show(resultReport, 'text', { result, plan }, createRedactor())).toContain(
      'Organization/acme',
    );
    expect(changesServer(await session.plan())).toBe(false);
    const { plan: undo, left } = await session.planUndo(await session.lastRun());
    expect(left).toEqual([]);
    expect(changesServer(undo)).toBe(true);
    await expect(session.storePlan(undo)).rejects.toThrow(TypeError);
    await session.close();
  });

  test('is applied only as the session made it: a copy or a forged approval is refused', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await loadProject(optionsOf(at));
    const session = await openForWriting(project, 'apply');
    const plan = await session.plan();
    const copy = approve({ ...plan }, { maxDestructive: 0 });
    await expect(session.apply(copy)).rejects.toThrow('another session');
    await expect(session.storePlan({ ...plan })).rejects.toThrow(TypeError);
    const approved = approve(plan, { maxDestructive: 0 });
    expect(() => Object.assign(approved, { plan: { ...plan, changes: [] } })).toThrow(TypeError);
    await expect(session.apply({ ...approved })).rejects.toThrow('was not approved');
    const elsewhere = await within(project, (other) => other.plan());
    await expect(session.apply(approve(elsewhere, { maxDestructive: 0 }))).rejects.toThrow('another session');
    await session.close();
    await expect(session.storePlan(plan)).rejects.toThrow('this session is closed');
    expect(at.writes()).toEqual([]);
  });

  test('is approved only with limits that are numbers, because NaN is no limit', async () => {
    const at = await site();
    await at.declare({ kind: 'User', id: ids.ada, organizations: [] });
    const plan = await within(await loadProject(optionsOf(at)), (session) => session.plan());
    for (const maxDestructive of [Number.NaN, -1]) {
      expect(() => approve(plan, { maxDestructive })).toThrow('must be a number');
      expect(() => refusalsOf(plan, maxDestructive)).toThrow('must be a number');
    }
    expect(() => approve(plan, { maxDestructive: 1, asked: Number.NaN })).toThrow('performance.now()');
    expect(() => approve(plan, { maxDestructive: 0 })).toThrow('too-destructive');
  });
});

describe('options of a program', () => {
  test.each([{ network: { rate: 0 } }, { network: { retries: -1 } }, { timeout: 0 }, { concurrency: 0.5 }])(
    'are refused if the command would refuse them: %j',
    async (options) => {
      const at = await site();
      await expect(openSession(await loadProject(optionsOf(at)), options)).rejects.toThrow('out of range');
    },
  );

  test('are refused if they name an unknown kind: an empty plan would look like success', async () => {
    const at = await site();
    await at.declare(acme);
    const planned = within(await loadProject(optionsOf(at)), (session) => session.plan({ kinds: ['Nope'] }));
    await expect(planned).rejects.toThrow('there is no kind "Nope"');
  });
});

describe('a failure', () => {
  test('of the server has the request and its outcome', async () => {
    const at = await site();
    await at.declare(acme);
    const body = { message: 'down for a while' };
    at.fault = () => ({ kind: 'answer', status: 503, headers: { 'retry-after': '7' }, body });
    const session = await openSession(await loadProject(optionsOf(at)), { network: { retries: 0 } });
    const failure: unknown = await session.plan().catch((error: unknown) => error);
    await session.close();
    const [failed] = failuresIn(failure);
    expect(failed).toBeInstanceOf(ServerFailure);
    expect(failed).toMatchObject({
      kind: 'server-error',
      method: 'GET',
      status: 503,
      serverMessage: 'down for a while',
      attempts: 1,
      retryAfter: 7,
      open: false,
    });
    expect(problemsOf(failure).map(({ code }) => code)).toEqual(['server-server-error']);
  });

  test('in the project is a ProblemsError with all problems', async () => {
    const at = await site();
    await at.declare({ kind: 'Organization', id: ids.acme, lable: 'x' }, { kind: 'Organisation' });
    const options = optionsOf(at);
    const failure: unknown = await openSession(await loadProject(options)).catch((error: unknown) => error);
    if (!(failure instanceof ProblemsError)) throw failure;
    const onSecret = createRedactor().add;
    const found = await validateProject(() => loadProject(options), { onSecret });
    expect(found.problems.map(({ code }) => code).sort()).toEqual(['unknown-field', 'unknown-kind']);
    expect(failure.problems).toEqual(found.problems);
    const missing = { ...options, config: 'none.yaml' };
    await expect(loadProject(missing)).rejects.toThrow('no-config');
    const { problems } = await validateProject(() => loadProject(missing), { onSecret });
    expect(problems[0]?.code).toBe('no-config');
    await expect(readPlanFile(join(at.folder, 'none.json'))).rejects.toThrow('plan-unreadable');
  });
});
