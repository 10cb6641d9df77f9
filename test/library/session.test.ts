import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  approve,
  changesServer,
  loadProject,
  openForWriting,
  openSession,
  ProblemsError,
  type Project,
  planJson,
  problemsOf,
  readPlan,
  readPlanFile,
  refusalsOf,
  resultText,
  ServerError,
  type Session,
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
  test('says what the JSON of the command says, and nothing in it can be changed', async () => {
    const at = await site();
    await at.declare(acme, { kind: 'User', id: ids.ada, metadata: null });
    const plan = await within(await loadProject(optionsOf(at)), (session) => session.plan());
    const json = planJson(plan) as { changes: object[]; digest: string; summary: object };
    expect(plan.digest).toBe(json.digest);
    expect(summarize(plan)).toEqual(json.summary);
    expect(changesServer(plan)).toBe(true);
    const [change] = plan.changes;
    expect(change).toMatchObject({
      address: 'Organization/acme',
      action: 'update',
      observed: 'live',
      requests: [{ method: 'PATCH', path: `/api/organizations/${ids.acme}` }],
      fields: [{ path: 'label', after: 'New', sensitive: false }],
      declaredAt: { line: 2 },
    });
    expect(() => Object.assign(plan, { digest: 'another' })).toThrow(TypeError);
    expect(() => Object.assign(plan.changes[0] ?? {}, { action: 'unchanged' })).toThrow(TypeError);
  });

  test('is stored, read, approved and applied, and the next one is empty', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await loadProject(optionsOf(at));
    const text = await within(project, async (session) => await session.storePlan(await session.plan()));
    const file = join(at.folder, 'plan.json');
    await writeFile(file, text);
    const stored = await readPlanFile(file);
    expect(readPlan(text)).toEqual(stored);
    expect(stored.server).toBe(at.sandbox.url);
    const session = await openForWriting(project, 'apply');
    const { plan, problems } = await session.planStored(stored);
    expect(problems).toEqual([]);
    const { result } = await session.apply(approve(plan, { maxDestructive: 0 }));
    expect(summarizeResult(result)).toMatchObject({ applied: 1, failed: 0 });
    expect(resultText(result)).toContain('Organization/acme');
    expect(changesServer(await session.plan())).toBe(false);
    const { plan: undo, left } = await session.planUndo(await session.lastRun());
    expect(left).toEqual([]);
    expect(changesServer(undo)).toBe(true);
    await expect(session.storePlan(undo)).rejects.toThrow(TypeError);
    await session.close();
  });

  test('that is stale can be shown and is not approved', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await loadProject(optionsOf(at));
    const text = await within(project, async (session) => await session.storePlan(await session.plan()));
    await at.declare({ ...acme, label: 'Newer' });
    await within(project, async (session) => {
      const { plan, problems } = await session.planStored(readPlan(text));
      expect(problems.map(({ code }) => code)).toEqual(['stale-plan']);
      expect(refusalsOf(plan, 10)).toEqual(problems);
      expect(() => approve(plan, { maxDestructive: 10 })).toThrow(ProblemsError);
    });
  });

  test('is one that a session made: neither a copy nor an approval by hand will do', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await loadProject(optionsOf(at));
    const session = await openForWriting(project, 'apply');
    const plan = await session.plan();
    // @ts-expect-error: a copy is none, whatever it holds.
    expect(() => approve({ ...plan }, { maxDestructive: 0 })).toThrow('no session made this plan');
    const copied = { ...approve(plan, { maxDestructive: 0 }) };
    // @ts-expect-error: nor is one of an approval.
    await expect(session.apply(copied)).rejects.toThrow('was not approved');
    // @ts-expect-error: only approve makes one.
    await expect(session.apply({ plan })).rejects.toThrow('was not approved');
    const stored = { ...readPlan(await session.storePlan(plan)) };
    // @ts-expect-error: nor one of a stored plan.
    await expect(session.planStored(stored)).rejects.toThrow(TypeError);
    // @ts-expect-error: nor one of a project.
    await expect(openSession({ ...project })).rejects.toThrow('loadProject() makes one');
    const elsewhere = await within(project, (other) => other.plan());
    await expect(session.apply(approve(elsewhere, { maxDestructive: 0 }))).rejects.toThrow('another session');
    await expect(session.storePlan(elsewhere)).rejects.toThrow(TypeError);
    await session.close();
    await expect(session.apply(approve(plan, { maxDestructive: 0 }))).rejects.toThrow(
      'this session is closed',
    );
    expect(at.writes()).toEqual([]);
  });
});

