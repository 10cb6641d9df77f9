import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  isExactNumber,
  loadProject,
  openForWriting,
  openSession,
  type Project,
  planMarkdown,
  problemsOf,
  type Session,
  validateProject,
} from '../../src/index.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { ids, type Site, site } from '../boruta/site.js';

const acme = { kind: 'Organization', id: ids.acme, label: 'New' };

async function projectOf({ folder, sandbox }: Site): Promise<Project> {
  return await loadProject({ cwd: folder, variables: { IDOPS_TOKEN: sandbox.token } });
}

/** What a program without types may say. */
async function loosely(work: (...given: never[]) => unknown, ...given: unknown[]): Promise<unknown> {
  return await (work as (...all: unknown[]) => unknown)(...given);
}

async function opened(): Promise<{ at: Site; project: Project; session: Session }> {
  const at = await site();
  await at.declare(acme);
  const project = await projectOf(at);
  return { at, project, session: await openSession(project) };
}

describe('options of a program', () => {
  test('of a plan are what they seem: an empty filter is no wish for everything', async () => {
    const { at, session } = await opened();
    for (const options of [
      { targets: [] },
      { targets: new Array(1) },
      { targets: 'User/*' },
      { targets: [5] },
      { targets: null },
      { kinds: [] },
      { kinds: 'User' },
      { kinds: ['organization'] },
      { prune: 'yes' },
      { assert: 'no' },
      { acceptDids: 'x' },
      { target: ['User/*'] },
      null,
      5,
    ])
      await expect(loosely(session.plan, options), JSON.stringify(options)).rejects.toThrow(TypeError);
    await expect(loosely(session.planUndo, 5)).rejects.toThrow('is not the name of a run');
    await expect(loosely(session.planUndo, 'x', { force: 1 })).rejects.toThrow('force is 1');
    expect(
      (await session.plan({ targets: ['Organization/acme'], kinds: ['Organization'] })).changes,
    ).toHaveLength(1);
    await session.close();
    expect(at.writes()).toEqual([]);
  });

  test('of a session, a project and a report too', async () => {
    const { at, project, session } = await opened();
    for (const options of [
      { concurrency: '5' },
      { baseUrl: 5 },
      { baseUrl: '' },
      { manifests: 'x' },
      { signal: {} },
      { progress: {} },
      { timeout: 1e9 },
      { nope: 1 },
      null,
    ])
      await expect(loosely(openSession, project, options), JSON.stringify(options)).rejects.toThrow(
        TypeError,
      );
    const given = { cwd: at.folder, variables: {} };
    for (const options of [
      undefined,
      {},
      { cwd: at.folder },
      { ...given, cwd: '' },
      { ...given, variables: { IDOPS_TOKEN: 5 } },
      { ...given, config: 5 },
      { ...given, nope: 1 },
    ]) {
      await expect(loosely(loadProject, options), JSON.stringify(options)).rejects.toThrow(TypeError);
      await expect(loosely(validateProject, options), JSON.stringify(options)).rejects.toThrow(TypeError);
    }
    const plan = await session.plan();
    for (const given of [Number.NaN, 0, -1, 999, 1.5, '5000', null]) {
      // What a program without types may say.
      const budget = given as number;
      expect(() => planMarkdown(plan, { budget }), String(given)).toThrow('whole number of 1000 or more');
    }
    expect(planMarkdown(plan, { budget: 1000 })).toContain('acme');
    await session.close();
  });

  test('of the sandbox are those that the command takes', async () => {
    for (const options of [
      { profile: 'nope' },
      { port: -1 },
      { port: 99_999 },
      { pageSize: 0 },
      { latency: Number.NaN },
      { faults: { cut: 2 } },
      { faults: { nope: 1 } },
      { faults: { pool: 0 } },
      { seed: 'nope' },
      { tokens: {} },
      { intercept: 1 },
      { foo: 1 },
      null,
    ])
      await expect(loosely(startSandbox, options), JSON.stringify(options)).rejects.toThrow(TypeError);
  });
});

describe('what an error repeats', () => {
  test('holds neither a token that came to the wrong place nor the sequences of a terminal', async () => {
    const { at, project, session } = await opened();
    const { token } = at.sandbox;
    const wrong = `${token}\u001b[31m\u202e\n`;
    const failures = await Promise.all(
      [
        loosely(session.planRegeneration, wrong),
        loosely(session.plan, { kinds: [wrong] }),
        loosely(session.plan, { prune: wrong }),
        loosely(session.plan, { [wrong]: true }),
        loosely(openForWriting, project, wrong),
        loosely(openSession, project, { concurrency: wrong }),
      ].map((work) => work.catch((failure: unknown) => failure)),
    );
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(TypeError);
      expect(String(failure)).not.toContain(token);
      expect(String(failure)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    await session.close();
  });

  test('is a problem whatever was thrown, and says whose mistake it may be', () => {
    const hostile = (trap: 'get' | 'getPrototypeOf') =>
      new Proxy(
        {},
        {
          [trap]() {
            throw new Error('trap');
          },
        },
      );
    for (const thrown of [
      Object.create(null),
      hostile('get'),
      hostile('getPrototypeOf'),
      Symbol('x'),
      null,
      new AggregateError([]),
    ])
      expect(problemsOf(thrown)).toMatchObject([
        { code: 'internal', hint: expect.stringContaining('in idops or in the program') },
      ]);
  });
});

test('a number that JavaScript would write otherwise is told from all else', async () => {
  const at = await site({ profile: 'documented' });
  await at.declare();
  const manifest = `kind: User\nid: ${ids.ada}\nwhole: [metadata]\nmetadata: {exact: 2.50, plain: 2.5}\n`;
  await mkdir(join(at.folder, 'manifests'));
  await writeFile(join(at.folder, 'manifests/user.yaml'), manifest);
  const session = await openSession(await projectOf(at));
  const [change] = (await session.plan()).changes;
  const after = change?.fields.find(({ path }) => path === 'metadata')?.after;
  const numbers = Object.entries(Object(after)).map(([name, value]) => [
    name,
    isExactNumber(value),
    String(value),
  ]);
  expect(numbers).toEqual([
    ['exact', true, '2.50'],
    ['plain', false, '2.5'],
  ]);
  expect(isExactNumber({ text: '2.50' })).toBe(false);
  await session.close();
});
