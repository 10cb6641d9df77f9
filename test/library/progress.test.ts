import { describe, expect, test } from 'vitest';
import { approve, loadProject, openForWriting, openSession, type Progress } from '../../src/index.js';
import { list } from '../../src/session/list.js';
import { pull } from '../../src/session/pull.js';
import { ids, type Site, site } from '../boruta/site.js';

const acme = { kind: 'Organization', id: ids.acme, label: 'New' };

async function projectOf({ folder, sandbox }: Site) {
  return await loadProject({ cwd: folder, variables: { IDOPS_TOKEN: sandbox.token } });
}

describe('the progress callbacks of a program', () => {
  test.each(['phase', 'step', 'end'] as const)("don't affect apply if %s throws", async (member) => {
    const at = await site();
    await at.declare(acme);
    let [told, armed] = [0, false];
    const quiet: Progress = { phase() {}, step() {}, end() {} };
    const throwing = (): void => {
      if (!armed) return;
      told += 1;
      throw new Error('of the program');
    };
    const project = await projectOf(at);
    for (const failing of [throwing, async () => throwing()]) {
      await at.declare({ ...acme, label: `New ${told}` });
      armed = false;
      const progress: Progress = { ...quiet, [member]: failing };
      const session = await openForWriting(project, 'apply', { progress });
      const approved = approve(await session.plan(), { maxDestructive: 0 });
      armed = true;
      const { result, problems } = await session.apply(approved);
      await session.close();
      expect(problems).toEqual([]);
      expect(result.results.map(({ status }) => status)).toEqual(['applied']);
    }
    expect(told).toBe(2);
    const session = await openSession(project);
    expect(session.notes).toEqual([]);
    expect((await session.plan()).changes.map(({ action }) => action)).toEqual(['unchanged']);
    await session.close();
  });

  test.each(['phase', 'step', 'end'] as const)("don't affect list and pull if %s throws", async (member) => {
    const project = await projectOf(await site());
    let told = 0;
    const throwing = (): void => {
      told += 1;
      throw new Error('of the program');
    };
    for (const failing of [throwing, async () => throwing()]) {
      const progress: Progress = { phase() {}, step() {}, end() {}, [member]: failing };
      expect((await list(project, { progress }, {})).objects).toHaveLength(41);
      expect((await pull(project, { progress }, {})).added).toBeGreaterThan(5);
    }
    expect(told).toBeGreaterThanOrEqual(4);
  });

  test('are not called if nothing is requested', async () => {
    const at = await site({ idopsProfile: 'documented' });
    await at.declare({ kind: 'KeyPair', id: ids.firstKey, is_default: true });
    const told: string[] = [];
    const tell = (): unknown => told.push('told');
    const progress: Progress = { phase: tell, step: tell, end: tell };
    const session = await openSession(await projectOf(at), { progress });
    await session.plan();
    await session.close();
    expect(told).toEqual([]);
  });
});