describe('what a program says', () => {
  test('is refused where it means nothing, before anything is sent', async () => {
    const at = await site();
    await at.declare({ kind: 'User', id: ids.ada, organizations: [] });
    const project = await loadProject(optionsOf(at));
    for (const options of [
      { concurrency: 0 },
      { concurrency: Number.NaN },
      { timeout: -1 },
      { rate: 0 },
      { retries: 1.5 },
      { tokenFile: '' },
    ])
      await expect(openSession(project, options), JSON.stringify(options)).rejects.toThrow(TypeError);
    await within(project, async (session) => {
      // @ts-expect-error: there is no such kind.
      await expect(session.plan({ kinds: ['Organisation'] })).rejects.toThrow('the kinds are Organization');
      const plan = await session.plan({ kinds: ['User'] });
      for (const maxDestructive of [Number.NaN, -1, undefined, 'many']) {
        // @ts-expect-error: some of them are no numbers at all.
        expect(() => approve(plan, { maxDestructive })).toThrow('must be a number');
        // @ts-expect-error: the same.
        expect(() => refusalsOf(plan, maxDestructive)).toThrow('must be a number');
      }
      expect(refusalsOf(plan, 0).map(({ code }) => code)).toEqual(['too-destructive']);
    });
    expect(at.sandbox.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
});

describe('what goes wrong', () => {
  test('with the server is one error of a documented type, whatever failed at once', async () => {
    const at = await site();
    await at.declare(
      { kind: 'User', id: ids.ada, group: 'a' },
      { kind: 'User', id: ids.grace, group: 'b' },
      acme,
    );
    at.fault = () => ({
      kind: 'answer',
      status: 503,
      headers: { 'retry-after': '7' },
      body: { message: 'down for a while' },
    });
    const project = await loadProject(optionsOf(at));
    const session = await openSession(project, { retries: 0 });
    const failure: unknown = await session.plan().catch((error: unknown) => error);
    await session.close();
    if (!(failure instanceof ServerError)) throw failure;
    expect(failure).toBeInstanceOf(ProblemsError);
    expect(failure.code).toBe('server-server-error');
    expect(failure.requests[0]).toMatchObject({
      kind: 'server-error',
      method: 'GET',
      status: 503,
      serverMessage: 'down for a while',
      attempts: 1,
      retryAfter: 7,
      open: false,
    });
    expect(failure.problems.map(({ code }) => code)).toContain('server-server-error');
    expect(problemsOf(failure)).toEqual(failure.problems);
  });

  test('with a token says what to do', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await loadProject({ cwd: at.folder, variables: { IDOPS_TOKEN: 'nobodys-token' } });
    const failure: unknown = await within(project, (session) => session.plan()).catch(
      (error: unknown) => error,
    );
    if (!(failure instanceof ServerError)) throw failure;
    expect([failure.code, failure.hint]).toEqual([
      'server-unauthorized',
      'check the token and its end of life',
    ]);
    expect(failure.message).toContain('401');
  });

  test('with what the project says is a ProblemsError, and no ServerError', async () => {
    const at = await site();
    await at.declare({ kind: 'Organization', id: ids.acme, lable: 'x' }, { kind: 'Organisation' });
    const options = optionsOf(at);
    const failure: unknown = await openSession(await loadProject(options)).catch((error: unknown) => error);
    if (!(failure instanceof ProblemsError)) throw failure;
    expect(failure).not.toBeInstanceOf(ServerError);
    const found = await validateProject(options);
    expect(found.problems.map(({ code }) => code).sort()).toEqual(['unknown-field', 'unknown-kind']);
    expect(failure.problems).toEqual(found.problems);
    await expect(loadProject({ ...options, config: 'none.yaml' })).rejects.toThrow('no-config');
    expect((await validateProject({ ...options, config: 'none.yaml' })).problems[0]?.code).toBe('no-config');
    expect(() => readPlan('{}', 'plan.json')).toThrow('plan-unreadable');
    await expect(readPlanFile(join(at.folder, 'none.json'))).rejects.toThrow(ProblemsError);
  });
});
