import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  approve,
  loadProject,
  openForWriting,
  openSession,
  ProblemsError,
  type Project,
} from '../../src/index.js';
import { ids, type Site, site } from '../boruta/site.js';

const acme = { kind: 'Organization', id: ids.acme, label: 'New' };
const client = { kind: 'Client', id: ids.portal, did_generation: 2 };

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

describe('a plan that is stored', () => {
  test('takes no DID as it is: nobody who reads the manifests again could apply it', async () => {
    const at = await site();
    await at.declare({ ...client, did_generation: 1 });
    const session = await openSession(await projectOf(at));
    const plan = await session.plan({ acceptDids: [client.id] });
    await expect(session.storePlan(plan)).rejects.toThrow(TypeError);
    await expect(session.storePlan(plan)).rejects.toThrow('acceptDids');
    expect(await session.storePlan(await session.plan({ acceptDids: [] }))).toContain('"format_version": 1');
    await session.close();
  });

  test('is stored by a session that is open', async () => {
    const at = await site();
    await at.declare(acme);
    const session = await openSession(await projectOf(at));
    const plan = await session.plan();
    await session.close();
    await expect(session.storePlan(plan)).rejects.toThrow('this session is closed');
  });
});

describe('limits', () => {
  test('are numbers: what is none is refused, whatever it would be taken for', async () => {
    const at = await site();
    await at.declare(acme);
    const session = await openSession(await projectOf(at));
    const plan = await session.plan();
    for (const asked of [
      Number.NaN,
      Number.NEGATIVE_INFINITY,
      null,
      '5',
      true,
      5n,
      Symbol('now'),
      new Date(),
    ]) {
      // @ts-expect-error: most of them are no numbers at all.
      expect(() => approve(plan, { maxDestructive: 0, asked }), String(asked)).toThrow(/^asked is .*number/);
    }
    for (const maxDestructive of [Symbol('many'), 5n, Object.create(null)] as never[]) {
      expect(() => approve(plan, { maxDestructive })).toThrow(/^maxDestructive is .*must be a number/);
    }
    expect(approve(plan, { maxDestructive: 0, asked: performance.now() }).plan).toBe(plan);
    await session.close();
  });

  test('are read once: one that says something else each time lets nothing through', async () => {
    const at = await site();
    await at.declare({ kind: 'User', id: ids.ada, organizations: [] });
    const session = await openSession(await projectOf(at));
    const plan = await session.plan();
    let reads = 0;
    const limits = {
      get maxDestructive() {
        reads += 1;
        return reads === 1 ? 0 : Number.NaN;
      },
    };
    expect(() => approve(plan, limits)).toThrow('too-destructive');
    expect(reads).toBe(1);
    await session.close();
  });
});

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
