import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/base/problems.js';
import { approve } from '../../src/plan/approve.js';
import { loadProject, type Project } from '../../src/project/index.js';
import { openForWriting } from '../../src/session/open.js';
import { ids, type Site, site } from '../boruta/site.js';

const acme = { kind: 'Organization', id: ids.acme, label: 'New' };

async function projectOf({ folder, sandbox }: Site, config?: string): Promise<Project> {
  return await loadProject({
    cwd: folder,
    variables: { IDOPS_TOKEN: sandbox.token },
    ...(config === undefined ? {} : { config }),
  });
}

async function codesOf(work: Promise<unknown>): Promise<string[]> {
  const failure: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (failure === undefined) return [];
  if (!(failure instanceof ProblemsError)) throw failure;
  return failure.problems.map(({ code }) => code);
}

describe('the lock of a session', () => {
  test('that was lost to somebody else keeps it from writing, and no run is journalled', async () => {
    const at = await site();
    await at.declare(acme);
    const project = await projectOf(at);
    const first = await openForWriting(project, 'apply');
    const approved = approve(await first.plan(), { maxDestructive: 0 });
    await rm(join(at.folder, '.idops/state.json.lock'));
    expect(await codesOf(first.apply(approved))).toEqual(['locked']);
    const second = await openForWriting(project, 'undo');
    const again = approve(await first.plan(), { maxDestructive: 0 });
    const failure = await first.apply(again).catch((thrown: unknown) => thrown);
    expect(String(failure)).toMatch(/lock.*undo by/);
    await first.close();
    expect(await codesOf(openForWriting(project, 'apply'))).toEqual(['locked']);
    await second.close();
    expect(at.writes()).toEqual([]);
    expect(await readdir(join(at.folder, '.idops'))).toEqual([]);
  });

  test.skipIf(process.platform === 'win32')('is one for a state, whatever links lead to it', async () => {
    const at = await site();
    const folder = join(at.folder, '.idops');
    await at.apply(acme);
    await mkdir(join(at.folder, 'kept'));
    await rename(join(folder, 'state.json'), join(at.folder, 'kept/real.json'));
    await rename(join(folder, 'runs'), join(at.folder, 'kept/runs'));
    await symlink('../kept/real.json', join(folder, 'state.json'));
    const config = JSON.parse(await readFile(join(at.folder, 'idops.yaml'), 'utf8'));
    await writeFile(
      join(at.folder, 'other.yaml'),
      JSON.stringify({ ...config, state: { path: 'kept/real.json' } }),
    );
    const [linked, direct] = [await projectOf(at), await projectOf(at, 'other.yaml')];
    const session = await openForWriting(linked, 'apply');
    expect(await codesOf(openForWriting(direct, 'apply'))).toEqual(['locked']);
    const run = await session.lastRun();
    await session.close();
    const other = await openForWriting(direct, 'apply');
    expect(await codesOf(openForWriting(linked, 'apply'))).toEqual(['locked']);
    expect(await other.lastRun()).toBe(run);
    await other.close();
    expect(await readdir(folder)).toEqual(['state.json']);
  });
});
