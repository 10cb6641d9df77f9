import { describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/base/problems.js';
import { approve } from '../../src/plan/approve.js';
import { loadProject } from '../../src/project/index.js';
import { openForWriting, openSession } from '../../src/session/open.js';
import { readStoredPlan } from '../../src/session/plan-file.js';
import { ids, site } from '../boruta/site.js';

const acme = { kind: 'Organization', id: ids.acme, label: 'New' };

async function codesOf(work: () => unknown): Promise<string[]> {
  try {
    await work();
  } catch (failure) {
    if (failure instanceof ProblemsError) return failure.problems.map(({ code }) => code);
    throw failure;
  }
  return [];
}

async function projectOf(folder: string, token: string) {
  return await loadProject({ cwd: folder, variables: { IDOPS_TOKEN: token } });
}

describe('a writer is earned', () => {
  test('a session that was opened to plan has no way to apply', async () => {
    const at = await site();
    await at.declare(acme);
    const session = await openSession(await projectOf(at.folder, at.sandbox.token));
    expect(Object.keys(session)).not.toContain('apply');
    // @ts-expect-error: there is none, whatever somebody hopes.
    expect(() => session.apply(undefined)).toThrow(TypeError);
    await session.close();
  });

  test('a session for writing holds the lock until it is closed', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await projectOf(at.folder, at.sandbox.token);
    const first = await openForWriting(project, 'apply');
    expect(await codesOf(() => openForWriting(project, 'apply'))).toEqual(['locked']);
    const plan = await first.plan();
    await first.close();
    const second = await openForWriting(project, 'apply');
    await expect(first.apply(approve(plan, { maxDestructive: 0 }))).rejects.toThrow('this session is closed');
    await second.close();
    expect(at.writes()).toEqual([]);
  });

  test('a plan of another session is not applied: what is there now is not what it was built on', async () => {
    const at = await site();
    await at.declare(acme);
    const plan = await at.session((session) => session.plan());
    const again = await at.writing('apply', (session) => session.plan());
    for (const other of [plan, again]) {
      await at.writing('apply', async (session) => {
        const applying = session.apply(approve(other, { maxDestructive: 0 }));
        await expect(applying).rejects.toThrow('made in another session');
      });
    }
    expect(at.writes()).toEqual([]);
  });

  test('only what was approved is applied: too much destruction, blocked entries and stale plans are not', async () => {
    const at = await site();
    const ada = { kind: 'User', id: ids.ada };
    await at.declare({ ...ada, organizations: [] }, { kind: 'Client', id: ids.nobody, did_generation: 1 });
    await at.writing('apply', async (session) => {
      const plan = await session.plan();
      const codes = await codesOf(() => approve(plan, { maxDestructive: 0 }));
      expect(codes).toEqual(['blocked', 'too-destructive']);
    });
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

  test('an approval can be neither made by hand nor changed', async () => {
    const at = await site();
    const plan = await at.plan(acme);
    const approved = approve(plan, { maxDestructive: 0 });
    expect(() => Object.assign(approved, { plan: { ...plan, changes: [] } })).toThrow(TypeError);
    await at.writing('apply', async (session) => {
      // @ts-expect-error: a plan is no approval, nor is something that looks like one.
      await expect(session.apply({ plan, asked: 0 })).rejects.toThrow('was not approved');
    });
    expect(at.writes()).toEqual([]);
  });
});
